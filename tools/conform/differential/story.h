// Story: which request comes next. It follows from the seed, the step's number and the world alone,
// so that a story is told again by its seed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/conform/differential/mutate.h"
#include "tools/conform/differential/templates.h"
#include "tools/conform/kit/broker.h"

namespace ackord::conform::differential {

struct Step {
  int number = 0;
  Template of;
  int16_t version = 0;
  Object request;  // with placeholders
  int mutations = 0;
  Spoil spoil = Spoil::kNot;
  uint64_t spoil_at = 0;
};

// "step 12: Fetch v13, 2 mutations, truncated".
std::string title_of(const Step& step);

using Served = std::map<std::string, VersionRange>;
// The versions that both brokers advertise and the schemas have.
Served served_by_both(const Broker& first, const Broker& second);

class Story {
 public:
  // `only`: of these APIs; of all when it is empty.
  Story(uint64_t seed, Served served, const std::vector<std::string>& only = {});

  // The API of a step, which does not depend on the world.
  const Template& template_of(int number) const;
  Step step(World& world, int number) const;

 private:
  uint64_t seed_;
  Served served_;
  std::vector<Template> templates_;  // each as often as its weight says
};

}  // namespace ackord::conform::differential
