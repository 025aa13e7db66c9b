#include "broker/base/metrics.h"

#include <gtest/gtest.h>

namespace ackord::base {
namespace {

TEST(MetricsPage, IsPrometheusText) {
  MetricsPage page;
  page.gauge("ackord_lag", "How far behind.", {{"group", "g\"1\""}, {"partition", "0"}}, 7);
  page.counter("ackord_done_total", "What is done.", {}, 3);
  page.gauge("ackord_lag", "How far behind.", {{"group", "h"}, {"partition", "1"}}, 0.5);
  EXPECT_EQ(page.text(),
            "# HELP ackord_done_total What is done.\n"
            "# TYPE ackord_done_total counter\n"
            "ackord_done_total 3\n"
            "# HELP ackord_lag How far behind.\n"
            "# TYPE ackord_lag gauge\n"
            "ackord_lag{group=\"g\\\"1\\\"\",partition=\"0\"} 7\n"
            "ackord_lag{group=\"h\",partition=\"1\"} 0.5\n");
}

}  // namespace
}  // namespace ackord::base
