#include "broker/security/ssl_principal_mapper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ackord::security {
namespace {

using testing::HasSubstr;

const std::string kName = "CN=Client.One,OU=Ops,O=Acme,L=Ulm,ST=BW,C=DE";

std::string mapped(std::string_view rules, const std::string& name = kName) {
  const auto mapper = SslPrincipalMapper::make(rules);
  if (!mapper) return "refused: " + mapper.error().message;
  return mapper->name_of(name).value_or("(none)");
}

TEST(SslPrincipalMapper, TheNameItself) {
  EXPECT_EQ(mapped("DEFAULT"), kName);
  EXPECT_EQ(mapped("  DEFAULT "), kName);
}

TEST(SslPrincipalMapper, RulesInTheirOrder) {
  EXPECT_EQ(mapped("RULE:^CN=(.*?),OU=Ops.*$/$1/,DEFAULT"), "Client.One");
  EXPECT_EQ(mapped("RULE:^CN=(.*?),OU=Sales.*$/$1/ , DEFAULT"), kName);
  EXPECT_EQ(mapped("RULE:^CN=(.*?),OU=Sales.*$/$1/, RULE:^CN=([^,]+),OU=(.*?),.*$/$1@$2/L"),
            "client.one@ops");
  EXPECT_EQ(mapped("RULE:^CN=([^,]+),.*$/$1/U"), "CLIENT.ONE");
  EXPECT_EQ(mapped("RULE:^.*$/same/"), "same");
}

TEST(SslPrincipalMapper, NoRuleApplies) {
  EXPECT_EQ(mapped("RULE:^UID=(.*)$/$1/"), "(none)");
  // All of the name must match.
  EXPECT_EQ(mapped("RULE:CN=([^,]+)/$1/"), "(none)");
  EXPECT_EQ(mapped(""), "(none)");
  EXPECT_EQ(mapped(" , ,"), "(none)");
}

TEST(SslPrincipalMapper, CommasSlashesAndBackslashesWithinARule) {
  EXPECT_EQ(mapped("RULE:^CN=(.*),OU=(.*),O=(.*),L=(.*),ST=(.*),C=(.*)$/$1,$3,$6/"),
            "Client.One,Acme,DE");
  EXPECT_EQ(mapped("RULE:^CN=(a\\/b),.*$/$1/", "CN=a/b,C=DE"), "a/b");
  EXPECT_EQ(mapped("RULE:^CN=([^,]+),.*$/x\\/$1/"), "x/Client.One");
  EXPECT_EQ(mapped("RULE:^CN=([^.]+)\\.([^,]+),.*$/$2.$1/"), "One.Client");
}

TEST(SslPrincipalMapper, GroupsThatDoNotExistAreText) {
  EXPECT_EQ(mapped("RULE:^CN=([^,]+),.*$/$1$2/"), "Client.One$2");
  EXPECT_EQ(mapped("RULE:^CN=([^,]+),.*$/$12/"), "Client.One2");
  EXPECT_EQ(mapped("RULE:^CN=([^,]+),.*$/$0/"), kName);
}

// As Java replaces: what matches the empty text behind all of it is a second match.
TEST(SslPrincipalMapper, EveryMatchIsReplaced) { EXPECT_EQ(mapped("RULE:.*/x/"), "xx"); }

TEST(SslPrincipalMapper, Refusals) {
  EXPECT_THAT(mapped("DEFAULTX"), HasSubstr("neither DEFAULT nor RULE"));
  EXPECT_THAT(mapped("default"), HasSubstr("neither DEFAULT nor RULE"));
  EXPECT_THAT(mapped("RULE:^CN=(.*)$/$1"), HasSubstr("neither DEFAULT nor RULE"));
  EXPECT_THAT(mapped("RULE:^CN=(.*)$/$1/X"), HasSubstr("only L or U"));
  EXPECT_THAT(mapped("RULE:^CN=(.*)$/$1/LU"), HasSubstr("only L or U"));
  EXPECT_THAT(mapped("RULE:^CN=((.*)$/$1/"), HasSubstr("missing"));
  EXPECT_THAT(mapped("RULE:^(?=CN).*$/x/"), HasSubstr("invalid perl operator"));
}

}  // namespace
}  // namespace ackord::security
