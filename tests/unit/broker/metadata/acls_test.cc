#include "broker/metadata/acls.h"

#include <gmock/gmock.h>

#include "tests/support/metadata_fixture.h"

namespace ackord::metadata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

Acl acl(const std::string& name, AclPattern pattern = AclPattern::kLiteral,
        AclOperation operation = AclOperation::kRead) {
  return {AclResource::kTopic, name, pattern, "User:alice", "*", operation, AclPermission::kAllow};
}

std::vector<Uuid> ids(size_t count) {
  static uint32_t last = 0;
  std::vector<Uuid> made(count);
  for (Uuid& id : made) {
    ++last;
    for (size_t i = 0; i < 4; ++i) id.bytes[15 - i] = static_cast<uint8_t>(last >> (8 * i));
  }
  return made;
}

std::vector<ErrorCode> codes(const AclCreations& results) {
  std::vector<ErrorCode> all;
  for (const auto& one : results) all.push_back(one ? one->code : ErrorCode::NONE);
  return all;
}

class AclsTest : public testing::Test {
 protected:
  std::vector<ErrorCode> create(const std::vector<Acl>& wanted) {
    const AclCreationPlan plan = plan_acl_creations(acls, wanted, ids(wanted.size()));
    for (const auto& record : plan.records) acls.put(record);
    records = plan.records.size();
    return codes(plan.results);
  }
  std::string refusal(const Acl& wanted) {
    const AclCreationPlan plan = plan_acl_creations(acls, {wanted}, ids(1));
    EXPECT_THAT(plan.records, IsEmpty());
    EXPECT_EQ(plan.results.front().value().code, ErrorCode::INVALID_REQUEST);
    return plan.results.front().value().message;
  }
  AclDeletions remove(const std::vector<AclFilter>& filters) {
    AclDeletionPlan plan = plan_acl_deletions(acls, filters);
    for (const auto& record : plan.records) acls.remove(record);
    records = plan.records.size();
    return plan.results;
  }
  // Those that speak of a topic.
  std::vector<std::string> of_topic(std::string_view topic) const {
    std::vector<std::string> names;
    acls.for_each(AclResource::kTopic, topic, [&](const Acl& one) {
      names.push_back(one.name + (one.pattern == AclPattern::kPrefixed ? "-" : ""));
      return true;
    });
    return names;
  }

  Acls acls;
  size_t records = 0;
};

TEST_F(AclsTest, OneThatIsThereAlreadyIsNotMadeAgain) {
  EXPECT_THAT(create({acl("t"), acl("u"), acl("t")}),
              ElementsAre(ErrorCode::NONE, ErrorCode::NONE, ErrorCode::NONE));
  EXPECT_EQ(records, 2u);
  EXPECT_THAT(create({acl("t"), acl("t", AclPattern::kPrefixed)}),
              ElementsAre(ErrorCode::NONE, ErrorCode::NONE));
  EXPECT_EQ(records, 1u);
  EXPECT_THAT(acls.by_id(), SizeIs(3));
}

TEST_F(AclsTest, WhatIsNoAclIsRefusedInKafkasWords) {
  Acl wrong = acl("t");
  wrong.resource = AclResource::kAny;
  EXPECT_EQ(refusal(wrong), "Invalid resourceType ANY");
  EXPECT_EQ(refusal(acl("t", AclPattern::kMatch)), "Invalid patternType MATCH");
  EXPECT_EQ(refusal(acl("t", AclPattern::kLiteral, AclOperation::kAny)), "Invalid operation ANY");
  wrong = acl("t");
  wrong.permission = AclPermission::kAny;
  EXPECT_EQ(refusal(wrong), "Invalid permissionType ANY");
  EXPECT_EQ(refusal(acl("")), "Invalid empty resource name");
  wrong.permission = AclPermission::kAllow;
  wrong.host = "";
  EXPECT_EQ(refusal(wrong), "Host pattern cannot be null or empty");
  wrong.resource = AclResource::kCluster;
  EXPECT_EQ(refusal(wrong), "The only valid name for the CLUSTER resource is kafka-cluster");
  wrong = acl("t");
  wrong.principal = "alice";
  EXPECT_EQ(refusal(wrong),
            "Could not parse principal from `alice` (no colon is present separating the principal "
            "type from the principal name)");
  wrong = acl("t");
  wrong.operation = static_cast<AclOperation>(-99);
  EXPECT_EQ(refusal(wrong), "Invalid operation UNKNOWN");
}

TEST_F(AclsTest, TooManyAtOnceAreNone) {
  std::vector<Acl> many;
  for (size_t i = 0; i < kMaxAclChanges; ++i) many.push_back(acl("t" + std::to_string(i)));
  EXPECT_EQ(create(many).front(), ErrorCode::NONE);
  EXPECT_EQ(records, kMaxAclChanges);
  for (Acl& one : many) one.principal = "User:bob";
  many.push_back(acl("one more"));
  EXPECT_EQ(create(many).back(), ErrorCode::POLICY_VIOLATION);
  EXPECT_EQ(records, 0u);
  create({acl("one more")});
  for (const auto& result : remove({{.name = "one more"}, {}, {.name = "t0"}})) {
    EXPECT_EQ(result.error().code, ErrorCode::INVALID_REQUEST);
    EXPECT_EQ(result.error().message,
              "Cannot remove more than 10000 acls in a single delete operation.");
  }
  EXPECT_EQ(records, 0u);
  EXPECT_THAT(acls.by_id(), SizeIs(kMaxAclChanges + 1));
}

TEST_F(AclsTest, FiltersTakeAwayWhatTheyMatch) {
  create({acl("t"), acl("te"), acl("t", AclPattern::kPrefixed), acl("*")});
  const auto removed = remove({{.name = "te", .pattern = AclPattern::kMatch},
                               {.name = "t", .pattern = AclPattern::kPrefixed}});
  std::vector<std::string> names;
  for (const Acl& one : *removed[0]) names.push_back(one.name);
  EXPECT_THAT(names, UnorderedElementsAre("te", "t", "*"));
  EXPECT_THAT(*removed[1], SizeIs(1)) << "each filter stands for itself";
  EXPECT_EQ(records, 3u);
  EXPECT_THAT(of_topic("t"), ElementsAre("t"));
  EXPECT_EQ(remove({{.pattern = AclPattern::kUnknown}})[0].error().message,
            "Unknown patternFilter.");
  EXPECT_EQ(remove({{.operation = AclOperation::kUnknown}})[0].error().message,
            "Unknown entryFilter.");
}

TEST_F(AclsTest, FiltersSayWhatTheyMean) {
  const Acl one = acl("t");
  EXPECT_TRUE(AclFilter{}.matches(one));
  EXPECT_TRUE((AclFilter{.resource = AclResource::kTopic}.matches(one)));
  EXPECT_FALSE((AclFilter{.resource = AclResource::kGroup}.matches(one)));
  EXPECT_FALSE((AclFilter{.name = "te"}.matches(one)));
  EXPECT_FALSE((AclFilter{.pattern = AclPattern::kPrefixed}.matches(one)));
  EXPECT_FALSE((AclFilter{.principal = "User:bob"}.matches(one)));
  EXPECT_FALSE((AclFilter{.host = "10.0.0.1"}.matches(one)));
  EXPECT_FALSE((AclFilter{.operation = AclOperation::kDescribe}.matches(one)));
  EXPECT_FALSE((AclFilter{.permission = AclPermission::kDeny}.matches(one)));
  EXPECT_FALSE((AclFilter{.name = "*", .pattern = AclPattern::kMatch}.matches(one)));
  const Acl prefix = acl("t", AclPattern::kPrefixed);
  EXPECT_TRUE((AclFilter{.name = "te", .pattern = AclPattern::kMatch}.matches(prefix)));
  EXPECT_FALSE((AclFilter{.name = "te", .pattern = AclPattern::kAny}.matches(prefix)));
}

TEST_F(AclsTest, ThoseOfAResourceAreFoundAmongMany) {
  std::vector<Acl> many;
  for (int i = 0; i < 5000; ++i) {
    many.push_back(acl("foo" + std::to_string(i)));
    many.push_back(acl("foo" + std::to_string(i), AclPattern::kPrefixed));
  }
  create(many);
  create({acl("*"), acl("f", AclPattern::kPrefixed), acl("*", AclPattern::kPrefixed)});
  EXPECT_THAT(of_topic("foo4999x"),
              UnorderedElementsAre("*", "f-", "foo4-", "foo49-", "foo499-", "foo4999-"));
  EXPECT_THAT(of_topic("foo77"), UnorderedElementsAre("foo77", "*", "f-", "foo7-", "foo77-"));
  EXPECT_THAT(of_topic("*"), UnorderedElementsAre("*", "*-"));
  EXPECT_THAT(of_topic("e"), ElementsAre("*"));
  EXPECT_THAT(of_topic(""), ElementsAre("*"));
}

TEST_F(AclsTest, CopiesLiveOnByThemselves) {
  create({acl("t")});
  const Acls before = acls;
  remove({{}});
  EXPECT_THAT(of_topic("t"), IsEmpty());
  EXPECT_TRUE(before.contains(acl("t")));
}

TEST(AclsInTheLog, AreThereAfterARestart) {
  test::MetadataFixture broker;
  const auto made = broker.core.run(
      broker.metadata().create_acls({acl("t"), acl(""), acl("u", AclPattern::kPrefixed)}));
  ASSERT_TRUE(made.has_value());
  EXPECT_THAT(codes(*made),
              ElementsAre(ErrorCode::NONE, ErrorCode::INVALID_REQUEST, ErrorCode::NONE));
  const auto removed = broker.core.run(broker.metadata().delete_acls({{.name = "t"}}));
  ASSERT_TRUE(removed.has_value());
  EXPECT_THAT(*removed->front(), ElementsAre(acl("t")));
  broker.restart();
  const Acls& acls = broker.metadata().image().acls();
  EXPECT_THAT(acls.by_id(), SizeIs(1));
  EXPECT_TRUE(acls.contains(acl("u", AclPattern::kPrefixed)));
}

}  // namespace
}  // namespace ackord::metadata
