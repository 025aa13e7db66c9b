#include "broker/base/planted_bug.h"

#ifdef ACKORD_PLANTED_BUGS

namespace ackord::base {
namespace {

PlantedBug the_one = PlantedBug::kNone;

}  // namespace

bool planted(PlantedBug bug) { return bug == the_one; }

const std::vector<PlantedBugName>& planted_bugs() {
  static const std::vector<PlantedBugName> names = {
#define ACKORD_PLANTED_BUG(constant, name, what) {PlantedBug::constant, name, what},
#include "broker/base/planted_bugs.def"
#undef ACKORD_PLANTED_BUG
  };
  return names;
}

bool plant(std::string_view name) {
  for (const PlantedBugName& one : planted_bugs()) {
    if (one.name == name) {
      the_one = one.bug;
      return true;
    }
  }
  return false;
}

}  // namespace ackord::base

#endif
