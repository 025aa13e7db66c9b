// The feature levels that this broker speaks (KIP-584), of Kafka 4.4. share.version 3 is Ackord's:
// transactional acknowledgements.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ackord::metadata {

struct SupportedFeature {
  std::string_view name;
  int16_t min;
  int16_t max;
  int16_t bootstrap;  // the level in a new directory
};
// By name.
std::span<const SupportedFeature> supported_features();

}  // namespace ackord::metadata
