#include "broker/metadata/client_quotas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ackord::metadata {
namespace {

const std::optional<std::string> kDefault;

QuotaEntity user(std::optional<std::string> name) { return {{"user", std::move(name)}}; }
QuotaEntity client(std::optional<std::string> id) { return {{"client-id", std::move(id)}}; }
QuotaEntity both(std::optional<std::string> name, std::optional<std::string> id) {
  return {{"user", std::move(name)}, {"client-id", std::move(id)}};
}

class ClientQuotasTest : public ::testing::Test {
 protected:
  Quotas quotas;

  // "" when it was done.
  std::string alter(const QuotaEntity& entity, const std::vector<QuotaChange>& changes) {
    const auto records = quota_changes(quotas, entity, changes);
    if (!records) return records.error().message;
    for (const auto& record : *records) apply_quota(quotas, record);
    return "";
  }
  double limit(std::string_view user, std::string_view client_id) {
    const auto found = find_limit(quotas, "producer_byte_rate", user, client_id);
    return found ? found->limit : 0;
  }
};

TEST_F(ClientQuotasTest, EightLevelsOfWhichTheFirstCounts) {
  const std::vector<QuotaEntity> levels = {
      client(kDefault),    client("c"), user(kDefault),      both(kDefault, kDefault),
      both(kDefault, "c"), user("u"),   both("u", kDefault), both("u", "c")};
  double rate = 0;
  for (const QuotaEntity& level : levels) {
    EXPECT_EQ(limit("u", "c"), rate);
    EXPECT_EQ(alter(level, {{"producer_byte_rate", ++rate}}), "");
    EXPECT_EQ(limit("u", "c"), rate);
  }
  EXPECT_EQ(limit("other", "d"), 4);
  const auto scope = [this](const char* user, const char* id) {
    return *find_limit(quotas, "producer_byte_rate", user, id);
  };
  EXPECT_EQ(scope("u", "c"), (QuotaLimit{8, "u", "c"}));
  EXPECT_EQ(scope("other", "c"), (QuotaLimit{5, "other", "c"}));
  EXPECT_EQ(alter(both("u", "c"), {{"producer_byte_rate", std::nullopt}}), "");
  EXPECT_EQ(alter(both("u", kDefault), {{"producer_byte_rate", std::nullopt}}), "");
  // All clients of the user share its own.
  EXPECT_EQ(scope("u", "c"), (QuotaLimit{6, "u", ""}));
  EXPECT_EQ(quotas.size(), 6u);
}

TEST_F(ClientQuotasTest, WhatIsRefused) {
  using Changes = std::vector<QuotaChange>;
  const Changes rate = {{"producer_byte_rate", 1.0}};
  for (const auto& [entity, changes] : std::vector<std::pair<QuotaEntity, Changes>>{
           {{}, rate},
           {{{"colour", "red"}}, rate},
           {client(""), rate},
           {{{"ip", "127.0.0.1"}, {"client-id", "c"}}, rate},
           {{{"ip", "127.0.0.1"}}, rate},
           {{{"ip", "no address"}}, {{"connection_creation_rate", 5.0}}},
           {client("c"), {{"no_such_rate", 1.0}}},
           {client("c"), {{"producer_byte_rate", 0.0}}},
           {client("c"), {{"producer_byte_rate", 1.5}}},
           {client("c"), {{"producer_byte_rate", std::nan("")}}},
           {client("c"), {{"connection_creation_rate", 5.0}}},
           {client("c"), {{"producer_byte_rate", 1.0}, {"producer_byte_rate", 2.0}}}}) {
    EXPECT_NE(alter(entity, changes), "");
  }
  EXPECT_TRUE(quotas.empty());
  EXPECT_EQ(alter({{"ip", "::1"}}, {{"connection_creation_rate", 5.0}}), "");
  EXPECT_EQ(alter(client("c"), {{"request_percentage", 0.5}}), "");
}

TEST_F(ClientQuotasTest, NoRecordForWhatDoesNotChange) {
  EXPECT_EQ(alter(client("c"), {{"producer_byte_rate", 5.0}}), "");
  EXPECT_TRUE(quota_changes(quotas, client("c"), {{"producer_byte_rate", 5.0}})->empty());
  EXPECT_TRUE(quota_changes(quotas, client("c"), {{"consumer_byte_rate", std::nullopt}})->empty());
}

TEST(QuotaFilters, FindEntities) {
  using Match = QuotaFilter::Match;
  const QuotaFilter u{"user", Match::kExact, "u"};
  const QuotaFilter any_client{"client-id", Match::kAny, std::nullopt};
  const QuotaFilter default_client{"client-id", Match::kDefault, std::nullopt};
  EXPECT_TRUE(fits(both("u", "c"), {u}, false));
  EXPECT_FALSE(fits(both("u", "c"), {u}, true));
  EXPECT_TRUE(fits(both("u", "c"), {u, any_client}, true));
  EXPECT_FALSE(fits(both("u", "c"), {u, default_client}, true));
  EXPECT_TRUE(fits(client(kDefault), {default_client}, true));
  EXPECT_TRUE(fits(client("c"), {}, false));
  EXPECT_FALSE(fits(client("c"), {}, true));
  EXPECT_TRUE(check_filters({u, any_client}).has_value());
  EXPECT_EQ(check_filters({{"colour", Match::kAny, std::nullopt}}).error().code,
            ErrorCode::UNSUPPORTED_VERSION);
  EXPECT_EQ(check_filters({u, u}).error().code, ErrorCode::INVALID_REQUEST);
}

}  // namespace
}  // namespace ackord::metadata
