// Whatever a broker does, a check ends as a result, and the run goes on.
#include "tools/conform/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/tools/conform/fake_broker.h"

namespace ackord::conform {
namespace {

using testing::HasSubstr;
using Bytes = FakeBroker::Bytes;

constexpr Area kHere = {"here", "Of this test"};
constexpr Area kElsewhere = {"elsewhere", "Of an API that is not there", "Produce"};

void ask_metadata(Kit& kit) { kit.ask("Metadata", 12, {}); }
void nothing(Kit&) {}
void skips(Kit&) { throw Skip("for a reason"); }
void throws_something(Kit&) { throw std::logic_error("a fault of the case"); }
void waits_for_ever(Kit& kit) {
  kit.until("what never comes", [] { return false; }, Millis(60000));
}

const Case kAsks = {&kHere, "asks", "-", {.limit_s = 1}, ask_metadata};
const Case kNothing = {&kHere, "nothing", "-", {}, nothing};
const Case kSkips = {&kHere, "skips", "-", {}, skips};
const Case kThrows = {&kHere, "throws", "-", {}, throws_something};
const Case kWaits = {&kHere, "waits", "-", {.limit_s = 1}, waits_for_ever};
const Case kNeeds = {&kElsewhere, "needs", "-", {}, nothing};

Check check_of(const Case& c) { return {&c, -1, std::string(c.area->name) + "." + c.name}; }

Result run(const Case& c, FakeBroker::Behaviour behaviour) {
  FakeBroker fake(std::move(behaviour));
  const Broker broker(fake.endpoint());
  return run_checks(broker, {check_of(c)}, 1, [](const Result&) {}).at(0);
}

std::optional<Bytes> hang(const Bytes&) { return Bytes(); }

Bytes bytes_of(std::string_view text) {
  const auto raw = std::as_bytes(std::span(text.data(), text.size()));
  return {raw.begin(), raw.end()};
}

TEST(Runner, AGoodAnswerPasses) {
  const Result result =
      run(kAsks, [](const Bytes& frame) { return FakeBroker::answer(frame, "Metadata", {}); });
  EXPECT_EQ(result.outcome, Outcome::kPassed) << result.message;
}

TEST(Runner, ABrokerThatHangsIsAFailedCheck) {
  const Stopwatch stopwatch;
  const Result result = run(kAsks, hang);
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("no answer"));
  EXPECT_THAT(result.message, HasSubstr("request: Metadata v12"));
  EXPECT_LT(stopwatch.elapsed(), Millis(10000));
}

TEST(Runner, ABrokerThatClosesIsAFailedCheck) {
  const Result result = run(kAsks, [](const Bytes&) { return std::nullopt; });
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("closed the connection"));
}

TEST(Runner, GarbageIsAFailedCheck) {
  for (const Bytes& garbage : {FakeBroker::framed(bytes_of("garbage")), FakeBroker::framed({}),
                               bytes_of("\x7f\xff\xff\xff garbage"), bytes_of("\xff\xff\xff\xff"),
                               bytes_of("HTTP/1.1 400 Bad Request\r\n\r\n"), bytes_of("\x00")}) {
    const Result result = run(kAsks, [&](const Bytes&) { return garbage; });
    EXPECT_EQ(result.outcome, Outcome::kFailed);
    EXPECT_NE(result.message, "");
  }
}

TEST(Runner, AnAnswerCutAnywhereIsAFailedCheck) {
  const Object body{{"clusterId", "c"}, {"controllerId", 1}};
  for (size_t cut = 1; cut < 12; ++cut) {
    const Result result = run(kAsks, [&](const Bytes& frame) {
      Bytes whole = FakeBroker::answer(frame, "Metadata", body);
      return FakeBroker::framed(Bytes(whole.begin() + 4, whole.end() - static_cast<long>(cut)));
    });
    EXPECT_EQ(result.outcome, Outcome::kFailed) << cut;
  }
}

TEST(Runner, BytesBehindTheAnswerAreAFailedCheck) {
  const Result result = run(kAsks, [](const Bytes& frame) {
    Bytes whole = FakeBroker::answer(frame, "Metadata", {});
    whole.push_back(std::byte{0});
    return FakeBroker::framed(Bytes(whole.begin() + 4, whole.end()));
  });
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("1 bytes follow"));
}

TEST(Runner, AnotherCorrelationIdIsAFailedCheck) {
  const Result result = run(kAsks, [](const Bytes& frame) {
    Bytes other = frame;
    other[7] ^= std::byte{0x40};
    return FakeBroker::answer(other, "Metadata", {});
  });
  EXPECT_EQ(result.outcome, Outcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("correlation id"));
}

TEST(Runner, ACaseHasItsOutcome) {
  EXPECT_EQ(run(kNothing, hang).outcome, Outcome::kPassed);
  EXPECT_EQ(run(kThrows, hang).outcome, Outcome::kFailed);
  const Result skipped = run(kSkips, hang);
  EXPECT_EQ(skipped.outcome, Outcome::kSkipped);
  EXPECT_EQ(skipped.message, "for a reason");
  const Result needs = run(kNeeds, hang);
  EXPECT_EQ(needs.outcome, Outcome::kSkipped);
  EXPECT_THAT(needs.message, HasSubstr("Produce"));
}

TEST(Runner, ACaseThatTakesTooLongFails) {
  const Stopwatch stopwatch;
  EXPECT_EQ(run(kWaits, hang).outcome, Outcome::kFailed);
  EXPECT_LT(stopwatch.elapsed(), Millis(10000));
}

TEST(Runner, ResultsAreInTheOrderOfTheChecks) {
  FakeBroker fake(hang);
  const Broker broker(fake.endpoint());
  const std::vector<Check> checks = {check_of(kAsks), check_of(kNothing), check_of(kSkips),
                                     check_of(kThrows)};
  int reported = 0;
  const auto results = run_checks(broker, checks, 4, [&](const Result&) { ++reported; });
  ASSERT_EQ(results.size(), checks.size());
  for (size_t i = 0; i < checks.size(); ++i) EXPECT_EQ(results[i].check.name, checks[i].name);
  EXPECT_EQ(reported, 4);
}

TEST(Runner, NoBrokerIsSaidInOneLine) {
  client::Endpoint nobody;
  {
    const FakeBroker gone(hang);
    nobody = gone.endpoint();
  }
  try {
    const Broker broker(nobody);
    FAIL() << "a broker where there is none";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no Kafka broker answers at 127.0.0.1:"));
  }
}

}  // namespace
}  // namespace ackord::conform
