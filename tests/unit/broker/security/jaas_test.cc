#include "broker/security/jaas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ackord::security {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

std::string refusal(const std::string& text) {
  const auto module = parse_jaas(text);
  return module ? "accepted" : module.error().message;
}

TEST(Jaas, AModuleWithOptions) {
  const auto module = parse_jaas(
      "org.apache.kafka.common.security.plain.PlainLoginModule Required\n"
      "  username='admin' // who this broker is\n"
      "  user_alice=\"a \\\"quoted\\\" \\\\ secret\"  /* and\n more */ user_bob=secret-1.x\n"
      "  user_b$_x=\"\\101\\t\\q=;\" ;\n");
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(module->name, "org.apache.kafka.common.security.plain.PlainLoginModule");
  EXPECT_THAT(
      module->options,
      UnorderedElementsAre(Pair("username", "admin"), Pair("user_alice", "a \"quoted\" \\ secret"),
                           Pair("user_bob", "secret-1.x"), Pair("user_b$_x", "A\tq=;")));
  EXPECT_TRUE(parse_jaas("M required;"));
  EXPECT_TRUE(parse_jaas("M sufficient a=\"\";"));
}

TEST(Jaas, WhatIsNone) {
  EXPECT_THAT(refusal(""), HasSubstr("no login module"));
  EXPECT_THAT(refusal("\"M\" required;"), HasSubstr("no login module"));
  EXPECT_THAT(refusal("M"), HasSubstr("required"));
  EXPECT_THAT(refusal("M a=\"b\";"), HasSubstr("required"));
  EXPECT_THAT(refusal("M required"), HasSubstr("semicolon"));
  EXPECT_THAT(refusal("M required a=\"b\""), HasSubstr("semicolon"));
  EXPECT_THAT(refusal("M required a=\"b;"), HasSubstr("no end"));
  EXPECT_THAT(refusal("M required a=\"b\n\";"), HasSubstr("no end"));
  EXPECT_THAT(refusal("M required a=\"b\\"), HasSubstr("no end"));
  EXPECT_THAT(refusal("M required /* a=\"b\";"), HasSubstr("no end"));
  EXPECT_THAT(refusal("M required = ;"), HasSubstr("name"));
  EXPECT_THAT(refusal("M required a=;"), HasSubstr("option 1 has no value"));
  EXPECT_THAT(refusal("M required a;"), HasSubstr("option 1 has no value"));
  EXPECT_THAT(refusal("M required; N required;"), HasSubstr("only one"));
}

// Who forgets the quotes must not find the password in the log.
TEST(Jaas, NoSecretIsRepeated) {
  EXPECT_THAT(refusal("M required user_a=top hidden;"), Not(HasSubstr("hidden")));
  EXPECT_THAT(refusal("M required user_a=\"hidden;"), Not(HasSubstr("hidden")));
  EXPECT_THAT(refusal("M required user_a=\"b\" user_b=\"hidden\""), Not(HasSubstr("hidden")));
}

}  // namespace
}  // namespace ackord::security
