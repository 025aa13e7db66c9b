// Produce (key 0), versions 3-13; 0-2 are advertised and refused: see apis.def.
//   v3  transactional id, batches v2   v5  log start offset   v7  zstd   v8  record_errors
//   (KIP-467) v9  flexible   v10 current leader (KIP-951)   v11 TRANSACTION_ABORTABLE (KIP-890) v12
//   the broker adds the partition to the transaction itself   v13 topic ids
// acks: -1 answers when durable, 1 when appended, 0 not at all (an error then closes the
// connection). May: WRITE on the transactional id of transactional batches, WRITE on each topic.
// Order: the connection's next request starts once all partitions are appended; only
// the wait for the disk overlaps.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/by_core.h"
#include "broker/api/handlers.h"
#include "broker/api/produce_shape.h"
#include "broker/api/throttling.h"
#include "broker/log/batch_validator.h"
#include "broker/log/log_service.h"
#include "broker/metadata/metadata_service.h"
#include "broker/txn/txn_service.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/produce_response.h"
#include "protocol/record_batch/batch_header.h"

namespace ackord::api {
namespace {

using protocol::ProduceRequest;
using protocol::ProduceResponse;

constexpr int16_t kFirstWithTransactionAbortable = 11;
constexpr int16_t kFirstThatAddsPartitions = 12;
constexpr int16_t kFirstWithTopicIds = 13;

// One partition of the request on its way.
struct Write {
  size_t topic = 0;  // place in the response
  size_t index = 0;
  TopicPartition partition;
  Uuid topic_id;
  std::span<const std::byte> records;
  std::optional<log::ProducerStamp> transaction;  // the first batch's, when it is transactional
  std::optional<uint64_t> guard;
  int16_t version = 0;
  bool joining_failed = false;  // the transaction's coordinator has refused it
  log::AppendResult result;
  std::shared_ptr<log::Partition> appended_to;
};

struct Checked {
  bool needs_verification = false;
  std::optional<uint64_t> guard;
};

struct Guarding {
  log::LogService& logs;
  io::Task<std::vector<Checked>> operator()(std::vector<Write> writes) {
    std::vector<Checked> checked(writes.size());
    for (size_t i = 0; i < writes.size(); ++i) {
      const auto partition = logs.find(writes[i].partition);
      if (!partition || partition->has_open_transaction(*writes[i].transaction)) continue;
      checked[i] = {true, partition->begin_verification(*writes[i].transaction)};
    }
    co_return checked;
  }
};

struct Appended {
  log::AppendResult result;
  // Where it was appended: the name may be another partition's by the time it is durable.
  std::shared_ptr<log::Partition> partition;
};
struct Appending {
  log::LogService& logs;
  const txn::TxnService& txn;
  io::Task<std::vector<Appended>> operator()(std::vector<Write> writes) {
    std::vector<Appended> results;
    results.reserve(writes.size());
    const TimeMs now_ms = clock.now().wall_ms;
    for (Write& write : writes) {
      Appended appended;
      appended.partition = logs.find(write.partition);
      if (!appended.partition || appended.partition->topic_id() != write.topic_id) {
        appended.result.error = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
      } else if (write.transaction && txn.is_sealed(*write.transaction)) {
        appended.result.error = ErrorCode::INVALID_PRODUCER_EPOCH;
      } else {
        appended.result =
            appended.partition->append({write.records, write.version, write.guard}, now_ms);
      }
      results.push_back(std::move(appended));
    }
    co_return results;
  }
  const io::Clock& clock;
};

struct Wait {
  std::shared_ptr<log::Partition> partition;
  Offset offset = 0;
};
struct Waiting {
  io::Task<std::vector<ErrorCode>> operator()(std::vector<Wait> waits) {
    std::vector<ErrorCode> results;
    for (Wait& wait : waits) {
      auto waiting = wait.partition->durable(wait.offset);
      Result<void> done = co_await std::move(waiting);
      results.push_back(done ? ErrorCode::NONE : done.error().code);
    }
    co_return results;
  }
};

ProduceResponse::PartitionProduceResponse& place(ProduceResponse& response, const Write& write) {
  return response.responses[write.topic].partition_responses[write.index];
}

// What a coordinator's refusal becomes in a Produce answer (semantics C.4): old clients retry
// NOT_ENOUGH_REPLICAS.
ErrorCode verification_error(ErrorCode error, int16_t version) {
  switch (error) {
    case ErrorCode::PRODUCER_FENCED: return ErrorCode::INVALID_PRODUCER_EPOCH;
    case ErrorCode::COORDINATOR_LOAD_IN_PROGRESS:
    case ErrorCode::COORDINATOR_NOT_AVAILABLE:
    case ErrorCode::NOT_COORDINATOR: return ErrorCode::NOT_ENOUGH_REPLICAS;
    case ErrorCode::CONCURRENT_TRANSACTIONS:
      return version >= kFirstThatAddsPartitions ? error : ErrorCode::NOT_ENOUGH_REPLICAS;
    case ErrorCode::TRANSACTION_ABORTABLE:
      return version >= kFirstWithTransactionAbortable ? error : ErrorCode::INVALID_TXN_STATE;
    default: return error;
  }
}

void fail_joining(Write& write, ErrorCode refused, int16_t version) {
  write.result.error = verification_error(refused, version);
  const bool other = write.result.error == ErrorCode::INVALID_TXN_STATE ||
                     write.result.error == ErrorCode::NOT_ENOUGH_REPLICAS;
  if (!other) return;
  write.joining_failed = true;
  write.result.message = "The partition is not known to be in the transaction.";
}

// Sees to it that each partition is in its producer's open transaction: adds it (v12) or asks
// (older). A write that fails gets its error and is not appended.
io::Task<void> join_transaction(RequestContext& context, const TransactionalId& id,
                                std::vector<Write*> writes) {
  log::LogService& logs = context.services.log;
  auto core_of = [&logs](const Write& write) -> const io::Core& {
    return logs.core_of(write.partition);
  };
  std::vector<Write> copies;
  for (const Write* write : writes) copies.push_back(*write);
  Guarding guarding{logs};
  auto running = by_core<Checked>(std::move(copies), core_of, guarding);
  std::vector<Checked> checked = co_await std::move(running);
  std::map<std::pair<int64_t, int16_t>, std::vector<Write*>> by_producer;
  for (size_t i = 0; i < writes.size(); ++i) {
    writes[i]->guard = checked[i].guard;
    if (checked[i].needs_verification) {
      by_producer[{writes[i]->transaction->id.value, writes[i]->transaction->epoch}].push_back(
          writes[i]);
    }
  }
  const metadata::MetadataService& metadata = context.services.metadata;
  const bool adds = context.api_version >= kFirstThatAddsPartitions &&
                    metadata.image().features().level("transaction.version") >= 2;
  if (!adds && !metadata.broker_config().transaction_partition_verification_enable) co_return;
  for (auto& [producer, mine] : by_producer) {
    txn::TxnIdentity who{id, *mine.front()->transaction};
    std::vector<TopicPartition> partitions;
    for (const Write* write : mine) partitions.push_back(write->partition);
    if (adds) {
      auto adding = context.services.txn.add_partitions(std::move(who), std::move(partitions),
                                                        txn::ClientTransactionVersion::kV2);
      const ErrorCode added = co_await std::move(adding);
      for (Write* write : mine) fail_joining(*write, added, context.api_version);
    } else {
      auto verifying = context.services.txn.verify(std::move(who), std::move(partitions));
      const std::vector<std::pair<TopicPartition, ErrorCode>> verified =
          co_await std::move(verifying);
      for (size_t i = 0; i < mine.size(); ++i) {
        for (const auto& [partition, code] : verified) {
          if (partition == mine[i]->partition) fail_joining(*mine[i], code, context.api_version);
        }
      }
    }
  }
}

// A topic's place in the response, made at its first mention.
class TopicPlaces {
 public:
  explicit TopicPlaces(ProduceResponse& response) : response_(response) {}
  size_t of(const ProduceRequest::TopicProduceData& topic) {
    const auto [at, is_new] = places_.emplace(std::make_pair(topic.name.sv(), topic.topic_id),
                                              response_.responses.size());
    if (is_new) {
      auto& out = response_.responses.emplace_back();
      out.name = topic.name;
      out.topic_id = topic.topic_id;
    }
    return at->second;
  }

 private:
  ProduceResponse& response_;
  std::map<std::pair<std::string_view, Uuid>, size_t> places_;
};

// What a partition is refused for before its log is asked, in Kafka's order; else its batch.
Result<protocol::BatchHeader> check_partition(const RequestContext& context, const Access& access,
                                              const metadata::TopicImage* topic,
                                              const TopicName& name,
                                              const ProduceRequest::PartitionProduceData& partition,
                                              int16_t acks) {
  const bool by_id = context.api_version >= kFirstWithTopicIds;
  if ((topic != nullptr || !by_id) &&
      !access.may_topic(Operation::kWrite, topic != nullptr ? topic->name : name))
    return error(ErrorCode::TOPIC_AUTHORIZATION_FAILED);
  if (topic == nullptr) {
    return error(by_id ? ErrorCode::UNKNOWN_TOPIC_ID : ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  }
  if (partition.index < 0 || partition.index >= topic->partitions)
    return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION);
  if (!partition.records) return error(ErrorCode::INVALID_RECORD);
  auto batch = log::sole_batch(partition.records->bytes(), context.api_version);
  if (!batch) return batch;
  if (acks < -1 || acks > 1) return error(ErrorCode::INVALID_REQUIRED_ACKS);
  if (topic->internal()) return error(ErrorCode::INVALID_TOPIC_EXCEPTION);
  return batch;
}

// The writes of the request, with a place in the response each; what cannot be tried has its error
// there already. `whole`: the error of all of them, if any.
std::vector<Write> plan(RequestContext& context, const Access& access,
                        const ProduceRequest& request, ErrorCode whole, ProduceResponse& response) {
  const metadata::MetadataImage& image = context.services.metadata.image();
  const bool by_id = context.api_version >= kFirstWithTopicIds;
  std::vector<Write> writes;
  TopicPlaces topics(response);
  for (const auto& [topic, partition] : distinct_partitions(request)) {
    const auto known = by_id ? image.topic(topic->topic_id) : image.topic(topic->name);
    Write write;
    write.topic = topics.of(*topic);
    write.version = context.api_version;
    auto& places = response.responses[write.topic].partition_responses;
    write.index = places.size();
    auto& out = places.emplace_back();
    out.index = partition->index;
    out.base_offset = -1;
    out.error_code = whole;
    if (whole != ErrorCode::NONE) continue;
    const auto batch =
        check_partition(context, access, known.get(), topic->name, *partition, request.acks);
    if (!batch) {
      out.error_code = batch.error().code;
      continue;
    }
    write.partition = {known->name, partition->index};
    write.topic_id = known->id;
    write.records = partition->records->bytes();
    if (batch->transactional())
      write.transaction = log::ProducerStamp{batch->producer_id, batch->producer_epoch};
    writes.push_back(std::move(write));
  }
  return writes;
}

void answer(ProduceResponse& response, const Write& write) {
  auto& out = place(response, write);
  const log::AppendResult& result = write.result;
  out.error_code = result.error;
  out.base_offset = result.error == ErrorCode::NONE ? result.base_offset : -1;
  out.log_append_time_ms = result.log_append_time_ms;
  // Only errors of single records come with a message and a position (KIP-467), and those of the
  // transaction with a message.
  const bool of_records = !result.record_errors.empty();
  if (result.error == ErrorCode::NONE || of_records) out.log_start_offset = result.log_start_offset;
  if (of_records || write.joining_failed) out.error_message = String(result.message);
  for (const log::RecordError& record : result.record_errors) {
    out.record_errors.push_back({record.batch_index, String(record.message)});
  }
}

bool any_error(const ProduceResponse& response) {
  for (const auto& topic : response.responses) {
    for (const auto& partition : topic.partition_responses) {
      if (partition.error_code != ErrorCode::NONE) return true;
    }
  }
  return false;
}

io::Task<void> wait_for_disk(RequestContext& context, ProduceResponse& response,
                             const std::vector<Write>& writes) {
  log::LogService& logs = context.services.log;
  std::vector<Wait> waits;
  std::vector<const Write*> waiting_writes;
  for (const Write& write : writes) {
    if (write.result.error != ErrorCode::NONE) continue;
    waits.push_back({write.appended_to, write.result.next_offset});
    waiting_writes.push_back(&write);
  }
  Waiting work;
  auto core_of = [&logs](const Wait& wait) -> const io::Core& {
    return logs.core_of(wait.partition->name());
  };
  auto running = by_core<ErrorCode>(std::move(waits), core_of, work);
  const std::vector<ErrorCode> results = co_await std::move(running);
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i] == ErrorCode::NONE) continue;
    auto& out = place(response, *waiting_writes[i]);
    out.error_code = results[i];
    out.base_offset = -1;
  }
}

// The whole request counts, whatever became of it.
io::Task<void> charge_request(RequestContext& context, ProduceResponse& response) {
  auto charging = context.services.quotas.charge(quota::Kind::kProduce, quota_client(context));
  quota::Charge charge = co_await std::move(charging);
  const int64_t now_ms = context.core.clock.now().steady_ms;
  charge.record(now_ms, static_cast<int64_t>(context.request_bytes));
  throttle(context, response, charge.throttle_ms(now_ms));
}

}  // namespace

io::Task<ProduceResponse> handle(RequestContext& context, ProduceRequest request) {
  ProduceResponse response;
  const Access access(context);
  ErrorCode whole = check_request(request);
  if (whole == ErrorCode::NONE && access.limited() && has_transactional(request) &&
      !access.may_transaction(Operation::kWrite, *request.transactional_id))
    whole = ErrorCode::TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
  std::vector<Write> writes = plan(context, access, request, whole, response);
  std::vector<Write*> transactional;
  for (Write& write : writes) {
    if (write.transaction) transactional.push_back(&write);
  }
  if (!transactional.empty()) {
    auto joining = join_transaction(context, *request.transactional_id, std::move(transactional));
    co_await std::move(joining);
  }
  log::LogService& logs = context.services.log;
  std::vector<Write> allowed;
  std::vector<size_t> places;
  for (size_t i = 0; i < writes.size(); ++i) {
    if (writes[i].result.error != ErrorCode::NONE) continue;
    places.push_back(i);
    allowed.push_back(writes[i]);
  }
  auto core_of = [&logs](const Write& write) -> const io::Core& {
    return logs.core_of(write.partition);
  };
  Appending appending{logs, context.services.txn, context.core.clock};
  auto running = by_core<Appended>(std::move(allowed), core_of, appending);
  std::vector<Appended> results = co_await std::move(running);
  for (size_t i = 0; i < results.size(); ++i) {
    writes[places[i]].result = std::move(results[i].result);
    writes[places[i]].appended_to = std::move(results[i].partition);
  }
  if (context.services.quotas.any()) {
    auto charging = charge_request(context, response);
    co_await std::move(charging);
  }
  context.release_order();
  for (const Write& write : writes) answer(response, write);
  if (request.acks == 0) {
    context.no_response = true;
    context.close_connection = any_error(response);
    co_return response;
  }
  if (request.acks == -1) {
    auto waiting = wait_for_disk(context, response, writes);
    co_await std::move(waiting);
  }
  co_return response;
}

}  // namespace ackord::api
