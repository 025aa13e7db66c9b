// The feature levels that this broker speaks (KIP-584), of Kafka 4.4. share.version 3 is Ackord's:
// transactional acknowledgements.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ackord::metadata {

struct SupportedFeature {
  std::string_view name;
  int16_t min;
  int16_t max;
  int16_t bootstrap;  // the level in a new directory
};
// A level that is asked for; kinds have UpdateFeatures' numbers.
struct FeatureUpdate {
  enum class Kind : int8_t { kUnknown = 0, kUpgrade = 1, kSafeDowngrade = 2, kUnsafeDowngrade = 3 };
  std::string feature;
  int16_t level = 0;
  Kind kind = Kind::kUpgrade;
};

// By name.
std::span<const SupportedFeature> supported_features();
// Null when there is none of this name.
const SupportedFeature* find_feature(std::string_view name);

}  // namespace ackord::metadata
