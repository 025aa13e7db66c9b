// Choosing checks, known gaps, reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tools/conform/kit/show.h"
#include "tools/conform/known_gaps.h"
#include "tools/conform/report.h"

namespace ackord::conform {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr Area kFetch = {"fetch", "Fetch"};
constexpr Area kSession = {"fetch.session", "Fetch <sessions>"};
void nothing(Kit&) {}
const Case kEmpty = {&kFetch, "empty", "-", {.api = "Fetch", .first = 4, .last = 5}, nothing};
const Case kEpoch = {&kSession, "epoch", "-", {}, nothing};
const Case kEpochs = {&kSession, "epoch_wraps", "-", {}, nothing};

std::vector<Check> some_checks() {
  return {{&kEmpty, 4, "fetch.empty[v4]"},
          {&kEmpty, 5, "fetch.empty[v5]"},
          {&kEpoch, -1, "fetch.session.epoch"},
          {&kEpochs, -1, "fetch.session.epoch_wraps"}};
}

std::vector<std::string> selected(std::string_view only) {
  std::vector<std::string> names;
  for (const Check& check : select_checks(some_checks(), only)) names.push_back(check.name);
  return names;
}

TEST(SelectChecks, ByAreaCaseAndCheck) {
  EXPECT_EQ(selected("").size(), 4u);
  EXPECT_EQ(selected("fetch").size(), 4u);
  EXPECT_THAT(selected("fetch.session"),
              ElementsAre("fetch.session.epoch", "fetch.session.epoch_wraps"));
  EXPECT_THAT(selected("fetch.empty"), ElementsAre("fetch.empty[v4]", "fetch.empty[v5]"));
  EXPECT_THAT(selected("fetch.session.epoch"), ElementsAre("fetch.session.epoch"));
  EXPECT_THAT(selected("fetch.session.epoch,fetch.empty[v5]"),
              ElementsAre("fetch.empty[v5]", "fetch.session.epoch"));
}

TEST(SelectChecks, ANameThatNamesNothingIsRefused) {
  EXPECT_THROW(selected("fet"), std::runtime_error);
  EXPECT_THROW(selected("fetch,nosuch"), std::runtime_error);
  EXPECT_THROW(selected("fetch,"), std::runtime_error);
  EXPECT_THROW(selected("fetch.empty[v6]"), std::runtime_error);
}

TEST(AllChecks, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const Check& check : all_checks()) {
    EXPECT_TRUE(names.insert(check.name).second) << check.name;
    EXPECT_GT(std::string_view(check.of->spec).size(), 0u) << check.name;
  }
  EXPECT_GT(names.size(), 10u);
}

// What a client that may nothing is answered is checked for every API: one that has no row in
// cases/security_denied.cc could be asked by everybody.
TEST(AllChecks, EveryApiIsAskedByAClientThatMayNothing) {
  std::set<std::string> names;
  for (const Check& check : all_checks()) names.insert(check.name);
#define API(key, Name, first, last) EXPECT_TRUE(names.contains("security.denied." #Name)) << #Name;
#include "broker/api/apis.def"
#undef API
}

class KnownGaps : public testing::Test {
 protected:
  std::set<std::string> read(const std::string& text) {
    std::ofstream(path_) << text;
    return read_known_gaps(path_, some_checks());
  }
  ~KnownGaps() override { std::filesystem::remove(path_); }

  std::string path_ = testing::TempDir() + "known_gaps_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(KnownGaps, AreNamesALine) {
  EXPECT_THAT(read("# why\n\nfetch.empty[v4]\nfetch.session.epoch\n"),
              ElementsAre("fetch.empty[v4]", "fetch.session.epoch"));
}

TEST_F(KnownGaps, AnUnknownNameOrFileIsRefused) {
  EXPECT_THROW(read("fetch.empty\n"), std::runtime_error);
  EXPECT_THROW(read_known_gaps("/no/such/file", some_checks()), std::runtime_error);
}

Result result(size_t check, Outcome outcome, const std::string& message = {}) {
  return {some_checks().at(check), outcome, message, Millis(12)};
}

TEST_F(KnownGaps, DifferInBothDirections) {
  std::ostringstream out;
  const std::set<std::string> gaps = {"fetch.empty[v4]"};
  EXPECT_TRUE(
      compare_with_gaps(out, {result(0, Outcome::kFailed), result(1, Outcome::kPassed)}, gaps));
  EXPECT_EQ(out.str(), "");
  EXPECT_FALSE(
      compare_with_gaps(out, {result(0, Outcome::kPassed), result(1, Outcome::kFailed)}, gaps));
  EXPECT_THAT(out.str(), HasSubstr("no longer a gap: fetch.empty[v4]"));
  EXPECT_THAT(out.str(), HasSubstr("not a known gap: fetch.empty[v5]"));
}

TEST_F(KnownGaps, OfChecksThatDidNotRunSayNothing) {
  std::ostringstream out;
  EXPECT_TRUE(compare_with_gaps(out, {result(1, Outcome::kPassed)}, {"fetch.empty[v4]"}));
}

TEST(Junit, EscapesWhatXmlCannotHave) {
  std::ostringstream out;
  write_junit(out, {result(0, Outcome::kFailed, "<a> & \"b\" \x01\nsecond line"),
                    result(1, Outcome::kSkipped, "it's <not> there"), result(2, Outcome::kPassed)});
  const std::string text = out.str();
  EXPECT_THAT(text, HasSubstr("tests=\"3\" failures=\"1\" skipped=\"1\""));
  EXPECT_THAT(text,
              HasSubstr("<failure message=\"&lt;a&gt; &amp; &quot;b&quot; ?\">&lt;a&gt; &amp; "
                        "&quot;b&quot; ?\nsecond line</failure>"));
  EXPECT_THAT(text, HasSubstr("<skipped message=\"it's &lt;not&gt; there\"/>"));
  EXPECT_THAT(text, Not(HasSubstr("\x01")));
}

TEST(JsonReport, HasTheResults) {
  std::ostringstream out;
  write_json(out, {result(2, Outcome::kFailed, "no \"answer\"")}, "Some broker 1.0", "host:1");
  const json::value read = json::parse(out.str());
  EXPECT_EQ(read.at("label"), "Some broker 1.0");
  EXPECT_EQ(read.at("failed"), 1);
  EXPECT_EQ(read.at("areas").at("fetch.session"), "Fetch <sessions>");
  EXPECT_EQ(read.at("results").at(0).at("message"), "no \"answer\"");
}

TEST(Printable, OnlyValidUtf8StaysAsItIs) {
  EXPECT_EQ(printable("plain, größer, 漢字, 😀\n"), "plain, größer, 漢字, 😀\n");
  EXPECT_EQ(printable("\xb7\xff"), "\\xb7\\xff");
  EXPECT_EQ(printable("cut \xe6\xbc"), "cut \\xe6\\xbc");
  EXPECT_EQ(printable("\xc0\xaf\xed\xa0\x80"), "\\xc0\\xaf\\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
}

}  // namespace
}  // namespace ackord::conform
