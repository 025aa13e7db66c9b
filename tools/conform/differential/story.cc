#include "tools/conform/differential/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "protocol/generated/messages.h"

namespace ackord::conform::differential {
namespace {

constexpr size_t kSpoilOneIn = 25;

const char* name_of(Spoil how) {
  switch (how) {
    case Spoil::kNot: return "";
    case Spoil::kTruncated: return ", truncated";
    case Spoil::kLonger: return ", with bytes behind it";
    case Spoil::kFlipped: return ", one bit flipped";
    case Spoil::kVersion: return ", another version in the header";
  }
  return "";
}

// A flipped bit could ask for thousands of partitions.
bool may_be_flipped(const Template& one) {
  return !std::string_view(one.api).starts_with("Create");
}

Spoil some_spoil(Random& random, const Template& of) {
  if (!random.one_in(kSpoilOneIn)) return Spoil::kNot;
  const auto how = static_cast<Spoil>(1 + random.below(4));
  return how == Spoil::kFlipped && !may_be_flipped(of) ? Spoil::kTruncated : how;
}

}  // namespace

std::string title_of(const Step& step) {
  std::string title = fmt::format("step {}: {} v{}", step.number, step.of.api, step.version);
  if (step.mutations > 0) title += fmt::format(", {} mutations", step.mutations);
  return title + name_of(step.spoil);
}

Served served_by_both(const Broker& first, const Broker& second) {
  Served served;
  for (const Template& one : all_templates()) {
    const auto a = first.versions(one.api);
    const auto b = second.versions(one.api);
    const auto* ours = protocol::find_message(std::string(one.api) + "Request");
    if (!a || !b || ours == nullptr) continue;
    const VersionRange both{std::max({a->min, b->min, ours->min_version}),
                            std::min({a->max, b->max, ours->max_version})};
    if (both.min <= both.max) served[one.api] = both;
  }
  return served;
}

Story::Story(uint64_t seed, Served served, const std::vector<std::string>& only)
    : seed_(seed), served_(std::move(served)) {
  for (const Template& one : all_templates()) {
    if (!served_.contains(one.api)) continue;
    if (!only.empty() && std::ranges::find(only, one.api) == only.end()) continue;
    templates_.insert(templates_.end(), static_cast<size_t>(one.weight), one);
  }
  if (templates_.empty()) throw std::runtime_error("no API that both brokers advertise");
}

const Template& Story::template_of(int number) const {
  Random random(seed_, static_cast<uint64_t>(number));
  return random.of(templates_);
}

Step Story::step(World& world, int number) const {
  Random random(seed_, static_cast<uint64_t>(number));
  Step step;
  step.number = number;
  step.of = random.of(templates_);
  const VersionRange versions = served_.at(step.of.api);
  step.version =
      static_cast<int16_t>(versions.min + random.number(versions.max - versions.min + 1));
  step.request = step.of.build(world, random, step.version);
  if (random.one_in(2)) step.mutations = 1 + random.number(3);
  for (int i = 0; i < step.mutations; ++i)
    step.request = mutate(world, random, step.of.api, step.version, step.request);
  step.spoil = some_spoil(random, step.of);
  step.spoil_at = random.next();
  return step;
}

}  // namespace ackord::conform::differential
