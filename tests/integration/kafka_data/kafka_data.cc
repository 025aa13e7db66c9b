#include "tests/integration/kafka_data/kafka_data.h"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <stdexcept>

#include "protocol/generated/describe_acls_request.h"
#include "protocol/generated/describe_acls_response.h"
#include "protocol/generated/describe_share_group_offsets_request.h"
#include "protocol/generated/describe_share_group_offsets_response.h"
#include "protocol/generated/offset_fetch_request.h"
#include "protocol/generated/offset_fetch_response.h"
#include "protocol/json/base64.h"

namespace ackord::integration {
namespace {

namespace json = boost::json;

// Longer values are compared by size and digest.
constexpr size_t kWholeValue = 1024;
constexpr const char* kArchives = ACKORD_KAFKA_DATA;

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error(command);
  std::string out;
  char block[1 << 16];
  for (size_t got = 0; (got = std::fread(block, 1, sizeof block, pipe)) > 0;)
    out.append(block, got);
  if (::pclose(pipe) != 0) throw std::runtime_error("failed: " + command);
  return out;
}

const json::object& all_expected() {
  static const json::value parsed =
      json::parse(output_of(std::string("xz -dc '") + kArchives + "/expected.json.xz'"));
  return parsed.as_object();
}

std::string sha256_of(const std::string& bytes) {
  std::array<unsigned char, crypto_hash_sha256_BYTES> digest;
  crypto_hash_sha256(digest.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                     bytes.size());
  std::array<char, 2 * crypto_hash_sha256_BYTES + 1> hex;
  return sodium_bin2hex(hex.data(), hex.size(), digest.data(), digest.size());
}

// The protocol's numbers by Kafka's names.
constexpr std::array kResources = {
    "UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER"};
constexpr std::array kPatterns = {"UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED"};
constexpr std::array kOperations = {"UNKNOWN",
                                    "ANY",
                                    "ALL",
                                    "READ",
                                    "WRITE",
                                    "CREATE",
                                    "DELETE",
                                    "ALTER",
                                    "DESCRIBE",
                                    "CLUSTER_ACTION",
                                    "DESCRIBE_CONFIGS",
                                    "ALTER_CONFIGS",
                                    "IDEMPOTENT_WRITE",
                                    "CREATE_TOKENS",
                                    "DESCRIBE_TOKENS",
                                    "TWO_PHASE_COMMIT"};
constexpr std::array kPermissions = {"UNKNOWN", "ANY", "DENY", "ALLOW"};

template <class... Text>
std::string acl_line(const Text&... parts) {
  std::string line;
  ((line += std::string(parts) + " "), ...);
  return line;
}

}  // namespace

KafkaDirectory::KafkaDirectory(const std::string& name) {
  output_of("tar -xJf '" + std::string(kArchives) + "/" + name + ".tar.xz' -C '" +
            directory_.path() + "'");
}

Settings keeping_old_state() {
  return {{"offsets.retention.minutes", "10000000"},
          {"transactional.id.expiration.ms", "2147483647"},
          {"producer.id.expiration.ms", "2147483647"}};
}

Settings with_acls() {
  return {{"authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"},
          {"super.users", "User:ANONYMOUS"}};
}

KafkaData::KafkaData(const std::string& name)
    : name_(name), expected_(&object_in(all_expected(), name)), directory_(name) {
  Settings settings = keeping_old_state();
  for (auto& setting : with_acls()) settings.push_back(std::move(setting));
  settings.emplace_back("log.dirs", directory_.data());
  broker_ = std::make_unique<BrokerProcess>(settings);
  client_ = std::make_unique<RawClient>(broker_->port());
}

void KafkaData::restart_after_stop() {
  require(broker_->stop() == 0, "a clean stop");
  broker_->start();
  client_ = std::make_unique<RawClient>(broker_->port());
}

void KafkaData::restart_after_kill() {
  broker_->crash();
  client_ = std::make_unique<RawClient>(broker_->port());
}

std::string KafkaData::text_of(const json::value& bytes) const {
  if (bytes.is_null()) return "null";
  if (bytes.is_string()) return std::string(bytes.as_string());
  const json::object& digest = bytes.as_object();
  return std::to_string(number(digest, "len")) + " bytes, sha256 " + text(digest, "sha256");
}

std::string KafkaData::text_of(const std::optional<std::string>& bytes) {
  if (!bytes) return "null";
  if (bytes->size() <= kWholeValue)
    return protocol::base64_of(std::as_bytes(std::span(bytes->data(), bytes->size())));
  return std::to_string(bytes->size()) + " bytes, sha256 " + sha256_of(*bytes);
}

Lines KafkaData::expected_records(const json::object& partition) {
  Lines lines;
  for (const json::value& one : array_in(partition, "records")) {
    const json::object& record = one.as_object();
    std::string line = std::to_string(number(record, "o")) + " " +
                       std::to_string(number(record, "ts")) + " " + text(record, "tt") + " " +
                       text_of(record.at("k")) + " = " + text_of(record.at("v"));
    if (const json::value* headers = record.if_contains("h")) {
      for (const json::value& header : headers->as_array()) {
        line += " " + std::string(header.as_array().at(0).as_string()) + ":" +
                text_of(header.as_array().at(1));
      }
    }
    if (!record.at("rc").as_bool()) line += " (not committed)";
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string KafkaData::line_of(const ReadRecord& record, bool committed) {
  std::string line = std::to_string(record.offset) + " " + std::to_string(record.timestamp) + " " +
                     (record.log_append_time ? "LogAppendTime" : "CreateTime") + " " +
                     text_of(record.key) + " = " + text_of(record.value);
  for (const auto& [name, value] : record.headers) line += " " + name + ":" + text_of(value);
  if (!committed) line += " (not committed)";
  return line;
}

Lines KafkaData::records(const std::string& topic, int32_t partition) {
  return records(*client_, topic, partition);
}

Lines KafkaData::records(RawClient& client, const std::string& topic, int32_t partition) {
  const Topic named{topic, {}, 0};
  const Offset from = list_offset(client, topic, partition, kEarliest).offset;
  std::set<Offset> committed;
  for (const ReadRecord& record :
       read_records(client, named, partition, Isolation::kReadCommitted, from))
    committed.insert(record.offset);
  Lines lines;
  for (const ReadRecord& record :
       read_records(client, named, partition, Isolation::kReadUncommitted, from))
    lines.push_back(line_of(record, committed.contains(record.offset)));
  return lines;
}

Lines committed_offsets(RawClient& client, const std::string& group, bool require_stable) {
  protocol::OffsetFetchRequest request;
  request.require_stable = require_stable;
  auto& asked = request.groups.emplace_back();
  asked.group_id = GroupId(group);
  asked.topics.reset();
  Lines lines;
  poll_until("OffsetFetch", [&] {
    auto answer = client.call<protocol::OffsetFetchResponse>(request, 9);
    const auto& of = answer.message.groups.at(0);
    if (is_starting(of.error_code)) return false;
    require_none(of.error_code, "OffsetFetch of " + group);
    for (const auto& topic : of.topics) {
      for (const auto& one : topic.partitions) {
        std::string line = topic.name.str() + "-" + std::to_string(one.partition_index) + " ";
        line += one.error_code != ErrorCode::NONE
                    ? std::string(name_of(one.error_code))
                    : std::to_string(one.committed_offset) + " epoch " +
                          std::to_string(one.committed_leader_epoch) + " '" +
                          one.metadata.value_or(String("")).str() + "'";
        lines.push_back(std::move(line));
      }
    }
    return true;
  });
  return lines;
}

Lines share_offsets(RawClient& client, const std::string& group) {
  protocol::DescribeShareGroupOffsetsRequest request;
  auto& asked = request.groups.emplace_back();
  asked.group_id = GroupId(group);
  asked.topics.reset();
  Lines lines;
  poll_until("DescribeShareGroupOffsets", [&] {
    auto answer = client.call<protocol::DescribeShareGroupOffsetsResponse>(request, 1);
    const auto& of = answer.message.groups.at(0);
    if (is_starting(of.error_code)) return false;
    require_none(of.error_code, "DescribeShareGroupOffsets of " + group);
    for (const auto& topic : of.topics) {
      for (const auto& one : topic.partitions) {
        require_none(one.error_code, "DescribeShareGroupOffsets");
        if (one.start_offset < 0) continue;
        lines.push_back(topic.topic_name.str() + "-" + std::to_string(one.partition_index) + " " +
                        std::to_string(one.start_offset) + " lag " + std::to_string(one.lag));
      }
    }
    return true;
  });
  return lines;
}

Lines acls(RawClient& client) {
  protocol::DescribeAclsRequest request;  // of all that there are
  request.resource_type_filter = static_cast<int8_t>(1);
  request.resource_name_filter.reset();
  request.pattern_type_filter = static_cast<int8_t>(1);
  request.principal_filter.reset();
  request.host_filter.reset();
  request.operation = 1;
  request.permission_type = 1;
  const auto answer = client.call<protocol::DescribeAclsResponse>(request, 3);
  require_none(answer.message.error_code, "DescribeAcls");
  Lines lines;
  for (const auto& resource : answer.message.resources) {
    for (const auto& acl : resource.acls) {
      lines.push_back(acl_line(
          kResources.at(static_cast<size_t>(resource.resource_type)), resource.resource_name.str(),
          kPatterns.at(static_cast<size_t>(resource.pattern_type)), acl.principal.str(),
          acl.host.str(), kOperations.at(static_cast<size_t>(acl.operation)),
          kPermissions.at(static_cast<size_t>(acl.permission_type))));
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

Lines acls(const json::array& expected) {
  Lines lines;
  for (const json::value& value : expected) {
    const json::object& acl = value.as_object();
    lines.push_back(acl_line(text(acl, "resource_type"), text(acl, "name"), text(acl, "pattern"),
                             text(acl, "principal"), text(acl, "host"), text(acl, "operation"),
                             text(acl, "permission")));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

int64_t number(const json::object& object, std::string_view name) {
  return object.at(name).to_number<int64_t>();
}
std::string text(const json::object& object, std::string_view name) {
  return std::string(object.at(name).as_string());
}
const json::object& object_in(const json::object& object, std::string_view name) {
  return object.at(name).as_object();
}
const json::array& array_in(const json::object& object, std::string_view name) {
  return object.at(name).as_array();
}

}  // namespace ackord::integration
