// What a log holds that nobody here serves, as another broker may have left it: counted while it is
// read, and named in one log line per type. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "broker/base/logging.h"

namespace ackord::coordinator {

class UnservedRecords {
 public:
  // An empty name is not counted.
  void add(std::string name) {
    if (!name.empty()) ++counts_[std::move(name)];
  }
  // Names them and forgets them; `where`: the partition or the file.
  void log(std::string_view where) {
    for (const auto& [name, count] : std::exchange(counts_, {}))
      base::log_warn("records not served type={} count={} in={}", name, count, where);
  }

 private:
  std::map<std::string, int64_t> counts_;
};

}  // namespace ackord::coordinator
