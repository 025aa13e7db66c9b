// The pages of the real broker for operators: health, readiness, and what share groups have given
// up and are behind with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio.hpp>

#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/http_get.h"
#include "tests/integration/support/share_member.h"

namespace ackord::integration {
namespace {

using boost::asio::ip::tcp;
using testing::HasSubstr;
using testing::StartsWith;

TEST(OperatorPages, ShowHealthAndShareGroups) {
  const uint16_t http = free_port();
  BrokerProcess broker({{"http.listener", "127.0.0.1:" + std::to_string(http)}});
  EXPECT_THAT(http_get(http, "/healthz"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(http_get(http, "/readyz"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(http_get(http, "/"), StartsWith("HTTP/1.1 404 "));

  RawClient client(broker.port());
  const Topic topic = create_topic(client, "work");
  set_group_configs(client, "g", {{"share.auto.offset.reset", "earliest"}});
  produce(client, topic, 0, numbered_values(10));
  ShareMember member(broker.port(), "g");
  member.join({topic});
  member.acquire(topic, 0, 10);
  ASSERT_EQ(member.acknowledge(topic, 0, 0, 3, kAccept), ErrorCode::NONE);
  ASSERT_EQ(member.acknowledge(topic, 0, 6, 7, kReject), ErrorCode::NONE);
  const std::string metrics = http_get(http, "/metrics");
  EXPECT_THAT(metrics, HasSubstr("\nackord_log_online 1\n"));
  EXPECT_THAT(metrics,
              HasSubstr("\nackord_share_lag{group=\"g\",topic=\"work\",partition=\"0\"} 4\n"));
  EXPECT_THAT(metrics, HasSubstr("\nackord_share_archived_records_total"
                                 "{group=\"g\",topic=\"work\",reason=\"rejected\"} 2\n"));
  EXPECT_THAT(metrics, HasSubstr("ackord_share_oldest_unacknowledged_age_seconds{group=\"g\""));
  EXPECT_THAT(broker.output(),
              HasSubstr("records archived group=g partition=work-0 offsets=6-7 reason=rejected "
                        "delivery-count=1 dead-letter=false"));
  EXPECT_EQ(broker.stop(), 0);
  EXPECT_EQ(http_get(http, "/healthz"), "");
}

TEST(OperatorPages, ATakenAddressStopsTheStartOnlyWhenItWasGiven) {
  boost::asio::io_context context;
  tcp::acceptor taken(context, {boost::asio::ip::make_address("127.0.0.1"), 0});
  const std::string address = "127.0.0.1:" + std::to_string(taken.local_endpoint().port());
  test::TempDirectory directory;
  const Ended ended = run_ackord({"--set", "log.dirs=" + directory / "data", "--set",
                                  "listeners=PLAINTEXT://127.0.0.1:" + std::to_string(free_port()),
                                  "--set", "http.listener=" + address});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.output, HasSubstr("http.listener: cannot listen on " + address));
}

}  // namespace
}  // namespace ackord::integration
