#include "broker/security/authorizer.h"

#include <gmock/gmock.h>

namespace ackord::security {
namespace {

using metadata::Acl;
using metadata::AclPattern;
using metadata::AclPermission;
using metadata::Acls;
using testing::ElementsAre;
using enum Operation;
constexpr AclPattern kLiteral = AclPattern::kLiteral;
constexpr AclPattern kPrefixed = AclPattern::kPrefixed;

class AuthorizerTest : public testing::Test {
 protected:
  void add(Acl acl) {
    Uuid id;
    id.bytes[15] = ++last_;
    acls.put(acl_record(id, acl));
  }
  void allow(const std::string& name, Operation operation, AclPattern pattern = kLiteral,
             const std::string& principal = "User:alice", const std::string& host = "*") {
    add({ResourceType::kTopic, name, pattern, principal, host, operation, AclPermission::kAllow});
  }
  void deny(const std::string& name, Operation operation, AclPattern pattern = kLiteral,
            const std::string& principal = "User:alice", const std::string& host = "*") {
    add({ResourceType::kTopic, name, pattern, principal, host, operation, AclPermission::kDeny});
  }
  bool allows(Operation operation, std::string_view topic) const {
    return authorizer().allows(acls, alice, operation, ResourceType::kTopic, topic);
  }
  bool allows_any(Operation operation) const {
    return authorizer().allows_any(acls, alice, operation, ResourceType::kTopic);
  }
  Authorizer authorizer() const { return Authorizer(config); }

  Acls acls;
  AuthorizerConfig config;
  Subject alice{"User:alice", "10.0.0.1"};

 private:
  uint8_t last_ = 0;
};

TEST_F(AuthorizerTest, WithoutAclsOnlySuperUsersMay) {
  EXPECT_FALSE(allows(kRead, "t"));
  config.super_users = {"User:bob"};
  EXPECT_FALSE(allows(kRead, "t"));
  config.super_users = {"User:alice", "User:bob"};
  EXPECT_TRUE(allows(kRead, "t"));
  deny("*", kAll);
  EXPECT_TRUE(allows(kRead, "t"));
  EXPECT_TRUE(allows_any(kWrite));
}

TEST_F(AuthorizerTest, TheDefaultHoldsOnlyWhereNoAclSpeaksOfTheResource) {
  config.allow_if_no_acl = true;
  EXPECT_TRUE(allows(kRead, "t"));
  EXPECT_TRUE(allows_any(kRead));
  allow("t", kRead, kLiteral, "User:bob");
  EXPECT_FALSE(allows(kRead, "t"));
  EXPECT_TRUE(allows(kRead, "u"));
  allow("v", kRead, kPrefixed, "User:bob");
  EXPECT_FALSE(allows(kRead, "vw"));
}

TEST_F(AuthorizerTest, NamesArePreciseOrPrefixesOrAll) {
  allow("lit", kRead);
  allow("pre", kRead, kPrefixed);
  EXPECT_TRUE(allows(kRead, "lit"));
  EXPECT_FALSE(allows(kRead, "lite"));
  EXPECT_FALSE(allows(kRead, "li"));
  EXPECT_TRUE(allows(kRead, "pre"));
  EXPECT_TRUE(allows(kRead, "prefix"));
  EXPECT_FALSE(allows(kRead, "pr"));
  allow("*", kWrite);
  EXPECT_TRUE(allows(kWrite, "anything"));
  EXPECT_FALSE(allows(kRead, "anything"));
  allow("*", kDelete, kPrefixed);  // of names that begin with a star
  EXPECT_FALSE(allows(kDelete, "anything"));
}

// Between the name and its shortest prefix stand many that are none.
TEST_F(AuthorizerTest, EveryPrefixIsFoundAmongOthers) {
  for (const char* prefix : {"f", "fo", "foo", "foobar"}) {
    acls = {};
    for (const char* other : {"e", "fa", "foa", "fooa", "fooab", "foobaa", "foobas", "foobara"})
      allow(other, kAlter, kPrefixed, "User:bob");
    allow(prefix, kRead, kPrefixed);
    EXPECT_TRUE(allows(kRead, "foobar")) << prefix;
    EXPECT_FALSE(allows(kRead, "e")) << prefix;
  }
}

TEST_F(AuthorizerTest, PrincipalsAndHosts) {
  allow("t", kRead, kLiteral, "User:*");
  allow("u", kRead, kLiteral, "User:alice", "10.0.0.1");
  allow("v", kRead, kLiteral, "User:alice", "10.0.0.2");
  allow("w", kRead, kLiteral, "Group:alice");
  EXPECT_TRUE(allows(kRead, "t"));
  EXPECT_TRUE(allows(kRead, "u"));
  EXPECT_FALSE(allows(kRead, "v"));
  EXPECT_FALSE(allows(kRead, "w"));
}

TEST_F(AuthorizerTest, WhatDeniesDecides) {
  allow("t", kRead);
  deny("*", kRead, kLiteral, "User:*", "10.0.0.1");
  EXPECT_FALSE(allows(kRead, "t"));
  alice.host = "10.0.0.2";
  EXPECT_TRUE(allows(kRead, "t"));
  deny("t", kAll, kPrefixed);
  EXPECT_FALSE(allows(kRead, "t"));
}

TEST_F(AuthorizerTest, OperationsThatGoWithOthers) {
  for (const Operation with : {kRead, kWrite, kDelete, kAlter, kDescribe, kAll}) {
    acls = {};
    allow("t", with);
    EXPECT_TRUE(allows(kDescribe, "t")) << name_of(with);
  }
  for (const Operation without : {kCreate, kAlterConfigs, kDescribeConfigs, kClusterAction}) {
    acls = {};
    allow("t", without);
    EXPECT_FALSE(allows(kDescribe, "t")) << name_of(without);
  }
  acls = {};
  allow("t", kAlterConfigs);
  EXPECT_TRUE(allows(kDescribeConfigs, "t"));
  EXPECT_FALSE(allows(kAlter, "t"));
  acls = {};
  allow("t", kDescribe);
  EXPECT_FALSE(allows(kRead, "t"));
  deny("t", kRead);
  EXPECT_TRUE(allows(kDescribe, "t")) << "to be denied READ is not to be denied DESCRIBE";
}

TEST_F(AuthorizerTest, AnyResourceOfAType) {
  EXPECT_FALSE(allows_any(kWrite));
  allow("t", kRead);
  EXPECT_FALSE(allows_any(kWrite));
  EXPECT_FALSE(allows_any(kDescribe)) << "nothing goes with it here";
  allow("t", kWrite);
  EXPECT_TRUE(allows_any(kWrite));
  deny("t", kWrite);
  EXPECT_FALSE(allows_any(kWrite));
  allow("pre", kWrite, kPrefixed);
  EXPECT_TRUE(allows_any(kWrite));
  deny("pr", kAll, kPrefixed);
  EXPECT_FALSE(allows_any(kWrite));
  allow("*", kWrite);
  EXPECT_TRUE(allows_any(kWrite));
  deny("*", kWrite);
  EXPECT_FALSE(allows_any(kWrite));
}

TEST(AclHost, IsWrittenAsJavaDoes) {
  EXPECT_EQ(acl_host("/127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(acl_host("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(acl_host("/::1"), "0:0:0:0:0:0:0:1");
  EXPECT_EQ(acl_host("::ffff:10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(acl_host("2001:db8::a0:0:1"), "2001:db8:0:0:0:a0:0:1");
  EXPECT_EQ(acl_host("fe80::1%eth0"), "fe80:0:0:0:0:0:0:1");
}

TEST(SuperUsers, AreSeparatedBySemicolons) {
  EXPECT_THAT(*parse_super_users(""), ElementsAre());
  EXPECT_THAT(*parse_super_users(" User:a ;;User:CN=b,O=c; "),
              ElementsAre("User:CN=b,O=c", "User:a"));
  EXPECT_EQ(parse_super_users("User:a;b").error().message,
            "super.users: expected a string in format principalType:principalName but got b");
}

}  // namespace
}  // namespace ackord::security
