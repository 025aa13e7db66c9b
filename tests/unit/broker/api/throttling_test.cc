#include "broker/api/throttling.h"

#include <gtest/gtest.h>

#include "tests/support/metadata_fixture.h"

namespace ackord::api {
namespace {

// KIP-599: a client that may make one partition a second, with a second's worth saved up.
class MutationsTest : public ::testing::Test {
 protected:
  MutationsTest() : quotas_(broker_.environment, broker_.metadata()) {
    const auto altered = broker_.core.run(broker_.metadata().alter_quotas(
        {{"client-id", std::nullopt}}, {{"controller_mutation_rate", 1.0}}, false));
    EXPECT_TRUE(altered.has_value());
  }
  Mutations request(bool strict) {
    return Mutations(broker_.core.clock,
                     broker_.core.run(quotas_.charge(quota::Kind::kMutation, {"ANONYMOUS", "a"})),
                     strict);
  }

  test::MetadataFixture broker_;
  quota::ClientQuotas quotas_;
};

TEST_F(MutationsTest, WhoIsRefusedIsToldTheTimeAsItWasThen) {
  EXPECT_TRUE(request(true).take(1000));
  Mutations refused = request(true);
  EXPECT_FALSE(refused.take(1));
  const int32_t wait_ms = refused.throttle_ms();
  EXPECT_GT(wait_ms, 0);
  // The rest of the request takes so long that there is room again.
  broker_.core.clock.advance(wait_ms + 1);
  EXPECT_EQ(refused.throttle_ms(), wait_ms);
  EXPECT_FALSE(refused.take(1)) << "one request is refused as a whole from there on";
  EXPECT_TRUE(request(true).take(1));
}

TEST_F(MutationsTest, AnAllowedStrictOneIsNotThrottled) {
  Mutations allowed = request(true);
  EXPECT_TRUE(allowed.take(1000));
  EXPECT_EQ(allowed.throttle_ms(), 0);
}

TEST_F(MutationsTest, AnOlderOneIsMadeAndThrottledAfterwards) {
  EXPECT_TRUE(request(false).take(1000));
  Mutations older = request(false);
  EXPECT_TRUE(older.take(1));
  EXPECT_GT(older.throttle_ms(), 0);
}

}  // namespace
}  // namespace ackord::api
