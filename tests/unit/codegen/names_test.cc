#include "codegen/schema/names.h"

#include <gtest/gtest.h>

namespace ackord::codegen {
namespace {

TEST(Names, SnakeCase) {
  EXPECT_EQ(snake_case("LastStableOffset"), "last_stable_offset");
  EXPECT_EQ(snake_case("V3AndBelowTopics"), "v3_and_below_topics");
  EXPECT_EQ(snake_case("timeoutMs"), "timeout_ms");
  EXPECT_EQ(snake_case("Enable2Pc"), "enable2_pc");
  EXPECT_EQ(snake_case("KRaftVersion"), "k_raft_version");
  EXPECT_EQ(snake_case("SASLAuthBytes"), "sasl_auth_bytes");
  EXPECT_EQ(snake_case("ID"), "id");
}

TEST(Names, AWordOfCppGetsAnUnderscore) {
  EXPECT_EQ(member_name("Operator"), "operator_");
  EXPECT_EQ(member_name("Operation"), "operation");
}

TEST(Names, JsonName) {
  EXPECT_EQ(json_name("KRaftVersion"), "kRaftVersion");
  EXPECT_EQ(json_name("group"), "group");
}

}  // namespace
}  // namespace ackord::codegen
