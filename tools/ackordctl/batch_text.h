// What `ackordctl batch` prints, as a table or as JSON. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "client/batch_transactions.h"

namespace ackord::ctl {

struct ListedBatch {
  std::string group;
  client::BatchTransaction transaction;
};
std::string table_of(const std::vector<ListedBatch>& batches);
boost::json::value json_of(const std::vector<ListedBatch>& batches);

// One of them, with the ranges that it holds.
std::string table_of(const ListedBatch& batch);
boost::json::value json_of(const ListedBatch& batch);

struct EndedBatch {
  std::string group;
  std::string id;
  bool committed = false;
};
std::string table_of(const EndedBatch& ended);
boost::json::value json_of(const EndedBatch& ended);

}  // namespace ackord::ctl
