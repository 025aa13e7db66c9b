// Planted bugs: what the simulator must catch (docs/RELIABILITY.md). Each breaks one rule of the
// protocol at the one place that keeps it.
//   if (base::planted(base::PlantedBug::kNoGuard)) return {};
// Without the CMake option ACKORD_PLANTED_BUGS none is there: the question is a constant, and what
// depends on it is no code. With it ackord-sim plants one by its name; one thread only.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ackord::base {

enum class PlantedBug : uint8_t {
  kNone,
#define ACKORD_PLANTED_BUG(constant, name, what) constant,
#include "broker/base/planted_bugs.def"
#undef ACKORD_PLANTED_BUG
};

#ifdef ACKORD_PLANTED_BUGS

bool planted(PlantedBug bug);

struct PlantedBugName {
  PlantedBug bug;
  std::string_view name;
  std::string_view what;
};
const std::vector<PlantedBugName>& planted_bugs();
// False: there is none of that name.
bool plant(std::string_view name);

#else

constexpr bool planted(PlantedBug) { return false; }

#endif

}  // namespace ackord::base
