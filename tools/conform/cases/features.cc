// Feature levels: what ApiVersions says of them, and UpdateFeatures.
#include "tools/conform/case.h"
#include "tools/conform/kit/admin.h"

namespace ackord::conform {

AREA("features", "Feature levels (KIP-584)");

namespace {

// As in UpdateFeatures from v1 on.
enum UpgradeType { kUpgrade = 1, kSafeDowngrade = 2, kUnsafeDowngrade = 3 };

Value ask_versions(Kit& kit, int16_t version) {
  return kit.ask("ApiVersions", version,
                 {{"clientSoftwareName", "a"}, {"clientSoftwareVersion", "1"}});
}

Object update(const std::string& feature, int level, int16_t version, int type = kUpgrade) {
  Object out{{"feature", feature}, {"maxVersionLevel", level}};
  if (version == 0) out["allowDowngrade"] = type != kUpgrade;
  if (version > 0) out["upgradeType"] = type;
  return out;
}

Value update_features(Kit& kit, const json::array& updates, int16_t version, bool validate_only) {
  Object body{{"featureUpdates", updates}, {"timeoutMs", 10000}};
  if (version > 0) body["validateOnly"] = validate_only;
  return kit.ask("UpdateFeatures", version, body);
}

void expect_refused(Kit& kit, const Object& change, int16_t version) {
  const Value answer = update_features(kit, list(change), version, false);
  answer["errorCode"].is(ErrorCode::INVALID_UPDATE_VERSION);
  answer["errorMessage"].is_not_empty();
}

}  // namespace

CASE(not_before_v3, "KIP-584", .api = "ApiVersions", .first = 0, .last = 2) {
  const Value answer = kit.ask("ApiVersions", kit.version(), {});
  for (const char* field : {"supportedFeatures", "finalizedFeatures", "finalizedFeaturesEpoch"})
    expect(!answer.has(field), std::string("no ") + field);
}

// Without an epoch a client takes no notice of the rest.
CASE(finalized, "KIP-584", .api = "ApiVersions", .first = 3, .last = 5) {
  const Value answer = ask_versions(kit, kit.version());
  answer["finalizedFeaturesEpoch"].is_between(0, INT64_MAX);
  for (const Value& feature : answer["finalizedFeatures"].items()) {
    feature["maxVersionLevel"].is_between(1, INT16_MAX);
    feature["minVersionLevel"].is(feature["maxVersionLevel"].json());
  }
  answer["finalizedFeatures"].with("name", "metadata.version");
}

// What a 4.4 cluster begins with.
CASE(levels, "KIP-1022", .api = "ApiVersions", .first = 3, .last = 5) {
  const Value features = ask_versions(kit, kit.version())["finalizedFeatures"];
  features.with("name", "metadata.version")["maxVersionLevel"].is_between(7, INT16_MAX);
  features.with("name", "transaction.version")["maxVersionLevel"].is(2);
  features.with("name", "share.version")["maxVersionLevel"].is_between(1, INT16_MAX);
}

CASE(level_of_groups, "KIP-848") {
  kit.needs("ConsumerGroupHeartbeat");
  expect_equal(kit.broker().feature("group.version"), 1, "group.version");
}

CASE(level_of_streams, "KIP-1071") {
  kit.needs("StreamsGroupHeartbeat");
  expect_equal(kit.broker().feature("streams.version"), 1, "streams.version");
}

// Old clients cannot read a feature whose lowest level is 0.
CASE(supported_without_level_0, "KIP-1022", .api = "ApiVersions", .first = 3, .last = 3) {
  const Value answer = ask_versions(kit, 3);
  answer["supportedFeatures"].with("name", "metadata.version");
  for (const Value& feature : answer["supportedFeatures"].items())
    feature["minVersion"].is_between(1, INT16_MAX);
}

CASE(supported, "KIP-1022", .api = "ApiVersions", .first = 4, .last = 5) {
  const Value features = ask_versions(kit, kit.version())["supportedFeatures"];
  for (const char* name : {"transaction.version", "share.version"}) {
    const Value feature = features.with("name", json::value(name));
    feature["minVersion"].is(0);
    feature["maxVersion"].is_between(kit.broker().feature(name), INT16_MAX);
  }
}

CASE(finalized_is_supported, "KIP-584") {
  const Value answer = ask_versions(kit, 4);
  for (const Value& finalized : answer["finalizedFeatures"].items()) {
    const Value supported = answer["supportedFeatures"].with("name", finalized["name"].text());
    finalized["maxVersionLevel"].is_between(supported["minVersion"].number(),
                                            supported["maxVersion"].number());
  }
}

// What the advertised versions of Produce and EndTxn promise is on.
CASE(transaction_version_agrees_with_the_apis, "KIP-890") {
  if (kit.broker().versions("EndTxn")->max < 5) throw Skip("no EndTxn v5");
  expect(kit.broker().feature("transaction.version") >= 2, "transaction.version is 2 or above");
}

CASE(update_to_the_same_level, "KIP-584", .api = "UpdateFeatures", .first = 0, .last = 2) {
  const int16_t level = kit.broker().feature("group.version");
  const Value answer = update_features(kit, list(update("group.version", level, kit.version())),
                                       kit.version(), false);
  answer["errorCode"].is_none();
  answer["errorMessage"].is_null();
  if (kit.version() < 2) {
    answer["results"].has_size(1);
    answer["results"][0]["feature"].is("group.version");
    answer["results"][0]["errorCode"].is_none();
  }
}

CASE(update_of_nothing, "KIP-584", .api = "UpdateFeatures", .first = 0, .last = 2) {
  update_features(kit, list(), kit.version(), false)["errorCode"].is_none();
}

CASE(update_refused, "KIP-584", .api = "UpdateFeatures", .first = 0, .last = 2) {
  const int16_t version = kit.version();
  expect_refused(kit, update("no.such.version", 1, version), version);
  expect_refused(kit, update("", 1, version), version);
  expect_refused(kit, update("group.version", 9, version), version);
  expect_refused(kit, update("group.version", -1, version), version);
  expect_refused(kit, update("metadata.version", 5, version), version);
}

// A lower level needs to be asked for as such.
CASE(downgrade_as_an_upgrade, "KIP-584", .api = "UpdateFeatures", .first = 0, .last = 2) {
  expect_refused(kit, update("group.version", 0, kit.version()), kit.version());
}

CASE(downgrade_can_be_tried, "KIP-778", .api = "UpdateFeatures", .first = 1, .last = 2) {
  for (const int type : {kSafeDowngrade, kUnsafeDowngrade}) {
    const Value answer = update_features(kit, list(update("group.version", 0, kit.version(), type)),
                                         kit.version(), true);
    answer["errorCode"].is_none();
  }
  ask_versions(kit, 4)["finalizedFeatures"].with("name", "group.version")["maxVersionLevel"].is(1);
}

CASE(unknown_upgrade_types, "KIP-778") {
  for (const int type : {0, 9}) expect_refused(kit, update("group.version", 1, 1, type), 1);
}

// One bad update refuses them all.
CASE(bad_among_good, "KIP-1022", .api = "UpdateFeatures", .first = 0, .last = 2) {
  const int16_t version = kit.version();
  const Value answer = update_features(
      kit, list(update("group.version", 1, version), update("no.such.version", 1, version)),
      version, false);
  answer["errorCode"].is(ErrorCode::INVALID_UPDATE_VERSION);
  if (version < 2) answer["results"].has_size(0);
}

}  // namespace ackord::conform
