// FindCoordinator (key 10), versions 0-6.
//   v1  key types (group 0, transactional id 1)   v3  flexible   v4  many keys   v6  share
//   partitions (type 2, KIP-932)
// The state topic behind the coordinator is made on first use. One node: every coordinator is this
// one. A share key is "group:topicId:partition", read from its right end, since a group id may
// contain ':'. May: DESCRIBE on the group or on the transactional id, CLUSTER_ACTION for share
// keys.
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/find_coordinator_request.h"
#include "protocol/generated/find_coordinator_response.h"

namespace ackord::api {
namespace {

using protocol::FindCoordinatorRequest;
using protocol::FindCoordinatorResponse;
using Coordinator = FindCoordinatorResponse::Coordinator;

constexpr int8_t kGroup = 0;
constexpr int8_t kTransaction = 1;
constexpr int8_t kShare = 2;
constexpr int16_t kFirstWithManyKeys = 4;
constexpr int16_t kFirstWithShare = 6;

std::optional<std::string_view> topic_of(int8_t key_type) {
  switch (key_type) {
    case kGroup: return metadata::kOffsetsTopic;
    case kTransaction: return metadata::kTransactionTopic;
    case kShare: return metadata::kShareStateTopic;
    default: return std::nullopt;
  }
}

// As Java's Integer.parseInt.
bool is_int32(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  int32_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size();
}

bool is_share_key(std::string_view key) {
  const size_t second = key.rfind(':');
  if (second == std::string_view::npos || second == 0) return false;
  const size_t first = key.rfind(':', second - 1);
  if (first == std::string_view::npos) return false;
  const std::string_view group = key.substr(0, first);
  Uuid topic_id;
  return group.find_first_not_of(" \t\r\n\f\v") != std::string_view::npos &&
         Uuid::parse(key.substr(first + 1, second - first - 1), topic_id) &&
         is_int32(key.substr(second + 1));
}

// What the client may not know the coordinator of: DESCRIBE on the group, DESCRIBE on the
// transactional id, CLUSTER_ACTION for share partitions.
ErrorCode denial(const Access& access, int8_t key_type, std::string_view key) {
  if (key_type == kGroup && !access.may_group(Operation::kDescribe, key))
    return ErrorCode::GROUP_AUTHORIZATION_FAILED;
  if (key_type == kTransaction && !access.may_transaction(Operation::kDescribe, key))
    return ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
  if (key_type == kShare && !access.may_cluster(Operation::kClusterAction))
    return ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
  return ErrorCode::NONE;
}

Coordinator refused(const String& key, ErrorCode code) {
  Coordinator answer;
  answer.key = key;
  answer.node_id = BrokerId(-1);
  answer.port = -1;
  answer.error_code = code;
  return answer;
}

io::Task<Coordinator> find(RequestContext& context, int8_t key_type, String key) {
  const std::optional<std::string_view> topic = topic_of(key_type);
  if (!topic) {
    Coordinator answer = refused(key, ErrorCode::INVALID_REQUEST);
    answer.error_message = String(kafka_text(answer.error_code));
    co_return answer;
  }
  if (key_type == kShare && context.api_version < kFirstWithShare)
    co_return refused(key, ErrorCode::INVALID_REQUEST);
  const Access access(context);
  if (const ErrorCode denied = denial(access, key_type, key); denied != ErrorCode::NONE) {
    Coordinator answer = refused(key, denied);
    if (key_type == kShare) answer.error_message = String(kafka_text(denied));
    co_return answer;
  }
  if (key_type == kShare && !is_share_key(key)) co_return refused(key, ErrorCode::INVALID_REQUEST);
  auto ensuring = context.services.metadata.ensure_internal_topic(*topic);
  auto ensured = co_await std::move(ensuring);
  if (!ensured) co_return refused(key, ErrorCode::COORDINATOR_NOT_AVAILABLE);
  const metadata::Node node = context.services.metadata.node_for_listener(context.client->listener);
  Coordinator answer;
  answer.key = key;
  answer.node_id = node.id;
  answer.host = node.host;
  answer.port = node.port;
  co_return answer;
}

}  // namespace

io::Task<FindCoordinatorResponse> handle(RequestContext& context, FindCoordinatorRequest request) {
  FindCoordinatorResponse response;
  if (context.api_version < kFirstWithManyKeys) {
    auto finding = find(context, request.key_type, request.key);
    Coordinator found = co_await std::move(finding);
    response.error_code = found.error_code;
    response.error_message = String(kafka_text(found.error_code));
    response.node_id = found.node_id;
    response.host = std::move(found.host);
    response.port = found.port;
    co_return response;
  }
  for (const String& key : request.coordinator_keys) {
    auto finding = find(context, request.key_type, key);
    Coordinator found = co_await std::move(finding);
    response.coordinators.push_back(std::move(found));
  }
  co_return response;
}

}  // namespace ackord::api
