// What `ackordctl txn` prints, as a table or as JSON. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "tools/ackordctl/share_groups.h"
#include "tools/ackordctl/transactions.h"

namespace ackord::ctl {

std::string table_of(const std::vector<ListedTransaction>& transactions);
boost::json::value json_of(const std::vector<ListedTransaction>& transactions);

struct DescribedTransaction {
  Transaction transaction;
  std::vector<StagedRange> staged;
  TimeMs now_ms = 0;  // for how long it has been open
};
std::string table_of(const DescribedTransaction& described);
boost::json::value json_of(const DescribedTransaction& described);

std::string table_of(const std::vector<PartitionProducer>& producers);
boost::json::value json_of(const std::vector<PartitionProducer>& producers);

// What became of a transaction.
struct EndedTransaction {
  std::string id;
  // "fenced": what was open is aborted, and its producer cannot go on. "aborted", "committed": it
  // was so already, or is now. "nothing open".
  std::string outcome;
  std::string state;  // in which it is now
};
std::string table_of(const EndedTransaction& ended);
boost::json::value json_of(const EndedTransaction& ended);

std::string table_of(const PartitionAbort& aborted);
boost::json::value json_of(const PartitionAbort& aborted);

}  // namespace ackord::ctl
