// What the handlers of share RPCs have in common: checks of ids and rights, and the wire's batches
// as the share room takes them.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/metadata/metadata_service.h"
#include "broker/share/share_service.h"

namespace ackord::api {

constexpr size_t kMaxShareMemberId = 36;  // a UUID's text; what stock clients send may be shorter

inline bool valid_share_member(std::string_view member) {
  return !member.empty() && member.size() <= kMaxShareMemberId;
}

// The topics that the client may READ, for the share service.
inline share::MayRead may_read(const Access& access) {
  if (!access.limited()) return {};
  return [access](std::string_view topic) { return access.may_topic(Operation::kRead, topic); };
}

// Finalized share.version: 1 share groups, 2 dead-letter queue, 3 transactional acknowledgements.
inline int16_t share_version(const metadata::MetadataService& metadata) {
  return metadata.image().features().level("share.version");
}
constexpr int16_t kShareVersionGroups = 1;
constexpr int16_t kShareVersionTransactions = 3;

// One element of a request's AcknowledgementBatches, whichever request it is.
template <class Batches>
std::vector<share::AcknowledgementBatch> acknowledgement_batches(Batches&& batches) {
  std::vector<share::AcknowledgementBatch> out;
  out.reserve(batches.size());
  for (auto& batch : batches)
    out.push_back({batch.first_offset, batch.last_offset, std::move(batch.acknowledge_types)});
  return out;
}

template <class Text>
void set_message(std::optional<Text>& out, const std::string& message) {
  if (!message.empty()) out = Text(message);
}

}  // namespace ackord::api
