#include "tests/integration/kill_loop/txn_writer.h"

#include <functional>

namespace ackord::integration {

TxnWriter::TxnWriter(Run& run, std::string transactional_id, TxnVersion version)
    : run_(run),
      id_(std::move(transactional_id)),
      version_(version),
      random_(run.seed ^ std::hash<std::string>()(id_)) {}

void TxnWriter::run() {
  while (!run_.writers_stop || open_) {
    try {
      restart();
      while (!run_.writers_stop) {
        write();
        end();
      }
    } catch (const std::exception& lost) {
      run_.story.hindrance(std::string("transactional writer: ") + lost.what());
      pause_before_reconnect();
    }
  }
}

void TxnWriter::restart() {
  if (ending_) {
    producer_->reconnect();
    ++run_.story.ends_repeated;
    end();
    return;
  }
  producer_.emplace(run_.port, id_, version_);
  producer_->init();
  if (!open_) return;
  open_->commit = false;
  ended_.push_back(std::move(*open_));
  open_.reset();
  ++run_.story.aborts;
}

void TxnWriter::write() {
  open_.emplace();
  open_->commit = random_() % 4 != 0;
  const int64_t number = numbered_++;
  const uint64_t count = 1 + random_() % 3;
  for (uint64_t i = 0; i < count; ++i)
    open_->values.push_back(id_ + "/" + std::to_string(number) + "." + std::to_string(i));
  for (int32_t partition = 0; partition < run_.ledger.partitions; ++partition) {
    ErrorCode code = ErrorCode::NONE;
    // The transaction before may not have all its markers yet.
    poll_until("Produce", [&] {
      code = producer_->produce(run_.ledger, partition, open_->values);
      return code != ErrorCode::CONCURRENT_TRANSACTIONS && !is_starting(code);
    });
    if (code == ErrorCode::NONE) continue;
    run_.story.finding(id_ + ": Produce of " + open_->values.front() + " to partition " +
                       std::to_string(partition) + " is refused: " + std::string(name_of(code)));
    require_none(code, "Produce");
  }
}

void TxnWriter::end() {
  ending_ = true;
  ErrorCode code = ErrorCode::NONE;
  poll_until("EndTxn", [&] {
    code = producer_->end(open_->commit);
    return code != ErrorCode::CONCURRENT_TRANSACTIONS && !is_starting(code);
  });
  if (code != ErrorCode::NONE) {
    run_.story.finding(id_ + ": EndTxn is refused: " + std::string(name_of(code)));
  } else {
    ++(open_->commit ? run_.story.commits : run_.story.aborts);
    ended_.push_back(std::move(*open_));
  }
  ending_ = false;
  open_.reset();
}

}  // namespace ackord::integration
