// FindCoordinator: the first use of a coordinator creates its internal topic, so whatever a group
// or a transaction begins with waits here first.
#pragma once

#include <string>

#include "tools/conform/kit/kit.h"

namespace ackord::conform {

// As in FindCoordinator.
enum class CoordinatorKind : int8_t { kGroup = 0, kTransaction = 1, kShare = 2 };

// Waits until FindCoordinator names the coordinator of this group, transactional id or share key.
void wait_for_coordinator(Kit& kit, CoordinatorKind kind, const std::string& key);

// Not an answer yet: the coordinator loads, is elected, or still writes the markers of the
// transaction before.
bool is_busy(ErrorCode code);

// Repeats `ask` while the error code in the answer's `field` says that the coordinator is busy.
template <class Ask>
Value ask_until_free(Kit& kit, Ask ask, const char* field = "errorCode") {
  Value answer = ask();
  kit.until("the coordinator is free", [&] {
    if (!is_busy(answer[field].error())) return true;
    answer = ask();
    return !is_busy(answer[field].error());
  });
  return answer;
}

}  // namespace ackord::conform
