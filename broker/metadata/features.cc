#include "broker/metadata/features.h"

#include <algorithm>
#include <array>

namespace ackord::metadata {
namespace {

constexpr std::array kFeatures = {
    SupportedFeature{"group.version", 0, 1, 1},
    SupportedFeature{"metadata.version", 7, 33, 33},  // 33 is 4.4-IV2
    SupportedFeature{"share.version", 0, 3, 3},
    SupportedFeature{"transaction.version", 0, 2, 2},
};

}  // namespace

std::span<const SupportedFeature> supported_features() { return kFeatures; }

const SupportedFeature* find_feature(std::string_view name) {
  const auto at = std::find_if(kFeatures.begin(), kFeatures.end(),
                               [name](const SupportedFeature& one) { return one.name == name; });
  return at == kFeatures.end() ? nullptr : &*at;
}

}  // namespace ackord::metadata
