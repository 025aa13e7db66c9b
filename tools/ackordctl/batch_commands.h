// `ackordctl batch`: batch transactions (docs/PROTOCOL.md part 2) by hand. Results go to `out`.
// Errors: the broker's; UNSUPPORTED_VERSION where there are none.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "client/batch_transactions.h"
#include "client/cluster.h"

namespace ackord::ctl {

struct BatchOptions {
  std::string group;  // list: empty for all share groups
  std::string id;
  std::string prefix;
  std::vector<std::string> states;  // none: those that have not ended
  bool json = false;
};

// By group, and by when they were begun.
Result<void> list_batches(client::Cluster& cluster, const BatchOptions& options,
                          const client::Deadline& deadline, std::ostream& out);

Result<void> describe_batch(client::Cluster& cluster, const BatchOptions& options,
                            const client::Deadline& deadline, std::ostream& out);

// Of one that is prepared, or is committed already.
Result<void> commit_batch(client::Cluster& cluster, const BatchOptions& options,
                          const client::Deadline& deadline, std::ostream& out);

// Of one that is open or prepared, or is aborted already.
Result<void> abort_batch(client::Cluster& cluster, const BatchOptions& options,
                         const client::Deadline& deadline, std::ostream& out);

}  // namespace ackord::ctl
