#include "broker/txn/coordinator_core.h"

#include <vector>

#include "broker/base/logging.h"
#include "broker/base/planted_bug.h"

namespace ackord::txn {
namespace {

// Protocol 1.6.
constexpr int64_t kMaxWaitMs = 100;

}  // namespace

CoordinatorCore::CoordinatorCore(const io::Core& core, std::shared_ptr<log::Partition> partition,
                                 TxnSettings settings, metadata::MetadataService& metadata,
                                 MarkerSink& markers, SealedProducers& sealed)
    : runner_(core, std::move(partition), TxnShard(settings, core.clock.now())),
      metadata_(metadata),
      sender_(markers, metadata),
      sealed_(sealed) {
  runner_.on_tick([this](TxnShard::TickReply timed_out) {
    for (TimedOut& one : timed_out)
      io::spawn(this->core().executor, abort_timed_out(std::move(one)));
  });
}

io::Task<Result<void>> CoordinatorCore::load() {
  auto loading = runner_.load();
  Result<void> loaded = co_await std::move(loading);
  if (!loaded) co_return loaded;
  for (const log::ProducerStamp& producer : shard().kept()) {
    metadata::OnEveryCore sealing = sealed_.seal(producer);
    co_await sealing;
  }
  for (PreparedTransaction& transaction : shard().prepared())
    start_completing(std::move(transaction));
  co_return loaded;
}

int64_t CoordinatorCore::wait_deadline() const { return core().clock.now().steady_ms + kMaxWaitMs; }

int16_t CoordinatorCore::transaction_version() const {
  return metadata_.image().features().level("transaction.version");
}

io::Task<InitProducerIdReply> CoordinatorCore::init_producer_id(InitProducerId op) {
  const int64_t deadline_ms = wait_deadline();
  for (;;) {
    op.transaction_version = transaction_version();
    auto running = runner_.run(op);
    Result<InitProducerId::Reply> reply = co_await std::move(running);
    if (!reply) co_return InitProducerIdReply{reply.error().code, {}, {}};
    if (reply->needs_producer_id) {
      auto fetching = metadata_.next_producer_id();
      Result<ProducerId> fresh = co_await std::move(fetching);
      if (!fresh) co_return InitProducerIdReply{fresh.error().code, {}, {}};
      op.fresh = *fresh;
      continue;
    }
    if (reply->prepared) {
      // Who begins the abort is told at once, as Kafka tells it; who comes while it runs waits.
      start_completing(std::move(*reply->prepared));
      co_return InitProducerIdReply{reply->error, {}, {}};
    }
    if (reply->ongoing.id.value >= 0) {
      metadata::OnEveryCore sealing = sealed_.seal(reply->ongoing);
      co_await sealing;
    }
    if (reply->error != ErrorCode::CONCURRENT_TRANSACTIONS)
      co_return InitProducerIdReply{reply->error, reply->producer, reply->ongoing};
    auto waiting = wait_settled(op.id, deadline_ms);
    const bool settled = co_await std::move(waiting);
    if (!settled) co_return InitProducerIdReply{ErrorCode::CONCURRENT_TRANSACTIONS, {}, {}};
  }
}

io::Task<ErrorCode> CoordinatorCore::add_partitions(AddPartitions op) {
  const int64_t deadline_ms = wait_deadline();
  for (;;) {
    op.transaction_version = transaction_version();
    auto running = runner_.run(op);
    Result<AddPartitions::Reply> reply = co_await std::move(running);
    if (!reply) co_return reply.error().code;
    if (reply->error != ErrorCode::CONCURRENT_TRANSACTIONS) co_return reply->error;
    auto waiting = wait_settled(op.who.id, deadline_ms);
    const bool settled = co_await std::move(waiting);
    if (!settled) co_return ErrorCode::CONCURRENT_TRANSACTIONS;
  }
}

io::Task<EnlistReply> CoordinatorCore::enlist(Enlist op) {
  op.transaction_version = transaction_version();
  auto running = runner_.run(std::move(op));
  Result<EnlistReply> reply = co_await std::move(running);
  if (!reply) co_return EnlistReply{reply.error().code, reply.error().message, -1};
  co_return std::move(*reply);
}

io::Task<ErrorCode> CoordinatorCore::doom(Doom op) {
  const int64_t deadline_ms = wait_deadline();
  for (;;) {
    op.transaction_version = transaction_version();
    auto running = runner_.run(op);
    const Result<Doom::Reply> reply = co_await std::move(running);
    if (!reply) co_return reply.error().code;
    // The next transaction is the one that is meant: its producer was told its epoch with the
    // decision, and need not wait for the completion.
    if (reply->error != ErrorCode::CONCURRENT_TRANSACTIONS) co_return ErrorCode::NONE;
    auto waiting = wait_settled(op.who.id, deadline_ms);
    const bool settled = co_await std::move(waiting);
    if (!settled) co_return ErrorCode::CONCURRENT_TRANSACTIONS;
  }
}

io::Task<EndTxnReply> CoordinatorCore::end_txn(EndTxn op) {
  for (;;) {
    op.transaction_version = transaction_version();
    if (base::planted(base::PlantedBug::kMarkerBeforeDurable)) {
      Result<EndTxn::Reply> early = runner_.run_without_waiting(op);
      if (early && early->prepared) start_completing(std::move(*early->prepared));
    }
    auto running = runner_.run(op);
    Result<EndTxn::Reply> reply = co_await std::move(running);
    if (!reply) co_return EndTxnReply{reply.error().code, {}};
    if (reply->needs_producer_id) {
      auto fetching = metadata_.next_producer_id();
      Result<ProducerId> fresh = co_await std::move(fetching);
      if (!fresh) co_return EndTxnReply{fresh.error().code, {}};
      op.fresh = *fresh;
      continue;
    }
    if (reply->prepared) start_completing(std::move(*reply->prepared));
    co_return EndTxnReply{reply->error, reply->next};
  }
}

io::Task<bool> CoordinatorCore::wait_settled(TransactionalId id, int64_t deadline_ms) {
  while (shard().is_settling(id)) {
    auto wakeup = io::Wakeup::make(core().executor, core().clock);
    settled_.subscribe(wakeup);
    auto waiting = wakeup->wait_until(deadline_ms);
    const bool woken = co_await std::move(waiting);
    if (!woken) co_return !shard().is_settling(id);
  }
  co_return true;
}

void CoordinatorCore::start_completing(PreparedTransaction transaction) {
  io::spawn(core().executor, complete(std::move(transaction)));
}

// The decision is durable. Complete's own durability is nobody's concern: if it is lost, the
// markers are sent again.
io::Task<void> CoordinatorCore::complete(PreparedTransaction transaction) {
  Complete op{{transaction.id, transaction.marker.producer}, 0};
  const bool kept = transaction.kept;
  auto sending = sender_.send(core(), std::move(transaction));
  const bool sent = co_await std::move(sending);
  if (!sent) co_return;
  op.transaction_version = transaction_version();
  Result<bool> completed = runner_.run_without_waiting(op);
  if (!completed) {
    base::log_error("transaction not completed transactional_id={} error={}", op.who.id,
                    completed.error().code);
  }
  settled_.notify();
  if (!kept) co_return;
  metadata::OnEveryCore unsealing = sealed_.unseal(op.who.producer.id);
  co_await unsealing;
}

io::Task<void> CoordinatorCore::abort_timed_out(TimedOut timed_out) {
  AbortTimedOut op{timed_out.who, timed_out.start_ms, std::nullopt, transaction_version()};
  auto running = runner_.run(op);
  Result<AbortTimedOut::Reply> reply = co_await std::move(running);
  if (reply && reply->needs_producer_id) {
    auto fetching = metadata_.next_producer_id();
    Result<ProducerId> fresh = co_await std::move(fetching);
    if (!fresh) co_return;  // the timer comes again
    op.fresh = *fresh;
    auto again = runner_.run(op);
    reply = co_await std::move(again);
  }
  if (!reply || !reply->prepared) co_return;
  base::log_info("transaction timed out transactional_id={} producer_id={} producer_epoch={}",
                 op.who.id, op.who.producer.id, op.who.producer.epoch);
  start_completing(std::move(*reply->prepared));
}

}  // namespace ackord::txn
