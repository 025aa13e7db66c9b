#include "tests/integration/support/topics.h"

#include <array>
#include <set>

#include "protocol/generated/create_topics_request.h"
#include "protocol/generated/create_topics_response.h"
#include "protocol/generated/describe_share_partitions_request.h"
#include "protocol/generated/describe_share_partitions_response.h"
#include "protocol/generated/describe_transactions_request.h"
#include "protocol/generated/describe_transactions_response.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/fetch_response.h"
#include "protocol/generated/incremental_alter_configs_request.h"
#include "protocol/generated/incremental_alter_configs_response.h"
#include "protocol/generated/list_offsets_request.h"
#include "protocol/generated/list_offsets_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"
#include "protocol/generated/produce_response.h"

namespace ackord::integration {
namespace {

constexpr int8_t kTopicResource = 2;
constexpr int8_t kGroupResource = 32;
constexpr int8_t kSet = 0;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::optional<std::string> text_of(const std::optional<std::span<const std::byte>>& bytes) {
  if (!bytes) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

auto ask_offset(RawClient& client, const std::string& topic, int32_t partition, int64_t timestamp,
                Isolation isolation) {
  protocol::ListOffsetsRequest request;
  request.replica_id = BrokerId(-1);
  request.isolation_level = static_cast<int8_t>(isolation);
  auto& asked = request.topics.emplace_back();
  asked.name = TopicName(topic);
  auto& part = asked.partitions.emplace_back();
  part.partition_index = partition;
  part.timestamp = timestamp;
  const auto answer = client.call<protocol::ListOffsetsResponse>(request, 7);
  return answer.message.topics.at(0).partitions.at(0);
}

bool is_led(RawClient& client, const std::string& topic, int32_t partition) {
  const ErrorCode error =
      ask_offset(client, topic, partition, kLatest, Isolation::kReadUncommitted).error_code;
  if (error == ErrorCode::NOT_LEADER_OR_FOLLOWER || error == ErrorCode::LEADER_NOT_AVAILABLE ||
      error == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION)
    return false;
  require_none(error, "ListOffsets");
  return true;
}

// Follows the control and data batches of one fetched partition as a read_committed client does.
class Visible {
 public:
  explicit Visible(const protocol::FetchResponse::PartitionData& data, Isolation isolation) {
    if (isolation == Isolation::kReadUncommitted || !data.aborted_transactions) return;
    for (const auto& aborted : *data.aborted_transactions) {
      starts_.emplace(aborted.first_offset, aborted.producer_id);
    }
  }

  // Records of the whole batches in `bytes` with offsets from `next` on; moves `next` behind them.
  void read(std::span<const std::byte> bytes, Offset& next, std::vector<ReadRecord>& out) {
    while (bytes.size() >= protocol::batch_format::kHeaderSize) {
      auto header = protocol::parse_header(bytes);
      require(header.has_value(), "a fetched batch");
      if (header->size() > bytes.size()) return;
      read_batch(*header, bytes.first(header->size()), next, out);
      bytes = bytes.subspan(header->size());
      next = header->next_offset();
    }
  }

 private:
  void read_batch(const protocol::BatchHeader& header, std::span<const std::byte> batch,
                  Offset next, std::vector<ReadRecord>& out) {
    require(protocol::check_batch(header, batch).has_value(), "the checksum of a fetched batch");
    while (!starts_.empty() && starts_.begin()->first <= header.last_offset()) {
      aborted_.insert(starts_.begin()->second);
      starts_.erase(starts_.begin());
    }
    std::vector<std::byte> buffer;
    auto records = protocol::uncompressed_records(header, batch, 64 << 20, buffer);
    require(records.has_value(), "the records of a fetched batch");
    protocol::RecordReader reader(header, *records);
    for (protocol::Record record; reader.next(record);) {
      if (header.control()) {
        auto marker = protocol::parse_end_marker(record);
        if (marker && *marker && !(*marker)->commit) aborted_.erase(header.producer_id);
        continue;
      }
      if (record.offset < next || (header.transactional() && aborted_.contains(header.producer_id)))
        continue;
      ReadRecord& read = out.emplace_back();
      read.offset = record.offset;
      read.timestamp = header.log_append_time() ? header.max_timestamp : record.timestamp;
      read.log_append_time = header.log_append_time();
      read.key = text_of(record.key);
      read.value = text_of(record.value);
      for (const auto& [name, value] : record.headers)
        read.headers.emplace_back(name, text_of(value));
    }
    require(!reader.failure(), "the records of a fetched batch");
  }

  std::multimap<Offset, ProducerId> starts_;
  std::set<ProducerId> aborted_;
};

std::string_view state_name(int8_t state) {
  constexpr std::array<std::string_view, 6> kNames{"AVAILABLE", "ACQUIRED", "ACKNOWLEDGED",
                                                   "ARCHIVING", "ARCHIVED", "TX_PENDING"};
  return state >= 0 && static_cast<size_t>(state) < kNames.size()
             ? kNames[static_cast<size_t>(state)]
             : "?";
}

std::string_view type_name(int8_t type) {
  constexpr std::array<std::string_view, 4> kNames{" GAP", " ACCEPT", " RELEASE", " REJECT"};
  return type >= 0 && static_cast<size_t>(type) < kNames.size() ? kNames[static_cast<size_t>(type)]
                                                                : "";
}

void set_configs(RawClient& client, int8_t type, const std::string& name,
                 const std::vector<std::pair<std::string, std::string>>& configs) {
  protocol::IncrementalAlterConfigsRequest request;
  auto& resource = request.resources.emplace_back();
  resource.resource_type = type;
  resource.resource_name = name;
  for (const auto& [key, value] : configs) {
    auto& entry = resource.configs.emplace_back();
    entry.name = key;
    entry.config_operation = kSet;
    entry.value = String(value);
  }
  auto answer = client.call<protocol::IncrementalAlterConfigsResponse>(request, 1);
  require_none(answer.message.responses.at(0).error_code, "IncrementalAlterConfigs");
}

}  // namespace

Topic create_topic(RawClient& client, const std::string& name, int32_t partitions,
                   const std::vector<std::pair<std::string, std::string>>& configs) {
  protocol::CreateTopicsRequest request;
  auto& topic = request.topics.emplace_back();
  topic.name = TopicName(name);
  topic.num_partitions = partitions;
  topic.replication_factor = 1;
  for (const auto& [config, value] : configs) {
    auto& entry = topic.configs.emplace_back();
    entry.name = config;
    entry.value = String(value);
  }
  auto answer = client.call<protocol::CreateTopicsResponse>(request, 7);
  require_none(answer.message.topics.at(0).error_code, "CreateTopics");
  // Kafka answers before its replicas know that they lead.
  for (int32_t partition = 0; partition < partitions; ++partition) {
    poll_until("the leader of " + name, [&] { return is_led(client, name, partition); });
  }
  return {name, answer.message.topics.at(0).topic_id, partitions};
}

Topic find_topic(RawClient& client, const std::string& name) {
  protocol::MetadataRequest request;
  request.topics.emplace().emplace_back().name = TopicName(name);
  request.allow_auto_topic_creation = false;
  auto answer = client.call<protocol::MetadataResponse>(request, 12);
  const auto& topic = answer.message.topics.at(0);
  if (topic.error_code == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION) return {name, {}, 0};
  require_none(topic.error_code, "Metadata");
  return {name, topic.topic_id, static_cast<int32_t>(topic.partitions.size())};
}

std::vector<std::byte> batch_of(const std::vector<std::string>& values,
                                protocol::BatchOptions options) {
  protocol::BatchBuilder builder(options);
  for (const std::string& value : values)
    builder.add(1'700'000'000'000, std::nullopt, bytes_of(value));
  return builder.build();
}

protocol::ProduceRequest produce_request(const Topic& topic, int32_t partition,
                                         const std::vector<std::byte>& batch) {
  protocol::ProduceRequest request;
  request.transactional_id.reset();
  request.acks = -1;
  request.timeout_ms = 10000;
  auto& data = request.topic_data.emplace_back();
  data.name = TopicName(topic.name);
  auto& part = data.partition_data.emplace_back();
  part.index = partition;
  part.records = Records::view(batch);
  return request;
}

Offset produce(RawClient& client, const Topic& topic, int32_t partition,
               const std::vector<std::string>& values, protocol::Codec codec) {
  const std::vector<std::byte> batch = batch_of(values, {.codec = codec});
  auto answer =
      client.call<protocol::ProduceResponse>(produce_request(topic, partition, batch), 11);
  const auto& result = answer.message.responses.at(0).partition_responses.at(0);
  require_none(result.error_code, "Produce");
  return result.base_offset;
}

std::vector<std::string> numbered_values(int count, const std::string& prefix) {
  std::vector<std::string> values;
  for (int i = 0; i < count; ++i) values.push_back(prefix + std::to_string(i));
  return values;
}

std::vector<ReadRecord> read_records(RawClient& client, const Topic& topic, int32_t partition,
                                     Isolation isolation, Offset from) {
  std::vector<ReadRecord> records;
  while (true) {
    protocol::FetchRequest request;
    request.max_wait_ms = 0;
    request.min_bytes = 1;
    request.isolation_level = static_cast<int8_t>(isolation);
    auto& asked = request.topics.emplace_back();
    asked.topic = TopicName(topic.name);
    auto& part = asked.partitions.emplace_back();
    part.partition = partition;
    part.fetch_offset = from;
    part.partition_max_bytes = 10 << 20;
    auto answer = client.call<protocol::FetchResponse>(request, 12);
    require_none(answer.message.error_code, "Fetch");
    const auto& data = answer.message.responses.at(0).partitions.at(0);
    require_none(data.error_code, "Fetch");
    const Offset before = from;
    if (data.records) Visible(data, isolation).read(data.records->bytes(), from, records);
    const Offset bound =
        isolation == Isolation::kReadCommitted ? data.last_stable_offset : data.high_watermark;
    if (from >= bound) return records;
    require(from > before, "Fetch answers nothing below its bound");
  }
}

std::vector<std::string> read_values(RawClient& client, const Topic& topic, int32_t partition,
                                     Isolation isolation, Offset from) {
  std::vector<std::string> values;
  for (ReadRecord& record : read_records(client, topic, partition, isolation, from))
    values.push_back(std::move(record.value).value_or(""));
  return values;
}

ListedOffset list_offset(RawClient& client, const std::string& topic, int32_t partition,
                         int64_t timestamp, Isolation isolation) {
  const auto result = ask_offset(client, topic, partition, timestamp, isolation);
  require_none(result.error_code, "ListOffsets");
  return {result.offset, result.timestamp};
}

Offset end_offset(RawClient& client, const Topic& topic, int32_t partition, Isolation isolation) {
  return list_offset(client, topic.name, partition, kLatest, isolation).offset;
}

void set_topic_configs(RawClient& client, const std::string& topic,
                       const std::vector<std::pair<std::string, std::string>>& configs) {
  set_configs(client, kTopicResource, topic, configs);
}

void set_group_configs(RawClient& client, const std::string& group,
                       const std::vector<std::pair<std::string, std::string>>& configs) {
  set_configs(client, kGroupResource, group, configs);
}

std::string share_state(RawClient& client, const std::string& group, const Topic& topic,
                        int32_t partition) {
  protocol::DescribeSharePartitionsRequest request;
  request.group_id = GroupId(group);
  auto& asked = request.topics.emplace_back();
  asked.topic_id = topic.id;
  asked.partitions.push_back(partition);
  std::string text;
  poll_until("DescribeSharePartitions", [&] {
    auto answer = client.call<protocol::DescribeSharePartitionsResponse>(request, 0);
    if (is_starting(answer.message.error_code)) return false;
    require_none(answer.message.error_code, "DescribeSharePartitions");
    const auto& state = answer.message.topics.at(0).partitions.at(0);
    if (is_starting(state.error_code)) return false;
    require_none(state.error_code, "DescribeSharePartitions");
    text = std::to_string(state.start_offset) + ".." + std::to_string(state.end_offset) + ":";
    for (const auto& range : state.ranges) {
      if (text.back() != ':') text += ',';
      text +=
          " " + std::to_string(range.first_offset) + "-" + std::to_string(range.last_offset) + " ";
      text += state_name(range.state);
      text += type_name(range.acknowledge_type);
      text += " x" + std::to_string(range.delivery_count);
    }
    return true;
  });
  return text;
}

void await_share_state(RawClient& client, const std::string& group, const Topic& topic,
                       int32_t partition, const std::string& expected) {
  std::string last;
  try {
    poll_until(
        expected, [&] { return (last = share_state(client, group, topic, partition)) == expected; },
        Millis(10000));
  } catch (const std::exception& failure) {
    throw std::runtime_error(std::string(failure.what()) + "; it is " + last);
  }
}

std::string transaction_state(RawClient& client, const std::string& transactional_id) {
  protocol::DescribeTransactionsRequest request;
  request.transactional_ids.emplace_back(transactional_id);
  std::string state;
  poll_until("DescribeTransactions", [&] {
    auto answer = client.call<protocol::DescribeTransactionsResponse>(request, 0);
    const auto& found = answer.message.transaction_states.at(0);
    if (is_starting(found.error_code)) return false;
    require_none(found.error_code, "DescribeTransactions");
    state = found.transaction_state.str();
    return true;
  });
  return state;
}

void await_transaction_state(RawClient& client, const std::string& transactional_id,
                             const std::string& expected) {
  poll_until(expected, [&] { return transaction_state(client, transactional_id) == expected; });
}

}  // namespace ackord::integration
