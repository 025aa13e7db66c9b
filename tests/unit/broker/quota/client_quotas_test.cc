#include "broker/quota/client_quotas.h"

#include <gtest/gtest.h>

#include "tests/support/metadata_fixture.h"

namespace ackord::quota {
namespace {

class ClientQuotasTest : public ::testing::Test {
 protected:
  ClientQuotasTest() : quotas_(broker_.environment, broker_.metadata()) {}

  void limit(const char* key, std::optional<double> value) {
    const auto altered = broker_.core.run(
        broker_.metadata().alter_quotas({{"client-id", std::nullopt}}, {{key, value}}, false));
    EXPECT_TRUE(altered.has_value());
  }
  Charge charge(Kind kind, const char* client_id) {
    return broker_.core.run(quotas_.charge(kind, {"ANONYMOUS", client_id}));
  }

  test::MetadataFixture broker_;
  ClientQuotas quotas_;
  const int64_t now_ = 5'000'000;
};

TEST_F(ClientQuotasTest, WithoutALimitNothingIsCounted) {
  EXPECT_FALSE(quotas_.any());
  Charge charge = this->charge(Kind::kProduce, "a");
  EXPECT_FALSE(charge.limited());
  charge.record(now_, INT64_MAX);
  EXPECT_EQ(charge.throttle_ms(now_), 0);
  EXPECT_EQ(charge.most(), INT64_MAX);
}

TEST_F(ClientQuotasTest, EachClientIdHasWhatTheDefaultGives) {
  limit("producer_byte_rate", 1000);
  EXPECT_TRUE(quotas_.any());
  charge(Kind::kProduce, "a").record(now_, 100'000);
  EXPECT_GT(charge(Kind::kProduce, "a").throttle_ms(now_), 0);
  EXPECT_EQ(charge(Kind::kProduce, "b").throttle_ms(now_), 0);
  EXPECT_EQ(charge(Kind::kProduce, "a").most(), 11'000);
  EXPECT_FALSE(charge(Kind::kFetch, "a").limited());
}

TEST_F(ClientQuotasTest, AChangeCountsAtOnceAndKeepsWhatWasUsed) {
  limit("producer_byte_rate", 1000);
  charge(Kind::kProduce, "a").record(now_, 100'000);
  limit("producer_byte_rate", 1'000'000);
  EXPECT_EQ(charge(Kind::kProduce, "a").throttle_ms(now_), 0);
  limit("producer_byte_rate", 2000);
  EXPECT_GT(charge(Kind::kProduce, "a").throttle_ms(now_), 0);
  limit("producer_byte_rate", std::nullopt);
  EXPECT_FALSE(charge(Kind::kProduce, "a").limited());
}

}  // namespace
}  // namespace ackord::quota
