// Templates: how a valid request of each API is made from the world, and what a good answer to it
// changes there.
#pragma once

#include <boost/json/value_ref.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tools/conform/differential/world.h"
#include "tools/conform/kit/json.h"

namespace ackord::conform::differential {

// A request that both brokers have answered alike.
struct Answered {
  const json::object& request;
  const json::object& answer;  // normalised
  const json::object& first;   // as the two brokers gave it
  const json::object& second;
  Symbols& first_symbols;
  Symbols& second_symbols;
};

struct Template {
  const char* api;
  // How often, beside the others.
  int weight;
  // Asking again changes nothing.
  bool reads;
  Object (*build)(World& world, Random& random, int16_t version);
  // nullptr: nothing changes.
  void (*learn)(World& world, const Answered& answered) = nullptr;
};

// Of all APIs.
std::vector<Template> all_templates();
// The parts of it, a file each.
std::vector<Template> admin_templates();
std::vector<Template> record_templates();
std::vector<Template> transaction_templates();
std::vector<Template> share_templates();
std::vector<Template> group_templates();

// The fields that a version of a request has.
class Body {
 public:
  explicit Body(int16_t version) : version_(version) {}
  Body& field(const char* name, const json::value_ref& value) {
    return between(0, kLast, name, value);
  }
  Body& since(int16_t first, const char* name, const json::value_ref& value) {
    return between(first, kLast, name, value);
  }
  Body& until(int16_t last, const char* name, const json::value_ref& value) {
    return between(0, last, name, value);
  }
  Body& between(int16_t first, int16_t last, const char* name, const json::value_ref& value) {
    if (first <= version_ && version_ <= last) fields_[name] = json::value(value);
    return *this;
  }
  Object take() { return std::move(fields_); }

 private:
  static constexpr int16_t kLast = INT16_MAX;

  int16_t version_;
  Object fields_;
};

// A partition of it, rarely one that it has not.
int32_t some_partition(Random& random, const TopicState& topic);
// 1 to 3 items.
template <class Make>
json::array some(Random& random, Make make) {
  json::array items;
  for (size_t left = 1 + random.below(6) / 4 + random.below(6) / 5; left > 0; --left)
    items.emplace_back(make());
  return items;
}

}  // namespace ackord::conform::differential
