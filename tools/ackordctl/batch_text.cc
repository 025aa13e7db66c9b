#include "tools/ackordctl/batch_text.h"

#include <fmt/core.h>

#include <boost/json.hpp>

#include "tools/ackordctl/table.h"

namespace ackord::ctl {
namespace {

using client::BatchTransaction;

std::string topic_name(const BatchTransaction& transaction, const Uuid& id) {
  const auto known = transaction.topics.find(id);
  return known == transaction.topics.end() || known->second.empty() ? id.to_string()
                                                                    : known->second.str();
}

// Of undecided ones only: what the others held has been resolved.
bool holds_records(const BatchTransaction& transaction) {
  return transaction.state == client::BatchTransactionState::kOngoing ||
         transaction.state == client::BatchTransactionState::kPrepare;
}

boost::json::object object_of(const ListedBatch& batch) {
  const BatchTransaction& one = batch.transaction;
  boost::json::object out{{"groupId", batch.group},
                          {"transactionId", one.id},
                          {"state", client::name_of(one.state)},
                          {"createTimeMs", one.create_time_ms},
                          {"prepareTimeMs", one.prepare_time_ms},
                          {"timeoutMs", one.timeout.count()}};
  if (holds_records(one)) out["stagedRecords"] = client::count_offsets(one.pending);
  return out;
}

}  // namespace

std::string table_of(const std::vector<ListedBatch>& batches) {
  if (batches.empty()) return "no such batch transactions\n";
  std::vector<Row> rows{
      {"GROUP", "TRANSACTION", "STATE", "BEGUN", "PREPARED", "TIMEOUT", "STAGED"}};
  for (const ListedBatch& batch : batches) {
    const BatchTransaction& one = batch.transaction;
    rows.push_back({batch.group, one.id, client::name_of(one.state), time_text(one.create_time_ms),
                    time_text(one.prepare_time_ms), seconds_text(one.timeout.count()),
                    holds_records(one) ? std::to_string(client::count_offsets(one.pending)) : "-"});
  }
  return aligned(rows);
}

boost::json::value json_of(const std::vector<ListedBatch>& batches) {
  boost::json::array out;
  for (const ListedBatch& batch : batches) out.push_back(object_of(batch));
  return out;
}

std::string table_of(const ListedBatch& batch) {
  const std::string out = table_of(std::vector<ListedBatch>{batch});
  if (batch.transaction.pending.empty()) return out;
  std::vector<Row> rows{{"PARTITION", "OFFSETS", "ACKNOWLEDGE"}};
  for (const auto& [source, acknowledgements] : batch.transaction.pending) {
    for (const client::AcknowledgementBatch& range : acknowledgements) {
      rows.push_back(
          {fmt::format("{}:{}", topic_name(batch.transaction, source.topic_id), source.partition),
           range_text(range.first, range.last), acknowledge_name(range.types.front())});
    }
  }
  return out + aligned(rows);
}

boost::json::value json_of(const ListedBatch& batch) {
  boost::json::object out = object_of(batch);
  boost::json::array staged;
  for (const auto& [source, acknowledgements] : batch.transaction.pending) {
    for (const client::AcknowledgementBatch& range : acknowledgements) {
      staged.push_back(
          boost::json::object{{"topic", topic_name(batch.transaction, source.topic_id)},
                              {"partition", source.partition},
                              {"firstOffset", range.first},
                              {"lastOffset", range.last},
                              {"acknowledgeType", acknowledge_name(range.types.front())}});
    }
  }
  out["stagedAcknowledgements"] = std::move(staged);
  return out;
}

std::string table_of(const EndedBatch& ended) {
  return fmt::format("{} {}: {}\n", ended.group, ended.id,
                     ended.committed ? "committed" : "aborted, its records are delivered again");
}

boost::json::value json_of(const EndedBatch& ended) {
  return boost::json::object{{"groupId", ended.group},
                             {"transactionId", ended.id},
                             {"outcome", ended.committed ? "committed" : "aborted"}};
}

}  // namespace ackord::ctl
