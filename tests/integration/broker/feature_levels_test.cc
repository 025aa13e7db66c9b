// UpdateFeatures with the real broker: share.version stays while acknowledgements are staged.
#include <gtest/gtest.h>

#include "protocol/generated/update_features_request.h"
#include "protocol/generated/update_features_response.h"
#include "tests/integration/broker/txn_fixture.h"

namespace ackord::integration {
namespace {

constexpr int8_t kUpgrade = 1;
constexpr int8_t kSafeDowngrade = 2;

class FeatureLevels : public TxnFixture {
 protected:
  // What the others of the suite begin with.
  void TearDown() override { EXPECT_EQ(set_share_version(3, kUpgrade), ErrorCode::NONE); }

  ErrorCode set_share_version(int16_t level, int8_t upgrade_type) {
    protocol::UpdateFeaturesRequest request;
    auto& update = request.feature_updates.emplace_back();
    update.feature = String("share.version");
    update.max_version_level = level;
    update.upgrade_type = upgrade_type;
    return client_.call<protocol::UpdateFeaturesResponse>(request, 2).message.error_code;
  }
};

TEST_F(FeatureLevels, StagedAcknowledgementsKeepTheirLevel) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  ASSERT_EQ(txn.stage(member, {range(0, 9)}), staged_ok());
  EXPECT_EQ(set_share_version(2, kSafeDowngrade), ErrorCode::INVALID_UPDATE_VERSION);
  EXPECT_EQ(set_share_version(0, kSafeDowngrade), ErrorCode::INVALID_UPDATE_VERSION);
  EXPECT_EQ(txn.stage(member, {range(0, 9)}), staged_ok());
  txn.end_for_sure(true);
  await_state("10..10:");
  EXPECT_EQ(set_share_version(2, kSafeDowngrade), ErrorCode::NONE);
}

TEST_F(FeatureLevels, WithoutTheLevelNothingIsStaged) {
  ShareMember member = holder();
  TxnProducer txn = producer();
  EXPECT_EQ(set_share_version(2, kSafeDowngrade), ErrorCode::NONE);
  EXPECT_EQ(txn.stage(member, {range(0, 9)}), refused_whole(ErrorCode::UNSUPPORTED_VERSION));
  EXPECT_EQ(member.acknowledge(source_, 0, 0, 9, kAccept), ErrorCode::NONE);
}

}  // namespace
}  // namespace ackord::integration
