#include "broker/main/authorizer_config.h"

#include <gmock/gmock.h>

namespace ackord::main {
namespace {

constexpr std::string_view kStandard =
    "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n";

Result<std::optional<security::AuthorizerConfig>> made(const std::string& text) {
  return authorizer_config(
      Config::make(parse_properties(text, "server.properties").value()).value());
}

TEST(AuthorizerConfig, NoneWithoutItsName) {
  EXPECT_FALSE(made("")->has_value());
  EXPECT_FALSE(made("super.users=User:a\n")->has_value());
}

TEST(AuthorizerConfig, SaysWhoMayDoEverything) {
  const security::AuthorizerConfig plain = made(std::string(kStandard))->value();
  EXPECT_TRUE(plain.super_users.empty());
  EXPECT_FALSE(plain.allow_if_no_acl);
  const security::AuthorizerConfig config =
      made(std::string(kStandard) +
           "super.users=User:a;User:b\nallow.everyone.if.no.acl.found=true\n")
          ->value();
  EXPECT_THAT(config.super_users, testing::ElementsAre("User:a", "User:b"));
  EXPECT_TRUE(config.allow_if_no_acl);
}

TEST(AuthorizerConfig, OneThatIsNotServedIsRefused) {
  EXPECT_EQ(made("authorizer.class.name=com.example.Mine\n").error().message,
            "authorizer.class.name=com.example.Mine cannot be had; what is served is "
            "org.apache.kafka.metadata.authorizer.StandardAuthorizer");
  EXPECT_TRUE(made(std::string(kStandard) + "super.users=a\n").has_error());
}

TEST(AuthorizerConfig, NamesTheListenersThatOthersReach) {
  const auto beyond = [](const std::string& listeners) {
    const auto config =
        Config::make(parse_properties("listener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT\n"
                                      "listeners=" +
                                          listeners,
                                      "server.properties")
                         .value());
    return listeners_beyond_loopback(listener_configs(config.value()).value());
  };
  EXPECT_EQ(beyond("A://localhost:9092,B://127.0.0.1:9093"), "");
  EXPECT_EQ(beyond("A://[::1]:9092,B://:9093"), "B");
  EXPECT_EQ(beyond("A://0.0.0.0:9092,B://10.1.2.3:9093"), "A,B");
}

}  // namespace
}  // namespace ackord::main
