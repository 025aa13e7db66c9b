#include "broker/metadata/feature_update.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "broker/metadata/features.h"

namespace ackord::metadata {
namespace {

constexpr std::string_view kMetadataVersion = "metadata.version";

std::string invalid(const FeatureUpdate& update, std::string_view why) {
  return fmt::format("Invalid update version {} for feature {}. {}", update.level, update.feature,
                     why);
}

// Why there is no such level, in Kafka's order; nothing when there is.
std::optional<std::string> unsupported(const FeatureUpdate& update, BrokerId node) {
  if (update.kind < FeatureUpdate::Kind::kUpgrade ||
      update.kind > FeatureUpdate::Kind::kUnsafeDowngrade) {
    return invalid(update, "The controller does not support the given upgrade type.");
  }
  if (update.level < 0) return invalid(update, "A feature version cannot be less than 0.");
  const SupportedFeature* feature = find_feature(update.feature);
  if (feature == nullptr && update.level == 0)
    return invalid(update, fmt::format("Feature {} not found.", update.feature));
  if (feature == nullptr) {
    return invalid(update,
                   fmt::format("Local controller {} does not support this feature.", node.value));
  }
  if (update.level < feature->min || update.level > feature->max) {
    return invalid(update, fmt::format("Local controller {} only supports versions {}-{}",
                                       node.value, feature->min, feature->max));
  }
  return std::nullopt;
}

// Why the level may not follow `current`; nothing when it may.
std::optional<std::string> wrong_way(const FeatureUpdate& update, int16_t current) {
  const bool upgrades = update.kind == FeatureUpdate::Kind::kUpgrade;
  if (update.level > current && !upgrades)
    return invalid(update, "Can't downgrade to a newer version.");
  if (update.level >= current) return std::nullopt;
  if (upgrades) {
    return invalid(update,
                   "Can't downgrade the version of this feature without setting the upgrade type "
                   "to either safe or unsafe downgrade.");
  }
  if (update.feature != kMetadataVersion) return std::nullopt;
  const bool safe = update.kind == FeatureUpdate::Kind::kSafeDowngrade;
  return fmt::format("Unsupported metadata.version downgrade from {} to {}. {}", current,
                     update.level,
                     safe ? "Refusing to perform the requested downgrade because it might delete "
                            "metadata information."
                          : "Unsafe metadata downgrade is not supported in this version.");
}

}  // namespace

Result<std::vector<MetadataRecord>> feature_changes(const Features& features,
                                                    const std::vector<FeatureUpdate>& updates,
                                                    BrokerId node) {
  Features now = features;
  std::vector<MetadataRecord> records;
  for (const FeatureUpdate& update : updates) {
    const int16_t current = now.level(update.feature);
    std::optional<std::string> fault = unsupported(update, node);
    if (!fault) fault = wrong_way(update, current);
    if (fault) {
      return error(
          ErrorCode::INVALID_UPDATE_VERSION,
          "The update failed for all features since the following feature had an error: " + *fault);
    }
    if (update.level == current) continue;
    now.levels[update.feature] = update.level;
    protocol::FeatureLevelRecord record;
    record.name = String(update.feature);
    record.feature_level = update.level;
    records.emplace_back(std::move(record));
  }
  return records;
}

}  // namespace ackord::metadata
