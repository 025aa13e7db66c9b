// UpdateFeatures (key 57), versions 0-2 (KIP-584): finalizes other feature levels, all or none.
//   v1  upgrade type in place of the permission to go down, validate only
//   v2  no results per feature
// share.version may not leave the transactional acknowledgements while records are staged (protocol
// 1.5): INVALID_UPDATE_VERSION. New stages are stopped before that is looked at, and until the new
// level forbids them everywhere. May: ALTER on the cluster.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/api/share_requests.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/update_features_request.h"
#include "protocol/generated/update_features_response.h"

namespace ackord::api {
namespace {

using metadata::FeatureUpdate;
using protocol::UpdateFeaturesRequest;
using protocol::UpdateFeaturesResponse;

constexpr int16_t kFirstWithUpgradeType = 1;
constexpr std::string_view kShareVersion = "share.version";

FeatureUpdate update_of(const UpdateFeaturesRequest::FeatureUpdateKey& asked, int16_t version) {
  FeatureUpdate update;
  update.feature = asked.feature.str();
  update.level = asked.max_version_level;
  if (version >= kFirstWithUpgradeType) {
    update.kind = static_cast<FeatureUpdate::Kind>(asked.upgrade_type);
  } else if (asked.allow_downgrade) {
    update.kind = FeatureUpdate::Kind::kSafeDowngrade;
  }
  return update;
}

bool ends_staging(const metadata::MetadataService& metadata,
                  const std::vector<FeatureUpdate>& updates) {
  if (share_version(metadata) < kShareVersionTransactions) return false;
  const auto last = std::find_if(updates.rbegin(), updates.rend(),
                                 [](const auto& one) { return one.feature == kShareVersion; });
  return last != updates.rend() && last->level < kShareVersionTransactions;
}

io::Task<Result<void>> check_nothing_staged(Services& services) {
  auto counting = services.share.staged_records();
  const Result<int64_t> staged = co_await std::move(counting);
  if (!staged) co_return staged.error();
  auto living = services.share.batch_transactions().live(std::nullopt);
  const Result<int64_t> live = co_await std::move(living);
  if (!live) co_return live.error();
  if (*live != 0) {
    co_return error(ErrorCode::INVALID_UPDATE_VERSION,
                    "share.version cannot be lowered: " + std::to_string(*live) +
                        " batch transactions are neither committed nor aborted.");
  }
  if (*staged == 0) co_return Result<void>();
  co_return error(ErrorCode::INVALID_UPDATE_VERSION,
                  "share.version cannot be lowered: the acknowledgements of " +
                      std::to_string(*staged) + " records wait for the end of their transactions.");
}

io::Task<Result<void>> update(Services& services, std::vector<FeatureUpdate> updates,
                              bool validate_only) {
  const bool ends = ends_staging(services.metadata, updates);
  if (ends) {
    auto closing = services.share.close_staging();
    co_await std::move(closing);
    auto checking = check_nothing_staged(services);
    const Result<void> checked = co_await std::move(checking);
    if (!checked) {
      auto opening = services.share.open_staging();
      co_await std::move(opening);
      co_return checked;
    }
  }
  auto updating = services.metadata.update_features(std::move(updates), validate_only);
  Result<void> updated = co_await std::move(updating);
  if (ends) {
    auto opening = services.share.open_staging();
    co_await std::move(opening);
  }
  co_return updated;
}

}  // namespace

io::Task<UpdateFeaturesResponse> handle(RequestContext& context, UpdateFeaturesRequest request) {
  UpdateFeaturesResponse response;
  if (!Access(context).may_cluster(Operation::kAlter)) {
    response.error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    response.error_message = String(kafka_text(response.error_code));
    co_return response;
  }
  std::vector<FeatureUpdate> updates;
  for (const auto& asked : request.feature_updates)
    updates.push_back(update_of(asked, context.api_version));
  auto updating = update(context.services, std::move(updates), request.validate_only);
  const Result<void> updated = co_await std::move(updating);
  if (!updated) {
    response.error_code = updated.error().code;
    response.error_message = String(updated.error().message);
    co_return response;
  }
  response.error_message.reset();
  // Kafka's text of an error that is none, too.
  for (const auto& asked : request.feature_updates)
    response.results.push_back({asked.feature, ErrorCode::NONE, String("NONE")});
  co_return response;
}

}  // namespace ackord::api
