// Produce, Fetch, ListOffsets: the requests and short forms of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/conform/kit/batches.h"
#include "tools/conform/kit/topics.h"

namespace ackord::conform {

struct ProduceOptions {
  int32_t partition = 0;
  int16_t version = 11;
  int16_t acks = -1;
  std::optional<std::string> transactional_id;
  Connection* connection = nullptr;  // nothing: the case's first
  Millis limit = kAnswerLimit;
};

// The body of a Produce of one batch to one partition. A version from 13 on names the topic by id.
Object produce_request(const Topic& topic, const json::value& records,
                       const ProduceOptions& options = {});
// The partition's part of the answer.
Value try_produce(Kit& kit, const Topic& topic, const std::vector<std::byte>& batch,
                  const ProduceOptions& options = {});
// The base offset. Failure unless it succeeds.
int64_t produce(Kit& kit, const Topic& topic, const std::vector<std::byte>& batch,
                const ProduceOptions& options = {});
int64_t produce(Kit& kit, const Topic& topic, const std::vector<std::string>& values,
                const ProduceOptions& options = {});

struct FetchPart {
  Topic topic;
  int32_t partition = 0;
  int64_t offset = 0;
  int32_t max_bytes = 10 << 20;
  int32_t current_leader_epoch = -1;
};

struct FetchOptions {
  int16_t version = 12;
  int8_t isolation = 0;  // 1: read_committed
  int32_t max_wait_ms = 0;
  int32_t min_bytes = 1;
  int32_t max_bytes = 50 << 20;
  int32_t session_id = 0;
  int32_t session_epoch = -1;
  std::vector<FetchPart> forgotten;  // of each its topic and partition
  Connection* connection = nullptr;
  Millis limit = kAnswerLimit;
};

Object fetch_request(const std::vector<FetchPart>& parts, const FetchOptions& options = {});
Value fetch(Kit& kit, const std::vector<FetchPart>& parts, const FetchOptions& options = {});
// The partition's part of a Fetch of one partition. Failure on an error at the top.
Value fetch_one(Kit& kit, const FetchPart& part, const FetchOptions& options = {});
// What a partition's part carries.
std::vector<BatchRead> batches_of(const Value& partition);
// All batches from an offset to the end: the high watermark, or the last stable offset when the
// isolation is 1.
std::vector<BatchRead> read_all(Kit& kit, const Topic& topic, int32_t partition = 0,
                                int64_t from = 0, int8_t isolation = 0);

// Special timestamps of ListOffsets.
constexpr int64_t kLatest = -1;
constexpr int64_t kEarliest = -2;
constexpr int64_t kMaxTimestamp = -3;
constexpr int64_t kEarliestLocal = -4;
constexpr int64_t kLatestTiered = -5;
constexpr int64_t kEarliestPendingUpload = -6;

struct ListOffsetsOptions {
  int32_t partition = 0;
  int16_t version = 7;
  int8_t isolation = 0;
  int32_t current_leader_epoch = -1;
};
// The partition's part of the answer.
Value list_offset(Kit& kit, const Topic& topic, int64_t timestamp,
                  const ListOffsetsOptions& options = {});
// The log's end, or the last stable offset. Failure on an error.
int64_t end_offset(Kit& kit, const Topic& topic, int32_t partition = 0, int8_t isolation = 0);

}  // namespace ackord::conform
