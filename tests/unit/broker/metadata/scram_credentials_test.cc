#include "broker/metadata/scram_credentials.h"

#include <gmock/gmock.h>

#include "tests/support/metadata_fixture.h"

namespace ackord::metadata {
namespace {

using testing::ElementsAre;

constexpr int8_t kSha256 = 1;
constexpr int8_t kSha512 = 2;

std::string from_hex(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  return out;
}

ScramUpsertion upsertion(const std::string& user, int8_t mechanism = kSha256,
                         int32_t iterations = 4096) {
  return {user, mechanism, iterations, "salt", "salted"};
}

class Scram : public testing::Test {
 protected:
  // User → what was wrong.
  std::map<std::string, ErrorCode> alter(const std::vector<ScramDeletion>& deletions,
                                         const std::vector<ScramUpsertion>& upsertions) {
    const ScramPlan plan = plan_scram_changes(credentials, deletions, upsertions);
    for (const ScramRecord& record : plan.records)
      std::visit([&](const auto& one) { apply_scram(credentials, one); }, record);
    std::map<std::string, ErrorCode> wrong;
    for (const auto& [user, error] : plan.users)
      wrong[user] = error ? error->code : ErrorCode::NONE;
    return wrong;
  }

  ScramCredentials credentials;
};

// The example of RFC 7677: password "pencil", 4096 iterations.
TEST_F(Scram, KeysAreThoseOfTheRfc) {
  const std::string salt = from_hex("5b6d99689d12358eeca04b141236fa81");
  alter({}, {{"user", kSha256, 4096, salt,
              from_hex("c4a49510323ab4f952cac1fa99441939e78ea74d6be81ddf7096e87513dc615d")},
             {"longer", kSha512, 4096, salt,
              from_hex("f16efe1be67f1d09502ebd5ed9262fddffba5a377ab4f0b687e5ed5ba0f50686"
                       "b8a4ae166476da8ab3b951d2fa9238b63998f45461bc33a464814949cec9631d")}});
  const ScramCredential& made = credentials.at("user").at(ScramMechanism::kSha256);
  EXPECT_EQ(made.salt, salt);
  EXPECT_EQ(made.iterations, 4096);
  EXPECT_EQ(made.stored_key,
            from_hex("586e5df283e6dceb5c3e791d8b8528ec191e664045ce971792e2e6b5bb13e2a6"));
  EXPECT_EQ(made.server_key,
            from_hex("c1f3cbc1c13a9d35a14c0990eed97629ea225863e566a4314ab99f3f00e5d9d5"));
  const ScramCredential& longer = credentials.at("longer").at(ScramMechanism::kSha512);
  EXPECT_EQ(longer.stored_key,
            from_hex("e8002e6f7d3ae446119b216933644dc2a2be7869eb918b8459b5e7d7d2ec1260"
                     "6aceef106825cd735170a675fd3611f684affad1dce3f43a0ee43bd590e1dbbe"));
  EXPECT_EQ(longer.server_key,
            from_hex("8d91db6230b5687874fe129bc7206e1858c3ae08e02934f57ac03b6b05a229c4"
                     "59d28ff46f5c9611e6c179256490215ec1ff759cb0df285db89af0f99e613aac"));
}

TEST_F(Scram, EachUserStandsForItself) {
  EXPECT_THAT(alter({{"nobody", kSha256}}, {upsertion("good"), upsertion("few", kSha256, 4095)}),
              ElementsAre(std::pair("few", ErrorCode::UNACCEPTABLE_CREDENTIAL),
                          std::pair("good", ErrorCode::NONE),
                          std::pair("nobody", ErrorCode::RESOURCE_NOT_FOUND)));
  EXPECT_EQ(credentials.size(), 1u);
}

TEST_F(Scram, WhatIsRefused) {
  EXPECT_EQ(alter({}, {upsertion("u", 0)})["u"], ErrorCode::UNSUPPORTED_SASL_MECHANISM);
  EXPECT_EQ(alter({{"u", 3}}, {})["u"], ErrorCode::UNSUPPORTED_SASL_MECHANISM);
  EXPECT_EQ(alter({}, {upsertion("u", kSha512, 16385)})["u"], ErrorCode::UNACCEPTABLE_CREDENTIAL);
  EXPECT_EQ(alter({}, {upsertion("")})[""], ErrorCode::UNACCEPTABLE_CREDENTIAL);
  EXPECT_EQ(alter({}, {upsertion("u"), upsertion("u", kSha512)})["u"],
            ErrorCode::DUPLICATE_RESOURCE);
  EXPECT_TRUE(credentials.empty());
  alter({}, {upsertion("u")});
  EXPECT_EQ(alter({{"u", kSha512}}, {})["u"], ErrorCode::RESOURCE_NOT_FOUND);
  EXPECT_EQ(alter({{"u", kSha256}}, {upsertion("u", kSha512)})["u"], ErrorCode::DUPLICATE_RESOURCE);
  EXPECT_EQ(credentials.at("u").size(), 1u);
}

TEST_F(Scram, TheLastCredentialTakesItsUserAlong) {
  alter({}, {upsertion("u")});
  alter({}, {upsertion("u", kSha512)});
  alter({{"u", kSha256}}, {});
  EXPECT_EQ(credentials.at("u").size(), 1u);
  alter({{"u", kSha512}}, {});
  EXPECT_TRUE(credentials.empty());
}

TEST_F(Scram, AreThereAfterARestart) {
  test::MetadataFixture broker;
  const auto altered = broker.core.run(
      broker.metadata().alter_scram({}, {upsertion("u"), upsertion("gone", kSha512)}));
  ASSERT_TRUE(altered);
  EXPECT_EQ(altered->size(), 2u);
  ASSERT_TRUE(broker.core.run(broker.metadata().alter_scram({{"gone", kSha512}}, {})));
  EXPECT_EQ(broker.metadata().image().scram().size(), 1u);
  broker.restart();
  const ScramCredentials& kept = broker.metadata().image().scram();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept.at("u").at(ScramMechanism::kSha256).salt, "salt");
}

}  // namespace
}  // namespace ackord::metadata
