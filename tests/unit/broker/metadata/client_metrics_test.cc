#include "broker/metadata/client_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ackord::metadata {
namespace {

TEST(MetricsSubscription, EveryPatternFitsTheWholeOfItsProperty) {
  MetricsClient client;
  client.client_id = "orders-1";
  client.software_name = "librdkafka";
  const auto matches = [&client](const char* patterns) {
    return MetricsSubscription(ConfigMap{{"match", patterns}}).matches(client);
  };
  EXPECT_TRUE(matches(""));
  EXPECT_TRUE(matches("client_id=orders-.*"));
  EXPECT_FALSE(matches("client_id=orders"));
  EXPECT_TRUE(matches(" client_id = orders-1 , client_software_name=lib.*"));
  EXPECT_FALSE(matches("client_id=orders-1,client_software_name=apache.*"));
  // What another broker has stored and cannot be read means nobody.
  EXPECT_FALSE(matches("client_id=(?=x)"));
}

TEST(MetricsSubscription, HasDefaults) {
  const MetricsSubscription none{ConfigMap()};
  EXPECT_EQ(none.interval_ms(), 300000);
  EXPECT_TRUE(none.metrics().empty());
  const MetricsSubscription some(ConfigMap{{"interval.ms", "700"}, {"metrics", "a.b, c"}});
  EXPECT_EQ(some.interval_ms(), 700);
  EXPECT_THAT(some.metrics(), testing::ElementsAre("a.b", "c"));
}

}  // namespace
}  // namespace ackord::metadata
