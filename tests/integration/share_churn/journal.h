// Journal: what one member has been given and what it has answered, a line each, in a file that is
// complete up to the moment at which the member is killed. Times are of the steady clock, which all
// processes of a machine share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/types/error_code.h"
#include "tests/integration/support/share_member.h"

namespace ackord::integration {

int64_t steady_us();

// One line. `at_us`: when the request was sent (kDelivered, kTried), or when its answer was here
// (kAnswered).
struct JournalEntry {
  enum class What : char { kDelivered = 'D', kTried = 'T', kAnswered = 'A' };
  What what = What::kDelivered;
  int32_t partition = 0;
  Offset first = 0;
  Offset last = 0;
  int number = 0;  // the delivery count; of a verdict its type
  ErrorCode code = ErrorCode::NONE;
  int64_t at_us = 0;
};

class Journal {
 public:
  explicit Journal(const std::string& path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // In the file when it returns: it outlives a SIGKILL of this process.
  void write(const JournalEntry& entry);

 private:
  int file_;
};

std::vector<JournalEntry> read_journal(const std::string& path);

}  // namespace ackord::integration
