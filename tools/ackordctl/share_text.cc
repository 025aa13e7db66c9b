#include "tools/ackordctl/share_text.h"

#include <fmt/core.h>

#include <boost/json.hpp>
#include <charconv>

#include "tools/ackordctl/table.h"

namespace ackord::ctl {
namespace {

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

const char* name_of(State state) {
  switch (state) {
    case State::kAvailable: return "available";
    case State::kAcquired: return "acquired";
    case State::kAcknowledged: return "acknowledged";
    case State::kArchiving: return "archiving";
    case State::kArchived: return "archived";
    case State::kStaged: return "staged";
  }
  return "unknown";
}

// Who holds the range, and until when.
std::string holder_of(const InFlight& range) {
  std::string text;
  if (range.member) text += "member " + *range.member;
  if (range.lock_expires_in_ms >= 0)
    text += fmt::format(", lock for {}", seconds_text(range.lock_expires_in_ms));
  if (range.available_in_ms >= 0)
    text += fmt::format("again in {}", seconds_text(range.available_in_ms));
  if (range.state != State::kStaged) return text;
  if (!text.empty()) text += ", ";
  text += range.producer_id >= 0
              ? fmt::format("producer {} epoch {}", range.producer_id, range.producer_epoch)
              : std::string("batch");
  if (range.transaction) text += " transaction " + *range.transaction;
  text += fmt::format(", {} for {}", acknowledge_name(range.acknowledge_type),
                      seconds_text(range.staged_for_ms));
  return text;
}

boost::json::object json_of(const InFlight& range) {
  boost::json::object out{{"firstOffset", range.offsets.first},
                          {"lastOffset", range.offsets.last},
                          {"state", name_of(range.state)},
                          {"deliveryCount", range.delivery_count}};
  if (range.member) out["memberId"] = *range.member;
  if (range.lock_expires_in_ms >= 0) out["lockExpiresInMs"] = range.lock_expires_in_ms;
  if (range.available_in_ms >= 0) out["availableInMs"] = range.available_in_ms;
  if (range.state != State::kStaged) return out;
  boost::json::object owner;
  if (range.producer_id >= 0) {
    owner["producerId"] = range.producer_id;
    owner["producerEpoch"] = range.producer_epoch;
  }
  if (range.transaction) owner["transactionId"] = *range.transaction;
  out["owner"] = std::move(owner);
  out["stagedForMs"] = range.staged_for_ms;
  out["acknowledgeType"] = acknowledge_name(range.acknowledge_type);
  return out;
}

}  // namespace

std::optional<Target> parse_target(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == 0 || text.empty()) return std::nullopt;
  if (colon == std::string_view::npos) return Target{std::string(text), std::nullopt};
  const auto partition = number_of<int32_t>(text.substr(colon + 1));
  if (!partition) return std::nullopt;
  return Target{std::string(text.substr(0, colon)), partition};
}

std::optional<Offsets> parse_offsets(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = number_of<Offset>(text.substr(0, dash));
  if (!first) return std::nullopt;
  if (dash == std::string_view::npos) return Offsets{*first, *first};
  const auto last = number_of<Offset>(text.substr(dash + 1));
  if (!last || *last < *first) return std::nullopt;
  return Offsets{*first, *last};
}

std::string table_of(const std::vector<SharePartition>& partitions) {
  std::vector<Row> rows{{"PARTITION", "OFFSETS", "STATE", "DELIVERIES", "HELD BY"}};
  bool more = false;
  for (const SharePartition& partition : partitions) {
    more = more || partition.more;
    for (const InFlight& range : partition.ranges) {
      rows.push_back({fmt::format("{}:{}", partition.topic, partition.partition),
                      range_text(range.offsets.first, range.offsets.last), name_of(range.state),
                      std::to_string(range.delivery_count), holder_of(range)});
    }
  }
  if (rows.size() == 1) return "nothing is in flight\n";
  return aligned(rows) + (more ? "there are more ranges: see --max-ranges\n" : "");
}

boost::json::value json_of(const std::vector<SharePartition>& partitions) {
  boost::json::array out;
  for (const SharePartition& partition : partitions) {
    boost::json::array ranges;
    for (const InFlight& range : partition.ranges) ranges.push_back(json_of(range));
    out.push_back(boost::json::object{{"topic", partition.topic},
                                      {"partition", partition.partition},
                                      {"startOffset", partition.start_offset},
                                      {"endOffset", partition.end_offset},
                                      {"ranges", std::move(ranges)},
                                      {"more", partition.more}});
  }
  return out;
}

std::string table_of(const std::vector<Released>& released) {
  std::string out;
  for (const Released& one : released)
    out += fmt::format("{}:{}  {} records released\n", one.topic, one.partition, one.records);
  return out.empty() ? "nothing to release\n" : out;
}

boost::json::value json_of(const std::vector<Released>& released) {
  boost::json::array out;
  for (const Released& one : released) {
    out.push_back(boost::json::object{
        {"topic", one.topic}, {"partition", one.partition}, {"releasedRecords", one.records}});
  }
  return out;
}

}  // namespace ackord::ctl
