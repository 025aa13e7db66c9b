// The differential mode: the same seed tells the same story; what may differ is normalised away,
// and nothing else is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "protocol/generated/messages.h"
#include "tools/conform/differential/normalise.h"
#include "tools/conform/differential/story.h"
#include "tools/conform/kit/batches.h"
#include "tools/conform/kit/connection.h"

namespace ackord::conform::differential {
namespace {

constexpr int64_t kBase = 1'700'000'000'000;
constexpr uint64_t kSeed = 7;

Served everything() {
  Served served;
  for (const Template& one : all_templates()) {
    const auto* message = protocol::find_message(std::string(one.api) + "Request");
    EXPECT_NE(message, nullptr) << one.api;
    if (message != nullptr) served[one.api] = {message->min_version, message->max_version};
  }
  return served;
}

World some_world() {
  World world("run", kBase);
  for (int i = 1; i <= 3; ++i)
    world.topics.push_back({world.new_name("t"), world.placeholders().uuid(), i});
  world.producers.push_back({world.new_name("txn"), world.placeholders().number(kProducerIds), 0});
  world.producers.push_back({{}, world.placeholders().number(kProducerIds), 0});
  world.sessions.push_back({world.placeholders().number(kSessionIds), 1});
  world.share_groups.push_back({world.new_name("share"), "member",
                                world.placeholders().number(kMemberEpochs), 1, world.topics});
  world.offset_groups.push_back({world.new_name("group")});
  return world;
}

std::string told(uint64_t seed, int steps) {
  World world = some_world();
  const Story story(seed, everything());
  std::string text;
  for (int i = 1; i <= steps; ++i) {
    const Step step = story.step(world, i);
    text += title_of(step) + json::serialize(step.request) + std::to_string(step.spoil_at) + "\n";
  }
  return text;
}

TEST(Story, TheSameSeedTellsTheSame) {
  EXPECT_EQ(told(kSeed, 500), told(kSeed, 500));
  EXPECT_NE(told(kSeed, 50), told(kSeed + 1, 50));
}

TEST(Story, EveryRequestCanBeEncodedAndEveryApiComes) {
  World world = some_world();
  const Story story(kSeed, everything());
  std::set<std::string> apis;
  int changed = 0;
  for (int i = 1; i <= 5000; ++i) {
    const Step step = story.step(world, i);
    EXPECT_EQ(story.template_of(i).api, step.of.api);
    EXPECT_NO_THROW(encode_request(step.of.api, step.version, step.request, {}))
        << title_of(step) << " " << json::serialize(step.request);
    apis.insert(step.of.api);
    changed += step.mutations > 0 ? 1 : 0;
  }
  EXPECT_EQ(apis.size(), everything().size());
  EXPECT_GT(changed, 1000);
}

TEST(Story, OnlyTheApisThatAreAskedFor) {
  World world = some_world();
  const Story story(kSeed, everything(), {"Fetch"});
  for (int i = 1; i <= 20; ++i) EXPECT_STREQ(story.step(world, i).of.api, "Fetch");
  EXPECT_THROW(Story(kSeed, everything(), {"Fet"}), std::runtime_error);
}

TEST(Mutate, ChangesOneFieldAndIsDeterministic) {
  const Object request{{"transactionalIds", list("a", "b")}};
  World world = some_world();
  World again = some_world();
  for (uint64_t i = 0; i < 100; ++i) {
    Random first(i);
    Random second(i);
    const Object changed = mutate(world, first, "DescribeTransactions", 0, request);
    EXPECT_EQ(changed, mutate(again, second, "DescribeTransactions", 0, request));
    EXPECT_NO_THROW(encode_request("DescribeTransactions", 0, changed, {}));
  }
}

TEST(SpoilFrame, IsDeterministicAndKeepsTheHeader) {
  const std::vector<std::byte> frame =
      encode_request("Metadata", 12, {{"topics", list(Object{{"name", "t"}})}}, {});
  for (const Spoil how : {Spoil::kTruncated, Spoil::kLonger, Spoil::kFlipped, Spoil::kVersion}) {
    for (uint64_t at = 0; at < 200; ++at) {
      auto first = frame;
      auto second = frame;
      spoil(first, how, at * 7919);
      spoil(second, how, at * 7919);
      EXPECT_EQ(first, second);
      EXPECT_GE(first.size(), 8u);
      EXPECT_TRUE(std::equal(first.begin() + 4, first.begin() + 8, frame.begin() + 4));
    }
  }
}

TEST(Symbols, TakeTheirValuesInRequestsAndInRecords) {
  Placeholders places;
  Symbols symbols;
  const std::string topic = places.uuid();
  const int64_t producer = places.number(kProducerIds);
  symbols.learn(topic, "realrealrealrealrealrg");
  symbols.learn(producer, 12);
  const auto batch = build_batch({.records = records_of({"x"}),
                                  .producer_id = producer,
                                  .producer_epoch = 0,
                                  .base_sequence = 0});
  const json::value real = symbols.real(
      Object{{"topicId", topic}, {"producerId", producer}, {"records", bytes(batch)}, {"n", 12}});
  EXPECT_EQ(real.at("topicId"), "realrealrealrealrealrg");
  EXPECT_EQ(real.at("producerId"), 12);
  EXPECT_EQ(real.at("n"), 12);
  std::vector<std::byte> raw;
  ASSERT_TRUE(protocol::parse_base64(real.at("records").as_string(), raw));
  const auto read = parse_batches(raw);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].header.producer_id.value, 12);
  EXPECT_TRUE(read[0].crc_ok);
}

TEST(Symbols, OneNumberMayBeTwoKinds) {
  Placeholders places;
  Symbols symbols;
  const int64_t producer = places.number(kProducerIds);
  const int64_t epoch = places.number(kMemberEpochs);
  symbols.learn(producer, 1);
  symbols.learn(epoch, 1);
  EXPECT_EQ(symbols.placeholder(kProducerIds, 1), producer);
  EXPECT_EQ(symbols.placeholder(kMemberEpochs, 1), epoch);
}

json::value normal(std::string_view api, const json::value& answer, const Symbols& symbols = {}) {
  return normalise(api, answer, {symbols, "run", kBase});
}

TEST(Normalise, TextsAreOnlyThereOrNot) {
  EXPECT_EQ(normal("X", Object{{"errorMessage", "one"}}),
            normal("X", Object{{"errorMessage", "b"}}));
  EXPECT_NE(normal("X", Object{{"errorMessage", "one"}}),
            normal("X", Object{{"errorMessage", nullptr}}));
}

TEST(Normalise, IdsAreTheirPlaceholders) {
  Symbols first;
  Symbols second;
  first.learn("0dHR0dHR0dHR0dHRAAAAAQ", "aaaaaaaaaaaaaaaaaaaaaA");
  second.learn("0dHR0dHR0dHR0dHRAAAAAQ", "bbbbbbbbbbbbbbbbbbbbbA");
  EXPECT_EQ(normal("Metadata", Object{{"topicId", "aaaaaaaaaaaaaaaaaaaaaA"}}, first),
            normal("Metadata", Object{{"topicId", "bbbbbbbbbbbbbbbbbbbbbA"}}, second));
  EXPECT_NE(normal("Metadata", Object{{"topicId", "aaaaaaaaaaaaaaaaaaaaaA"}}, first),
            normal("Metadata", Object{{"topicId", "AAAAAAAAAAAAAAAAAAAAAA"}}, second));
}

TEST(Normalise, NoNodeIsNotSomeNode) {
  EXPECT_EQ(normal("X", Object{{"nodeId", 1}}), normal("X", Object{{"nodeId", 77}}));
  EXPECT_NE(normal("X", Object{{"nodeId", 1}}), normal("X", Object{{"nodeId", -1}}));
}

TEST(Normalise, OrderAndGroupingAreNothing) {
  const auto part = [](int index) { return Object{{"index", index}, {"errorCode", 0}}; };
  const Object together{
      {"responses", list(Object{{"topic", "t"}, {"partitions", list(part(0), part(1))}})}};
  const Object apart{{"responses", list(Object{{"topic", "t"}, {"partitions", list(part(1))}},
                                        Object{{"topic", "t"}, {"partitions", list(part(0))}})}};
  EXPECT_EQ(normal("Fetch", together), normal("Fetch", apart));
}

TEST(Normalise, OtherTopicsAreLeftOutOfALongList) {
  const auto topic = [](const char* name, int error) {
    return Object{{"name", name}, {"errorCode", error}};
  };
  EXPECT_EQ(normal("Metadata", Object{{"topics", list(topic("run-1", 0), topic("other", 0))}}),
            normal("Metadata", Object{{"topics", list(topic("run-1", 0))}}));
  EXPECT_NE(normal("Metadata", Object{{"topics", list(topic("run-1", 0), topic("other", 3))}}),
            normal("Metadata", Object{{"topics", list(topic("run-1", 0))}}));
}

TEST(Normalise, RecordsAreComparedByWhatTheySay) {
  const auto answer = [](const std::string& value) {
    const auto batch =
        build_batch({.records = {{.value = value, .timestamp = kBase + 5}}, .base_offset = 3});
    return Object{{"records", bytes(batch)}};
  };
  EXPECT_EQ(normal("Fetch", answer("x")), normal("Fetch", answer("x")));
  EXPECT_NE(normal("Fetch", answer("x")), normal("Fetch", answer("y")));
  EXPECT_EQ(normal("Fetch", answer("x")).at("records").at(0).at("baseTimestamp"), "base+5");
}

TEST(FirstDifference, NamesThePath) {
  const Object one{{"a", list(Object{{"b", 1}}, Object{{"b", 2}})}};
  EXPECT_EQ(first_difference(one, one), std::nullopt);
  EXPECT_EQ(first_difference(one, Object{{"a", list(Object{{"b", 1}}, Object{{"b", 3}})}}),
            "a[1].b: 2 ≠ 3");
  EXPECT_EQ(first_difference(one, Object{{"a", list(Object{{"b", 1}})}}), "a: 2 items ≠ 1");
  EXPECT_NE(first_difference(one, Object{}), std::nullopt);
  EXPECT_NE(first_difference(Object{}, one), std::nullopt);
}

}  // namespace
}  // namespace ackord::conform::differential
