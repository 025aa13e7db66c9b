#include "tools/ackordctl/txn_text.h"

#include <fmt/core.h>

#include <boost/json.hpp>

#include "tools/ackordctl/table.h"

namespace ackord::ctl {
namespace {

std::string text_of(const std::map<std::string, std::vector<int32_t>>& partitions) {
  std::string text;
  for (const auto& [topic, indexes] : partitions) {
    for (const int32_t index : indexes)
      text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", topic, index);
  }
  return text.empty() ? "none" : text;
}

std::string known(int64_t number) { return number < 0 ? "-" : std::to_string(number); }

}  // namespace

std::string table_of(const std::vector<ListedTransaction>& transactions) {
  if (transactions.empty()) return "no transactions\n";
  std::vector<Row> rows{{"TRANSACTIONAL ID", "STATE", "PRODUCER", "COORDINATOR"}};
  for (const ListedTransaction& one : transactions) {
    rows.push_back({one.id, one.state, std::to_string(one.producer_id),
                    std::to_string(one.coordinator.value)});
  }
  return aligned(rows);
}

boost::json::value json_of(const std::vector<ListedTransaction>& transactions) {
  boost::json::array out;
  for (const ListedTransaction& one : transactions) {
    out.push_back(boost::json::object{{"transactionalId", one.id},
                                      {"state", one.state},
                                      {"producerId", one.producer_id},
                                      {"coordinatorId", one.coordinator.value}});
  }
  return out;
}

std::string table_of(const DescribedTransaction& described) {
  const Transaction& one = described.transaction;
  std::string timeout =
      one.two_phase() ? "none: two-phase, its owner decides" : seconds_text(one.timeout_ms);
  std::string start = time_text(one.start_time_ms);
  if (one.start_time_ms >= 0 && (one.open() || one.prepared()))
    start += ", " + seconds_text(described.now_ms - one.start_time_ms) + " ago";
  std::string out =
      aligned({{"transactional id", one.id},
               {"state", one.state},
               {"producer", fmt::format("{} epoch {}", one.producer_id, one.producer_epoch)},
               {"coordinator", std::to_string(one.coordinator.value)},
               {"timeout", std::move(timeout)},
               {"started", std::move(start)},
               {"partitions", text_of(one.partitions)}});
  if (described.staged.empty()) return out + "no share acknowledgements are staged in it\n";
  std::vector<Row> rows{
      {"GROUP", "PARTITION", "OFFSETS", "ACKNOWLEDGE", "DELIVERIES", "STAGED FOR"}};
  for (const StagedRange& staged : described.staged) {
    const InFlight& range = staged.range;
    rows.push_back({staged.group, fmt::format("{}:{}", staged.topic, staged.partition),
                    range_text(range.offsets.first, range.offsets.last),
                    acknowledge_name(range.acknowledge_type), std::to_string(range.delivery_count),
                    seconds_text(range.staged_for_ms)});
  }
  return out + aligned(rows);
}

boost::json::value json_of(const DescribedTransaction& described) {
  const Transaction& one = described.transaction;
  boost::json::array partitions;
  for (const auto& [topic, indexes] : one.partitions) {
    for (const int32_t index : indexes)
      partitions.push_back(boost::json::object{{"topic", topic}, {"partition", index}});
  }
  boost::json::array staged;
  for (const StagedRange& range : described.staged) {
    staged.push_back(
        boost::json::object{{"group", range.group},
                            {"topic", range.topic},
                            {"partition", range.partition},
                            {"firstOffset", range.range.offsets.first},
                            {"lastOffset", range.range.offsets.last},
                            {"acknowledgeType", acknowledge_name(range.range.acknowledge_type)},
                            {"deliveryCount", range.range.delivery_count},
                            {"stagedForMs", range.range.staged_for_ms}});
  }
  return boost::json::object{{"transactionalId", one.id},
                             {"state", one.state},
                             {"producerId", one.producer_id},
                             {"producerEpoch", one.producer_epoch},
                             {"coordinatorId", one.coordinator.value},
                             {"timeoutMs", one.timeout_ms},
                             {"startTimeMs", one.start_time_ms},
                             {"partitions", std::move(partitions)},
                             {"stagedAcknowledgements", std::move(staged)}};
}

std::string table_of(const std::vector<PartitionProducer>& producers) {
  if (producers.empty()) return "no producers\n";
  std::vector<Row> rows{{"PRODUCER", "EPOCH", "COORDINATOR EPOCH", "LAST SEQUENCE", "LAST WRITE",
                         "TRANSACTION FROM"}};
  for (const PartitionProducer& one : producers) {
    rows.push_back({std::to_string(one.producer_id), std::to_string(one.producer_epoch),
                    known(one.coordinator_epoch), known(one.last_sequence),
                    time_text(one.last_timestamp), known(one.transaction_start_offset)});
  }
  return aligned(rows);
}

boost::json::value json_of(const std::vector<PartitionProducer>& producers) {
  boost::json::array out;
  for (const PartitionProducer& one : producers) {
    boost::json::object object{{"producerId", one.producer_id},
                               {"producerEpoch", one.producer_epoch},
                               {"coordinatorEpoch", one.coordinator_epoch},
                               {"lastSequence", one.last_sequence},
                               {"lastTimestamp", one.last_timestamp}};
    if (one.transaction_start_offset >= 0)
      object["transactionStartOffset"] = one.transaction_start_offset;
    out.push_back(std::move(object));
  }
  return out;
}

std::string table_of(const EndedTransaction& ended) {
  const char* more = ended.outcome == "fenced" ? ", and what was open is aborted" : "";
  return fmt::format("{}: {}{} ({})\n", ended.id, ended.outcome, more, ended.state);
}

boost::json::value json_of(const EndedTransaction& ended) {
  return boost::json::object{
      {"transactionalId", ended.id}, {"outcome", ended.outcome}, {"state", ended.state}};
}

std::string table_of(const PartitionAbort& aborted) {
  return fmt::format("{}:{}: the transaction of producer {} epoch {} is aborted\n", aborted.topic,
                     aborted.partition, aborted.producer_id, aborted.producer_epoch);
}

boost::json::value json_of(const PartitionAbort& aborted) {
  return boost::json::object{{"topic", aborted.topic},
                             {"partition", aborted.partition},
                             {"producerId", aborted.producer_id},
                             {"producerEpoch", aborted.producer_epoch},
                             {"coordinatorEpoch", aborted.coordinator_epoch},
                             {"outcome", "aborted"}};
}

}  // namespace ackord::ctl
