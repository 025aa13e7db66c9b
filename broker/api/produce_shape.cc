#include "broker/api/produce_shape.h"

#include <map>
#include <tuple>

#include "protocol/record_batch/batch_format.h"
#include "protocol/record_batch/big_endian.h"

namespace ackord::api {
namespace {

namespace format = protocol::batch_format;
using protocol::ProduceRequest;

bool is_of_the_future(std::span<const std::byte> records) {
  return records.size() >= format::kMagicEnd &&
         static_cast<int8_t>(records[format::kMagic]) > format::kMagicV2;
}

bool is_transactional(std::span<const std::byte> records) {
  return records.size() >= format::kHeaderSize &&
         (protocol::load_big<int16_t>(records.data() + format::kAttributes) &
          format::kTransactional) != 0;
}

}  // namespace

bool has_transactional(const ProduceRequest& request) {
  for (const auto& topic : request.topic_data) {
    for (const auto& partition : topic.partition_data) {
      if (partition.records && is_transactional(partition.records->bytes())) return true;
    }
  }
  return false;
}

ErrorCode check_request(const ProduceRequest& request) {
  for (const auto& topic : request.topic_data) {
    for (const auto& partition : topic.partition_data) {
      if (partition.records && is_of_the_future(partition.records->bytes()))
        return ErrorCode::CORRUPT_MESSAGE;
    }
  }
  const bool has_id = request.transactional_id && !request.transactional_id->empty();
  if (!has_id && has_transactional(request))
    return ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
  return ErrorCode::NONE;
}

std::vector<PartitionToWrite> distinct_partitions(const ProduceRequest& request) {
  std::vector<PartitionToWrite> out;
  std::map<std::tuple<std::string_view, Uuid, int32_t>, size_t> places;
  for (const auto& topic : request.topic_data) {
    for (const auto& partition : topic.partition_data) {
      const auto [at, is_new] = places.emplace(
          std::make_tuple(topic.name.sv(), topic.topic_id, partition.index), out.size());
      if (is_new)
        out.push_back({&topic, &partition});
      else
        out[at->second] = {&topic, &partition};
    }
  }
  return out;
}

}  // namespace ackord::api
