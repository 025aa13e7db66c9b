// UpdateFeatures with the real broker: share.version stays while acknowledgements are staged, and
// what lies above its level is not served.
#include <gtest/gtest.h>

#include "protocol/generated/abort_batch_txn_request.h"
#include "protocol/generated/abort_batch_txn_response.h"
#include "protocol/generated/add_share_acks_to_txn_request.h"
#include "protocol/generated/add_share_acks_to_txn_response.h"
#include "protocol/generated/batch_txn_acknowledge_request.h"
#include "protocol/generated/batch_txn_acknowledge_response.h"
#include "protocol/generated/begin_batch_txn_request.h"
#include "protocol/generated/begin_batch_txn_response.h"
#include "protocol/generated/commit_batch_txn_request.h"
#include "protocol/generated/commit_batch_txn_response.h"
#include "protocol/generated/describe_share_partitions_request.h"
#include "protocol/generated/describe_share_partitions_response.h"
#include "protocol/generated/list_batch_txns_request.h"
#include "protocol/generated/list_batch_txns_response.h"
#include "protocol/generated/prepare_batch_txn_request.h"
#include "protocol/generated/prepare_batch_txn_response.h"
#include "protocol/generated/release_share_partitions_request.h"
#include "protocol/generated/release_share_partitions_response.h"
#include "protocol/generated/txn_share_acknowledge_request.h"
#include "protocol/generated/txn_share_acknowledge_response.h"
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

  // With these names, and else empty: whatever comes of it, it is another error where it is served.
  template <class Response, class Request>
  bool is_served(Request request) {
    request.group_id = GroupId(group_);
    if constexpr (requires { request.transaction_id; })
      request.transaction_id = TransactionalId("nobody");
    if constexpr (requires { request.transactional_id; })
      request.transactional_id = TransactionalId("nobody");
    const ErrorCode error = client_.call<Response>(request, 0).message.error_code;
    return error != ErrorCode::UNSUPPORTED_VERSION;
  }
  template <class Request, class Response>
  void ask(std::vector<int>& served) {
    if (is_served<Response>(Request())) served.push_back(Request::kApiKey);
  }
  std::vector<int> served() {
    using namespace protocol;
    std::vector<int> keys;
    ask<TxnShareAcknowledgeRequest, TxnShareAcknowledgeResponse>(keys);
    ask<AddShareAcksToTxnRequest, AddShareAcksToTxnResponse>(keys);
    ask<BeginBatchTxnRequest, BeginBatchTxnResponse>(keys);
    ask<BatchTxnAcknowledgeRequest, BatchTxnAcknowledgeResponse>(keys);
    ask<PrepareBatchTxnRequest, PrepareBatchTxnResponse>(keys);
    ask<CommitBatchTxnRequest, CommitBatchTxnResponse>(keys);
    ask<AbortBatchTxnRequest, AbortBatchTxnResponse>(keys);
    ask<ListBatchTxnsRequest, ListBatchTxnsResponse>(keys);
    ask<DescribeSharePartitionsRequest, DescribeSharePartitionsResponse>(keys);
    ask<ReleaseSharePartitionsRequest, ReleaseSharePartitionsResponse>(keys);
    return keys;
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

// docs/PROTOCOL.md 0.1.
TEST_F(FeatureLevels, EachRequestNeedsItsLevel) {
  const std::vector<int> groups{20010, 20011};
  const std::vector<int> all{95, 20000, 20001, 20002, 20003, 20004, 20005, 20006, 20010, 20011};
  EXPECT_EQ(served(), all);
  ASSERT_EQ(set_share_version(2, kSafeDowngrade), ErrorCode::NONE);
  EXPECT_EQ(served(), groups);
  ASSERT_EQ(set_share_version(1, kSafeDowngrade), ErrorCode::NONE);
  EXPECT_EQ(served(), groups);
  ASSERT_EQ(set_share_version(0, kSafeDowngrade), ErrorCode::NONE);
  EXPECT_EQ(served(), std::vector<int>{});
  ASSERT_EQ(set_share_version(3, kUpgrade), ErrorCode::NONE);
  EXPECT_EQ(served(), all);
}

}  // namespace
}  // namespace ackord::integration
