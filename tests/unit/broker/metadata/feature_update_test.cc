// Codes and texts as Kafka 4.4 answers them.
#include "broker/metadata/feature_update.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ackord::metadata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = FeatureUpdate::Kind;

class FeatureUpdateTest : public ::testing::Test {
 protected:
  Features features{{{"metadata.version", 33}, {"share.version", 2}, {"transaction.version", 2}},
                    7};

  // "name level", or the fault.
  std::vector<std::string> update(std::vector<FeatureUpdate> updates) const {
    const auto records = feature_changes(features, updates, BrokerId(4));
    if (!records) {
      EXPECT_EQ(records.error().code, ErrorCode::INVALID_UPDATE_VERSION);
      return {records.error().message};
    }
    std::vector<std::string> lines;
    for (const MetadataRecord& record : *records) {
      const auto& level = std::get<protocol::FeatureLevelRecord>(record);
      lines.push_back(level.name.str() + " " + std::to_string(level.feature_level));
    }
    return lines;
  }
  void expect_refused(FeatureUpdate one, const std::string& why) const {
    const std::string where = one.feature + " " + std::to_string(one.level);
    EXPECT_THAT(update({std::move(one)}), ElementsAre(HasSubstr(why))) << where;
  }
};

TEST_F(FeatureUpdateTest, UpAndDownAsAskedFor) {
  EXPECT_THAT(update({{"share.version", 3, Kind::kUpgrade}}), ElementsAre("share.version 3"));
  EXPECT_THAT(update({{"share.version", 0, Kind::kSafeDowngrade},
                      {"transaction.version", 1, Kind::kUnsafeDowngrade}}),
              ElementsAre("share.version 0", "transaction.version 1"));
}

TEST_F(FeatureUpdateTest, TheSameLevelIsNoChangeHoweverItIsAskedFor) {
  for (const Kind kind : {Kind::kUpgrade, Kind::kSafeDowngrade, Kind::kUnsafeDowngrade}) {
    EXPECT_THAT(update({{"share.version", 2, kind}, {"metadata.version", 33, kind}}), IsEmpty());
  }
  EXPECT_THAT(update({}), IsEmpty());
}

TEST_F(FeatureUpdateTest, OneAfterTheOther) {
  EXPECT_THAT(
      update({{"share.version", 3, Kind::kUpgrade}, {"share.version", 2, Kind::kSafeDowngrade}}),
      ElementsAre("share.version 3", "share.version 2"));
  EXPECT_THAT(update({{"share.version", 1, Kind::kSafeDowngrade}, {"share.version", 2}}),
              ElementsAre("share.version 1", "share.version 2"));
}

TEST_F(FeatureUpdateTest, LevelsThatDoNotExist) {
  expect_refused({"nope", 1}, "feature nope. Local controller 4 does not support this feature.");
  expect_refused({"nope", 0, Kind::kSafeDowngrade}, "Feature nope not found.");
  expect_refused({"", 1}, "version 1 for feature . Local controller 4 does not support");
  expect_refused({"share.version", 4}, "Local controller 4 only supports versions 0-3");
  expect_refused({"metadata.version", 6, Kind::kUnsafeDowngrade}, "only supports versions 7-33");
  expect_refused({"share.version", -1, Kind::kSafeDowngrade}, "cannot be less than 0.");
}

TEST_F(FeatureUpdateTest, TheWrongWay) {
  expect_refused({"share.version", 1}, "without setting the upgrade type");
  expect_refused({"share.version", 3, Kind::kSafeDowngrade}, "to a newer version");
  expect_refused({"share.version", 2, Kind::kUnknown}, "does not support the given upgrade type");
  expect_refused({"share.version", 2, static_cast<Kind>(9)}, "the given upgrade type");
}

TEST_F(FeatureUpdateTest, MetadataVersionStays) {
  expect_refused({"metadata.version", 32, Kind::kSafeDowngrade},
                 "Unsupported metadata.version downgrade from 33 to 32. Refusing");
  expect_refused({"metadata.version", 32, Kind::kUnsafeDowngrade}, "Unsafe metadata downgrade");
}

TEST_F(FeatureUpdateTest, OneBadRefusesAll) {
  EXPECT_THAT(update({{"share.version", 3}, {"nope", 1}}),
              ElementsAre(HasSubstr("The update failed for all features")));
}

}  // namespace
}  // namespace ackord::metadata
