#include "client/config.h"

#include <gtest/gtest.h>

#include "client/share_consumer.h"

namespace ackord::client {
namespace {

TEST(Endpoints, AreParsed) {
  EXPECT_EQ(*parse_endpoints("a:1, b ,[::1]:9093,[::2]"),
            (std::vector<Endpoint>{{"a", 1}, {"b", 9092}, {"::1", 9093}, {"::2", 9092}}));
  for (const char* wrong : {"", ":9092", "a:", "a:0x1", "a:70000", "a:0", "[::1", "[::1]9092"}) {
    const auto parsed = parse_endpoints(wrong);
    if (std::string_view(wrong) == "a:") {
      EXPECT_EQ(*parsed, (std::vector<Endpoint>{{"a", 9092}}));
      continue;
    }
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_EQ(parsed.error().code, ErrorCode::INVALID_CONFIG) << wrong;
  }
}

TEST(ShareConsumerConfig, TakesKafkasNames) {
  ShareConsumerConfig config;
  ASSERT_TRUE(config.set("group.id", "g"));
  ASSERT_TRUE(config.set("share.acknowledgement.mode", "transactional"));
  ASSERT_TRUE(config.set("share.acknowledgement.fallback", "implicit"));
  ASSERT_TRUE(config.set("share.acquire.mode", "record_limit"));
  ASSERT_TRUE(config.set("max.poll.records", "7"));
  EXPECT_EQ(config.group, GroupId("g"));
  EXPECT_EQ(config.mode, AcknowledgementMode::kTransactional);
  EXPECT_EQ(config.fallback, AcknowledgementMode::kImplicit);
  EXPECT_EQ(config.limits.acquire_mode, AcquireMode::kRecordLimit);
  EXPECT_EQ(config.limits.max_poll_records, 7);
}

TEST(ShareConsumerConfig, RefusesWhatItDoesNotKnow) {
  ShareConsumerConfig config;
  const std::pair<const char*, const char*> wrong[] = {
      {"no.such.option", "1"},       {"max.poll.records", "0"},
      {"max.poll.records", "7x"},    {"share.acknowledgement.mode", "sometimes"},
      {"share.acquire.mode", "all"}, {"share.acknowledgement.fallback", "transactional"},
  };
  for (const auto& [name, value] : wrong) {
    EXPECT_EQ(config.set(name, value).error().code, ErrorCode::INVALID_CONFIG)
        << name << "=" << value;
  }
}

}  // namespace
}  // namespace ackord::client
