#include "tools/conform/kit/coordinators.h"

namespace ackord::conform {

void wait_for_coordinator(Kit& kit, CoordinatorKind kind, const std::string& key) {
  // Version 6 is the first that knows share coordinators.
  const int16_t version = kind == CoordinatorKind::kShare ? 6 : 4;
  const Object request{{"keyType", static_cast<int>(kind)}, {"coordinatorKeys", list(key)}};
  kit.until("the coordinator of " + key, [&] {
    const Value answer = kit.ask("FindCoordinator", version, request)["coordinators"][0];
    return answer["errorCode"].error() == ErrorCode::NONE;
  });
}

bool is_busy(ErrorCode code) {
  return code == ErrorCode::COORDINATOR_LOAD_IN_PROGRESS ||
         code == ErrorCode::COORDINATOR_NOT_AVAILABLE || code == ErrorCode::NOT_COORDINATOR ||
         code == ErrorCode::CONCURRENT_TRANSACTIONS;
}

}  // namespace ackord::conform
