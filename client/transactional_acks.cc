#include "client/transactional_acks.h"

#include <algorithm>

#include "client/retry.h"
#include "client/share_consumer.h"
#include "client/staging.h"
#include "protocol/generated/add_share_acks_to_txn_request.h"
#include "protocol/generated/add_share_acks_to_txn_response.h"
#include "protocol/generated/describe_transactions_request.h"
#include "protocol/generated/describe_transactions_response.h"
#include "protocol/generated/txn_share_acknowledge_request.h"
#include "protocol/generated/txn_share_acknowledge_response.h"

namespace ackord::client {
namespace {

// The broker lets every producer send offsets for it, and keeps none.
constexpr const char* kReservedGroup = "__ackord_acks_only";

bool is_fenced(ErrorCode code) {
  return code == ErrorCode::PRODUCER_FENCED || code == ErrorCode::INVALID_PRODUCER_EPOCH ||
         code == ErrorCode::INVALID_PRODUCER_ID_MAPPING;
}

ErrorCode code_of(rd_kafka_resp_err_t code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__FENCED: return ErrorCode::PRODUCER_FENCED;
    case RD_KAFKA_RESP_ERR__TIMED_OUT: return ErrorCode::REQUEST_TIMED_OUT;
    case RD_KAFKA_RESP_ERR__STATE: return ErrorCode::INVALID_TXN_STATE;
    default: return code > 0 ? static_cast<ErrorCode>(code) : ErrorCode::UNKNOWN_SERVER_ERROR;
  }
}

// Takes what a transactional call of librdkafka has answered.
TransactionResult taken(rd_kafka_error_t* answer) {
  if (answer == nullptr) return {};
  TransactionError error{code_of(rd_kafka_error_code(answer)), rd_kafka_error_string(answer),
                         rd_kafka_error_is_retriable(answer) != 0,
                         rd_kafka_error_txn_requires_abort(answer) != 0,
                         rd_kafka_error_is_fatal(answer) != 0};
  rd_kafka_error_destroy(answer);
  return error;
}

int milliseconds(const Deadline& deadline) {
  return static_cast<int>(std::min<int64_t>(deadline.left().count(), 2'000'000'000));
}

Result<std::string> option_of(rd_kafka_t* producer, const char* name) {
  char value[4096];
  size_t size = sizeof value;
  if (rd_kafka_conf_get(rd_kafka_conf(producer), name, value, &size) != RD_KAFKA_CONF_OK ||
      value[0] == '\0') {
    return error(ErrorCode::INVALID_CONFIG, std::string("the producer has no ") + name);
  }
  return std::string(value);
}

template <class Topics>
auto& topic_entry(Topics& topics, const Uuid& id) {
  if (topics.empty() || topics.back().topic_id != id) topics.emplace_back().topic_id = id;
  return topics.back();
}

}  // namespace

TransactionalAcks::TransactionalAcks(rd_kafka_t* producer, std::string transactional_id,
                                     std::unique_ptr<Cluster> cluster)
    : producer_(producer),
      transactional_id_(std::move(transactional_id)),
      cluster_(std::move(cluster)),
      token_(next_transaction_token()) {}

Result<std::unique_ptr<TransactionalAcks>> TransactionalAcks::create(rd_kafka_t* producer,
                                                                     ClientConfig config) {
  Result<std::string> id = option_of(producer, "transactional.id");
  if (!id) return id.error();
  Result<std::string> brokers = option_of(producer, "metadata.broker.list");
  if (!brokers) return brokers.error();
  config.bootstrap_servers = std::move(*brokers);
  Result<std::unique_ptr<Cluster>> cluster = Cluster::create(std::move(config));
  if (!cluster) return cluster.error();
  return std::unique_ptr<TransactionalAcks>(
      new TransactionalAcks(producer, std::move(*id), std::move(*cluster)));
}

void TransactionalAcks::bind(const ShareConsumer& consumer) { bound_.insert(consumer.book()); }

TransactionResult TransactionalAcks::refuse(const Error& cause) {
  failed_ = cause;
  return TransactionError{cause.code, cause.message, false, true, false};
}

TransactionResult TransactionalAcks::send_share_acks_to_transaction(
    const ShareAcknowledgements& acknowledgements, const GroupId& group, Millis timeout) {
  const auto is_member = [&](const std::shared_ptr<InFlight>& book) {
    return book->member().group == group;
  };
  if (acknowledgements.origin && is_member(acknowledgements.origin)) {
    return send_share_acknowledgements_to_transaction(acknowledgements,
                                                      acknowledgements.origin->member(), timeout);
  }
  const auto book = std::find_if(bound_.begin(), bound_.end(), is_member);
  if (book == bound_.end()) {
    return refuse(
        error(ErrorCode::UNKNOWN_MEMBER_ID, "no consumer of group " + group.str() + " is known"));
  }
  return send_share_acknowledgements_to_transaction(acknowledgements, (*book)->member(), timeout);
}

TransactionResult TransactionalAcks::send_share_acknowledgements_to_transaction(
    const ShareAcknowledgements& acknowledgements, const ShareGroupMetadata& metadata,
    Millis timeout) {
  if (acknowledgements.empty()) return {};
  if (acknowledgements.origin) {
    books_.insert(acknowledgements.origin);
    acknowledgements.origin->joined(acknowledgements.partitions, token_);
  }
  if (failed_) {
    not_staged_.push_back(acknowledgements);
    return TransactionError{failed_->code, failed_->message, false, true, false};
  }
  if (acknowledgements.origin && acknowledgements.origin->fallback()) {
    after_commit_.push_back(acknowledgements);
    return {};
  }
  return stage(acknowledgements, metadata, Deadline::in(timeout));
}

TransactionResult TransactionalAcks::stage(const ShareAcknowledgements& acknowledgements,
                                           const ShareGroupMetadata& metadata,
                                           const Deadline& deadline) {
  if (!start_) {
    TransactionResult opened = open(acknowledgements, metadata, deadline);
    if (!opened) {
      TransactionError failure = opened.error();
      failed_ = error(failure.code, failure.message);
      not_staged_.push_back(acknowledgements);
      failure.retriable = false;
      failure.requires_abort = !failure.fatal;
      return failure;
    }
  }
  return stage_everywhere(acknowledgements, metadata, deadline);
}

TransactionResult TransactionalAcks::open(const ShareAcknowledgements& acknowledgements,
                                          const ShareGroupMetadata& metadata,
                                          const Deadline& deadline) {
  // A pair that was proved may be out of date, because the producer has been given a new epoch:
  // then prove another.
  while (true) {
    const bool reused = proved_.has_value();
    Identity identity;
    if (reused) {
      identity = *proved_;
    } else {
      Result<Identity> described =
          retry(cluster_->config(), deadline, [&] { return describe_transaction(deadline); });
      if (!described) return TransactionError{described.error().code, described.error().message};
      identity = *described;
    }
    if (!reused || !delivered_) {
      if (TransactionResult sent = send_reserved_offset(acknowledgements, deadline); !sent)
        return sent;
    }
    proved_ = identity;
    Result<TimeMs> start = retry(cluster_->config(), deadline, [&] {
      return add_share_acks(acknowledgements, metadata, deadline);
    });
    if (start) {
      if (identity == last_identity_ && *start <= last_start_) {
        return TransactionError{ErrorCode::INVALID_TXN_STATE,
                                "the open transaction is one that has ended"};
      }
      start_ = *start;
      return {};
    }
    proved_.reset();
    if (!reused || !is_fenced(start.error().code)) {
      return TransactionError{start.error().code, start.error().message};
    }
  }
}

Result<TransactionalAcks::Identity> TransactionalAcks::describe_transaction(
    const Deadline& deadline) {
  Result<Connection*> coordinator =
      cluster_->coordinator(CoordinatorType::kTransaction, transactional_id_, deadline);
  if (!coordinator) {
    cluster_->forget_coordinator(CoordinatorType::kTransaction, transactional_id_);
    return coordinator.error();
  }
  protocol::DescribeTransactionsRequest request;
  request.transactional_ids.emplace_back(transactional_id_);
  auto answer = (*coordinator)
                    ->call<protocol::DescribeTransactionsResponse>(
                        request, deadline.within(cluster_->config().request_timeout));
  if (!answer) return answer.error();
  if (answer->message.transaction_states.empty())
    return error(ErrorCode::TRANSACTIONAL_ID_NOT_FOUND);
  const auto& state = answer->message.transaction_states.front();
  if (is_stale(state.error_code)) {
    cluster_->forget_coordinator(CoordinatorType::kTransaction, transactional_id_);
  }
  if (state.error_code != ErrorCode::NONE) return error(state.error_code, "DescribeTransactions");
  return Identity{state.producer_id, state.producer_epoch};
}

TransactionResult TransactionalAcks::send_reserved_offset(
    const ShareAcknowledgements& acknowledgements, const Deadline& deadline) {
  const TopicIdPartition& source = acknowledgements.partitions.begin()->first;
  const auto name = acknowledgements.topics.find(source.topic_id);
  if (name == acknowledgements.topics.end()) {
    return TransactionError{ErrorCode::UNKNOWN_TOPIC_ID,
                            "a topic of the acknowledgements has no name"};
  }
  rd_kafka_topic_partition_list_t* offsets = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(offsets, name->second.str().c_str(), source.partition)->offset =
      0;
  rd_kafka_consumer_group_metadata_t* group = rd_kafka_consumer_group_metadata_new(kReservedGroup);
  Backoff backoff(cluster_->config());
  TransactionResult sent;
  do {
    sent = taken(
        rd_kafka_send_offsets_to_transaction(producer_, offsets, group, milliseconds(deadline)));
  } while (!sent && sent.error().retriable && backoff.sleep(deadline));
  rd_kafka_consumer_group_metadata_destroy(group);
  rd_kafka_topic_partition_list_destroy(offsets);
  return sent;
}

Result<TimeMs> TransactionalAcks::add_share_acks(const ShareAcknowledgements& acknowledgements,
                                                 const ShareGroupMetadata& metadata,
                                                 const Deadline& deadline) {
  Result<Connection*> coordinator =
      cluster_->coordinator(CoordinatorType::kTransaction, transactional_id_, deadline);
  if (!coordinator) {
    cluster_->forget_coordinator(CoordinatorType::kTransaction, transactional_id_);
    return coordinator.error();
  }
  protocol::AddShareAcksToTxnRequest request;
  request.transactional_id = TransactionalId(transactional_id_);
  request.producer_id = proved_->id;
  request.producer_epoch = proved_->epoch;
  request.group_id = metadata.group;
  for (const auto& [partition, batches] : acknowledgements.partitions) {
    topic_entry(request.topics, partition.topic_id).partitions.push_back(partition.partition);
  }
  auto answer = (*coordinator)
                    ->call<protocol::AddShareAcksToTxnResponse>(
                        request, deadline.within(cluster_->config().request_timeout));
  if (!answer) return answer.error();
  const protocol::AddShareAcksToTxnResponse& response = answer->message;
  ErrorCode code = response.error_code;
  for (const auto& topic : response.topics) {
    for (const auto& partition : topic.partitions) {
      if (code == ErrorCode::NONE) code = partition.error_code;
    }
  }
  if (is_stale(code))
    cluster_->forget_coordinator(CoordinatorType::kTransaction, transactional_id_);
  if (code != ErrorCode::NONE) {
    return error(
        code, "AddShareAcksToTxn: " + response.error_message.value_or(String(name_of(code))).str());
  }
  return response.transaction_start_time_ms;
}

TransactionResult TransactionalAcks::stage_everywhere(const ShareAcknowledgements& acknowledgements,
                                                      const ShareGroupMetadata& metadata,
                                                      const Deadline& deadline) {
  PartitionAcknowledgements left;
  const auto stage_one = [&](Connection& leader, const std::vector<TopicIdPartition>& partitions,
                             PartitionAcknowledgements& open, const Deadline& until) {
    return stage_at(leader, partitions, open, metadata, until);
  };
  Result<void> staged =
      client::stage_everywhere(*cluster_, acknowledgements, left, stage_one, deadline);
  if (staged) return {};
  if (!may_stage_again(staged.error().code))
    not_staged_.push_back({std::move(left), acknowledgements.topics, acknowledgements.origin});
  return refuse(staged.error());
}

Result<void> TransactionalAcks::stage_at(Connection& leader,
                                         const std::vector<TopicIdPartition>& partitions,
                                         PartitionAcknowledgements& left,
                                         const ShareGroupMetadata& metadata,
                                         const Deadline& deadline) {
  protocol::TxnShareAcknowledgeRequest request;
  request.transactional_id = TransactionalId(transactional_id_);
  request.group_id = metadata.group;
  request.producer_id = proved_->id;
  request.producer_epoch = proved_->epoch;
  request.member_id = String(metadata.member_id);
  request.member_epoch = metadata.member_epoch;
  request.transaction_start_time_ms = *start_;
  fill_topics(partitions, left, request);
  auto answer = leader.call<protocol::TxnShareAcknowledgeResponse>(
      request, deadline.within(cluster_->config().request_timeout));
  if (!answer) return answer.error();
  const protocol::TxnShareAcknowledgeResponse& response = answer->message;
  if (response.error_code != ErrorCode::NONE) {
    return error(response.error_code,
                 "TxnShareAcknowledge: " + std::string(name_of(response.error_code)));
  }
  return take_answers(response, partitions, left);
}

TransactionResult TransactionalAcks::commit_transaction(Millis timeout) {
  std::optional<Error> refusal = failed_;
  std::set<std::shared_ptr<InFlight>> books = bound_;
  books.insert(books_.begin(), books_.end());
  for (const std::shared_ptr<InFlight>& book : books) {
    if (!refusal && book->refuses_commit(token_)) {
      refusal = error(ErrorCode::TRANSACTION_ABORTABLE,
                      "a record that the consumer holds was handed out again");
    }
  }
  if (refusal) {
    return TransactionError{
        ErrorCode::TRANSACTION_ABORTABLE,
        "only an abort is left: " + std::string(name_of(refusal->code)) + ": " + refusal->message,
        false, true, false};
  }
  TransactionResult committed =
      taken(rd_kafka_commit_transaction(producer_, milliseconds(Deadline::in(timeout))));
  if (committed) end(true);
  return committed;
}

TransactionResult TransactionalAcks::abort_transaction(Millis timeout) {
  TransactionResult aborted =
      taken(rd_kafka_abort_transaction(producer_, milliseconds(Deadline::in(timeout))));
  if (aborted) end(false);
  return aborted;
}

void TransactionalAcks::end(bool committed) {
  if (start_) {
    last_identity_ = *proved_;
    last_start_ = *start_;
  }
  std::set<std::shared_ptr<InFlight>> books = bound_;
  books.insert(books_.begin(), books_.end());
  for (const std::shared_ptr<InFlight>& book : books) {
    if (committed) {
      book->committed(token_);
    } else {
      book->aborted(token_);
    }
  }
  for (const ShareAcknowledgements& acknowledgements : after_commit_) {
    acknowledgements.origin->send_plainly(committed ? acknowledgements.partitions
                                                    : releases_of(acknowledgements.partitions));
  }
  for (const ShareAcknowledgements& acknowledgements : not_staged_) {
    if (acknowledgements.origin)
      acknowledgements.origin->send_plainly(releases_of(acknowledgements.partitions));
  }
  token_ = next_transaction_token();
  start_.reset();
  failed_.reset();
  delivered_ = false;
  books_.clear();
  after_commit_.clear();
  not_staged_.clear();
}

}  // namespace ackord::client
