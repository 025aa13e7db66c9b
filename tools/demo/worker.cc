// ackord-demo-worker: polls lines as a member of a share group and puts the results and the
// acknowledgements into the same transactions. Writes one JSON object a line; runs until SIGTERM.
//
// Exit status: 0 stopped, 1 failed at the start, 3 fenced (another worker has this transactional
// id: this one is a zombie), 4 the producer is broken for another reason (start the worker again).
#include <librdkafka/rdkafka.h>

#include <boost/json.hpp>
#include <csignal>
#include <cstdio>
#include <thread>

#include "client/share_consumer.h"
#include "client/transactional_acks.h"
#include "tools/demo/kafka.h"
#include "tools/demo/options.h"

namespace ackord::demo {
namespace {

using client::Millis;

constexpr int kFenced = 3;
constexpr int kBroken = 4;
constexpr Millis kTransactionTimeout{60000};

volatile std::sig_atomic_t stop_requested = 0;

void request_stop(int) { stop_requested = 1; }

void log_event(const boost::json::object& event) {
  const std::string line = boost::json::serialize(event) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

struct WorkerOptions : Options {
  std::string transactional_id = "worker-0";
  int32_t max_poll_records = 100;
  int work_ms = 5;       // what a transaction's work takes
  int abort_every = 10;  // transactions
  std::optional<client::AcknowledgementMode> fallback;
};

client::TransactionError not_held() {
  return {ErrorCode::INVALID_RECORD_STATE, "a record is not held any more", false, true, false};
}

class Worker {
 public:
  explicit Worker(WorkerOptions options) : options_(std::move(options)) {}

  // The exit status.
  int run();

 private:
  using Records = std::vector<client::ShareRecord>;

  Result<void> start();
  void work_on(const Records& records);
  // One transaction over some records of a poll: `outputs` are produced for, all of them are
  // acknowledged.
  void transact(const Records& accepted, const Records& rejected);
  client::TransactionResult fill(const Records& accepted, const Records& rejected);
  client::TransactionResult produce(const client::ShareRecord& record);
  client::TransactionResult commit();
  void abort(const char* outcome, const std::string& why);
  // Remembers the exit status when the producer cannot go on.
  void check(const client::TransactionError& failure);
  void log_transaction(const char* outcome, const std::string& why);

  const WorkerOptions options_;
  Handle producer_;
  std::unique_ptr<client::ShareConsumer> consumer_;
  std::unique_ptr<client::TransactionalAcks> acks_;
  int64_t transactions_ = 0;
  size_t accepted_ = 0;
  size_t rejected_ = 0;
  std::optional<int> exit_status_;
};

Result<void> Worker::start() {
  Result<Handle> producer = make_client(
      RD_KAFKA_PRODUCER, {{"bootstrap.servers", options_.bootstrap},
                          {"transactional.id", options_.transactional_id},
                          {"transaction.timeout.ms", std::to_string(kTransactionTimeout.count())},
                          {"linger.ms", "5"},
                          {"log_level", "2"}});
  if (!producer) return producer.error();
  producer_ = std::move(*producer);
  rd_kafka_error_t* failed = nullptr;
  do {
    if (failed != nullptr) rd_kafka_error_destroy(failed);
    failed = rd_kafka_init_transactions(producer_.get(), 30000);
  } while (failed != nullptr && rd_kafka_error_is_retriable(failed) && !stop_requested);
  if (failed != nullptr) {
    const Error problem = error(ErrorCode::UNKNOWN_SERVER_ERROR, rd_kafka_error_string(failed));
    rd_kafka_error_destroy(failed);
    return problem;
  }
  Result<std::unique_ptr<client::TransactionalAcks>> acks =
      client::TransactionalAcks::create(producer_.get());
  if (!acks) return acks.error();
  acks_ = std::move(*acks);
  client::ShareConsumerConfig config;
  config.client.bootstrap_servers = options_.bootstrap;
  config.client.client_id = options_.transactional_id;
  config.group = GroupId(options_.group);
  config.mode = client::AcknowledgementMode::kTransactional;
  config.fallback = options_.fallback;
  config.limits.max_poll_records = options_.max_poll_records;
  config.limits.acquire_mode = client::AcquireMode::kRecordLimit;
  Result<std::unique_ptr<client::ShareConsumer>> consumer =
      client::ShareConsumer::create(std::move(config), Millis(30000));
  if (!consumer) return consumer.error();
  consumer_ = std::move(*consumer);
  consumer_->subscribe({TopicName(options_.input)});
  acks_->bind(*consumer_);
  return {};
}

int Worker::run() {
  if (Result<void> started = start(); !started) {
    log_event(
        {{"event", "failed"},
         {"why", std::string(name_of(started.error().code)) + " " + started.error().message}});
    return 1;
  }
  log_event({{"event", "started"}, {"member", consumer_->share_group_metadata().member_id}});
  while (!stop_requested && !exit_status_) {
    Result<Records> records = consumer_->poll(Millis(500));
    if (records) {
      work_on(*records);
      continue;
    }
    log_event({{"event", "poll_failed"}, {"why", records.error().message}});
    std::this_thread::sleep_for(Millis(200));
  }
  (void)consumer_->close(Millis(5000));
  const int status = exit_status_.value_or(0);
  log_event({{"event", status == kFenced ? "fenced" : status == kBroken ? "broken" : "stopped"}});
  return status;
}

void Worker::work_on(const Records& records) {
  Records accepted;
  Records rejected;
  for (const client::ShareRecord& record : records) {
    (is_rejected(record.source.partition, record.offset) ? rejected : accepted).push_back(record);
  }
  // Now and then the refused records get a transaction of their own, which then holds
  // acknowledgements only.
  const bool apart = !rejected.empty() && !accepted.empty() && rejected.front().offset % 2 == 0;
  if (!apart) {
    if (!records.empty()) transact(accepted, rejected);
    return;
  }
  transact(accepted, {});
  if (!exit_status_) transact({}, rejected);
}

void Worker::transact(const Records& accepted, const Records& rejected) {
  ++transactions_;
  accepted_ = accepted.size();
  rejected_ = rejected.size();
  log_transaction("begun", "");
  if (rd_kafka_error_t* failed = rd_kafka_begin_transaction(producer_.get()); failed != nullptr) {
    check({ErrorCode::INVALID_TXN_STATE, rd_kafka_error_string(failed), false, false,
           rd_kafka_error_is_fatal(failed) != 0});
    rd_kafka_error_destroy(failed);
    if (!exit_status_) abort("refused", "begin");
    return;
  }
  if (client::TransactionResult filled = fill(accepted, rejected); !filled) {
    check(filled.error());
    if (!exit_status_) abort("refused", filled.error().message);
    return;
  }
  std::this_thread::sleep_for(Millis(options_.work_ms));
  if (transactions_ % options_.abort_every == 0) {
    // So that the records to be aborted are in the log.
    rd_kafka_flush(producer_.get(), static_cast<int>(kTransactionTimeout.count()));
    abort("aborted", "on purpose");
    return;
  }
  if (client::TransactionResult committed = commit(); !committed) {
    check(committed.error());
    if (!exit_status_) abort("refused", committed.error().message);
    return;
  }
  log_transaction("committed", "");
}

client::TransactionResult Worker::fill(const Records& accepted, const Records& rejected) {
  client::TransactionResult outcome;
  for (const client::ShareRecord& record : accepted) {
    if (outcome) outcome = produce(record);
  }
  const auto decide = [&](const Records& records, client::AcknowledgeType type) {
    for (const client::ShareRecord& record : records) {
      if (!consumer_->acknowledge(record, type)) outcome = not_held();
    }
  };
  decide(accepted, client::AcknowledgeType::kAccept);
  decide(rejected, client::AcknowledgeType::kReject);
  // Taken even if the transaction is to be aborted: a verdict left behind would join the next one,
  // without its result.
  Result<client::ShareAcknowledgements> decided = consumer_->acknowledgements_for_transaction();
  if (!outcome) return outcome;
  if (!decided)
    return client::TransactionError{decided.error().code, decided.error().message, false, true,
                                    false};
  return acks_->send_share_acks_to_transaction(*decided, GroupId(options_.group), Millis(20000));
}

client::TransactionResult Worker::produce(const client::ShareRecord& record) {
  const std::string key = output_key(record.topic, record.source.partition, record.offset);
  std::string value = output_value(record.key.value_or(""), record.value.value_or(""));
  while (true) {
    const rd_kafka_resp_err_t code = rd_kafka_producev(
        producer_.get(), RD_KAFKA_V_TOPIC(options_.output.c_str()),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key.data(), key.size()),
        RD_KAFKA_V_VALUE(value.data(), value.size()), RD_KAFKA_V_END);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      return client::TransactionError{ErrorCode::UNKNOWN_SERVER_ERROR, rd_kafka_err2str(code),
                                      false, true, false};
    }
    rd_kafka_poll(producer_.get(), 100);
  }
}

client::TransactionResult Worker::commit() {
  while (true) {
    client::TransactionResult committed = acks_->commit_transaction(Millis(30000));
    if (committed || !committed.error().retriable) return committed;
  }
}

void Worker::abort(const char* outcome, const std::string& why) {
  while (true) {
    client::TransactionResult aborted = acks_->abort_transaction(Millis(30000));
    if (aborted) break;
    if (aborted.error().retriable) continue;
    check(aborted.error());
    if (!exit_status_) exit_status_ = kBroken;
    return;
  }
  log_transaction(outcome, why);
}

void Worker::check(const client::TransactionError& failure) {
  char text[512];
  const rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(producer_.get(), text, sizeof text);
  if (fatal == RD_KAFKA_RESP_ERR_NO_ERROR && !failure.fatal) return;
  const bool fenced = fatal == RD_KAFKA_RESP_ERR__FENCED ||
                      failure.code == ErrorCode::PRODUCER_FENCED ||
                      failure.code == ErrorCode::INVALID_PRODUCER_EPOCH;
  exit_status_ = fenced ? kFenced : kBroken;
  log_transaction("lost", failure.message);
}

void Worker::log_transaction(const char* outcome, const std::string& why) {
  boost::json::object event{{"event", "transaction"},
                            {"outcome", outcome},
                            {"number", transactions_},
                            {"accepted", accepted_},
                            {"rejected", rejected_}};
  if (!why.empty()) event["why"] = why;
  log_event(event);
}

}  // namespace
}  // namespace ackord::demo

int main(int argc, char** argv) {
  ackord::demo::WorkerOptions options;
  CLI::App app("Works on lines, exactly once");
  ackord::demo::add_options(app, options);
  app.add_option("--transactional-id", options.transactional_id, "this worker's")
      ->capture_default_str();
  app.add_option("--max-poll-records", options.max_poll_records, "records per poll")
      ->capture_default_str();
  app.add_option("--work-ms", options.work_ms, "what the work of a transaction takes")
      ->capture_default_str();
  app.add_option("--abort-every", options.abort_every, "aborts each n-th transaction on purpose")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  bool fallback = false;
  app.add_flag("--fallback", fallback, "work at-least-once on a broker that cannot do better");
  CLI11_PARSE(app, argc, argv);
  if (fallback) options.fallback = ackord::client::AcknowledgementMode::kExplicit;
  std::signal(SIGTERM, ackord::demo::request_stop);
  std::signal(SIGINT, ackord::demo::request_stop);
  std::signal(SIGPIPE, SIG_IGN);
  return ackord::demo::Worker(std::move(options)).run();
}
