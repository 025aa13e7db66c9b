// Works on the records of a share group and sends what it makes of them to another topic: both, or
// neither, whatever dies when. docs/TUTORIAL.md goes through it step by step.
//
//   example-transactional-worker SOURCE OUTPUT TRANSACTIONAL-ID [name=value…]
//
// The options are those of ShareConsumerConfig::set(). Ends with SIGTERM or SIGINT. Exit status: 1
// when it cannot start, 3 when its producer is of no use any more: start it again.
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <memory>

#include "client/share_consumer.h"
#include "client/transactional_acks.h"

using namespace ackord::client;
using ackord::TopicName;

namespace {

volatile std::sig_atomic_t stop_requested = 0;

void complain(ackord::ErrorCode code, const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", std::string(name_of(code)).c_str(), message.c_str());
}

// [producer]
struct DestroyProducer {
  void operator()(rd_kafka_t* producer) const { rd_kafka_destroy(producer); }
};
using Producer = std::unique_ptr<rd_kafka_t, DestroyProducer>;

// A stock librdkafka producer. Each worker that runs has a transactional id of its own, and keeps
// it when it is started again: what the one before it left open is aborted then.
Producer make_producer(const std::string& bootstrap_servers, const std::string& transactional_id) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char problem[512] = "";
  rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap_servers.c_str(), problem, sizeof problem);
  rd_kafka_conf_set(conf, "transactional.id", transactional_id.c_str(), problem, sizeof problem);
  Producer producer(rd_kafka_new(RD_KAFKA_PRODUCER, conf, problem, sizeof problem));
  if (!producer) {
    complain(ackord::ErrorCode::INVALID_CONFIG, problem);
    return nullptr;
  }
  rd_kafka_error_t* failed = rd_kafka_init_transactions(producer.get(), 30000);
  if (failed == nullptr) return producer;
  complain(ackord::ErrorCode::UNKNOWN_SERVER_ERROR, rd_kafka_error_string(failed));
  rd_kafka_error_destroy(failed);
  return nullptr;
}
// [end]

// [work]
std::string work_on(const ShareRecord& record) {
  std::string result = *record.value;
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

bool produce(rd_kafka_t* producer, const std::string& topic, std::string value) {
  const rd_kafka_resp_err_t code =
      rd_kafka_producev(producer, RD_KAFKA_V_TOPIC(topic.c_str()),
                        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK),
                        RD_KAFKA_V_VALUE(value.data(), value.size()), RD_KAFKA_V_END);
  return code == RD_KAFKA_RESP_ERR_NO_ERROR;
}
// [end]

// [transaction]
// One transaction: what the records lead to, and their acknowledgements.
TransactionResult transact(rd_kafka_t* producer, ShareConsumer& consumer, TransactionalAcks& acks,
                           const std::vector<ShareRecord>& records, const std::string& output) {
  if (rd_kafka_error_t* failed = rd_kafka_begin_transaction(producer); failed != nullptr) {
    TransactionError error{ackord::ErrorCode::INVALID_TXN_STATE, rd_kafka_error_string(failed)};
    error.fatal = rd_kafka_error_is_fatal(failed) != 0;
    rd_kafka_error_destroy(failed);
    return error;
  }
  bool complete = true;
  for (const ShareRecord& record : records) {
    // What nobody can work on is rejected; that, too, counts only when the transaction commits.
    const bool good = record.value.has_value();
    if (good) complete = produce(producer, output, work_on(record)) && complete;
    auto decided =
        consumer.acknowledge(record, good ? AcknowledgeType::kAccept : AcknowledgeType::kReject);
    complete = decided && complete;
  }
  // Handed over whatever has happened: a verdict that stays would join the next transaction,
  // without its result.
  auto verdicts = consumer.acknowledgements_for_transaction();
  if (!verdicts) {
    return TransactionError{verdicts.error().code, verdicts.error().message, false, true, false};
  }
  auto staged = acks.send_share_acknowledgements_to_transaction(
      *verdicts, consumer.share_group_metadata(), Millis(10000));
  if (!staged) return staged;
  if (!complete) {
    return TransactionError{ackord::ErrorCode::TRANSACTION_ABORTABLE,
                            "not every record could be worked on", false, true, false};
  }
  // Not librdkafka's: this one refuses a commit that would lose or repeat an acknowledgement.
  auto committed = acks.commit_transaction(Millis(30000));
  while (!committed && committed.error().retriable)
    committed = acks.commit_transaction(Millis(30000));
  return committed;
}
// [end]

// [failure]
// After a transaction has failed. False: the producer is of no use any more.
bool recover(TransactionalAcks& acks, const TransactionError& failure) {
  complain(failure.code, failure.message);
  if (failure.fatal) return false;  // fenced, most likely: another worker has the id
  auto aborted = acks.abort_transaction(Millis(30000));
  while (!aborted && aborted.error().retriable) aborted = acks.abort_transaction(Millis(30000));
  if (!aborted) complain(aborted.error().code, aborted.error().message);
  return aborted.has_value();  // the records come again with a later poll
}
// [end]

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr,
                 "usage: example-transactional-worker SOURCE OUTPUT TRANSACTIONAL-ID "
                 "[name=value…]\n");
    return 2;
  }
  std::signal(SIGTERM, [](int) { stop_requested = 1; });
  std::signal(SIGINT, [](int) { stop_requested = 1; });
  ShareConsumerConfig config;
  for (int i = 4; i < argc; ++i) {
    const std::string option = argv[i];
    const size_t equals = option.find('=');
    auto known = config.set(option.substr(0, equals),
                            equals == std::string::npos ? "" : option.substr(equals + 1));
    if (!known) {
      complain(known.error().code, known.error().message);
      return 1;
    }
  }
  // [main]
  config.mode = AcknowledgementMode::kTransactional;
  Producer producer = make_producer(config.client.bootstrap_servers, argv[3]);
  if (!producer) return 1;
  auto acks = TransactionalAcks::create(producer.get());
  auto consumer = ShareConsumer::create(std::move(config), Millis(10000));
  if (!acks || !consumer) {
    const ackord::Error error = acks ? consumer.error() : acks.error();
    complain(error.code, error.message);
    return 1;
  }
  (*acks)->bind(**consumer);
  (*consumer)->subscribe({TopicName(argv[1])});
  bool usable = true;
  while (!stop_requested && usable) {
    auto records = (*consumer)->poll(Millis(1000));
    if (!records) {
      complain(records.error().code, records.error().message);
    } else if (!records->empty()) {
      auto done = transact(producer.get(), **consumer, **acks, *records, argv[2]);
      if (done) {
        std::printf("committed %zu records\n", records->size());
        std::fflush(stdout);
      } else {
        usable = recover(**acks, done.error());
      }
    }
  }
  (void)(*consumer)->close(Millis(10000));
  return usable ? 0 : 3;
  // [end]
}
