#include "broker/txn/txn_service.h"

#include <algorithm>
#include <atomic>

#include "broker/io/signal.h"
#include "broker/txn/coordinator_core.h"

namespace ackord::txn {
namespace {

class Service final : public TxnService {
 public:
  Service(io::Environment& environment, log::LogService& log, metadata::MetadataService& metadata,
          MarkerSink& markers)
      : environment_(environment),
        log_(log),
        metadata_(metadata),
        markers_(markers),
        sealed_(environment) {}

  io::Task<Result<void>> load() override;
  io::Task<InitProducerIdReply> init_producer_id(std::optional<TransactionalId> id,
                                                 int32_t timeout_ms,
                                                 std::optional<log::ProducerStamp> expected,
                                                 bool enable_2pc, bool keep_prepared) override;
  io::Task<ErrorCode> add_partitions(TxnIdentity who, std::vector<TopicPartition> partitions,
                                     ClientTransactionVersion version) override;
  io::Task<std::vector<std::pair<TopicPartition, ErrorCode>>> verify(
      TxnIdentity who, std::vector<TopicPartition> partitions) override;
  io::Task<EnlistReply> enlist(TxnIdentity who, std::optional<TimeMs> start,
                               std::vector<TopicPartition> partitions) override;
  io::Task<void> settle(TransactionalId id, int64_t max_wait_ms) override;
  io::Task<ErrorCode> doom(TxnIdentity who, std::optional<TimeMs> start) override;
  io::Task<EndTxnReply> end_txn(TxnIdentity who, bool commit,
                                ClientTransactionVersion version) override;
  io::Task<TransactionDescription> describe(TransactionalId id) override;
  io::Task<Result<std::vector<TransactionListing>>> list() override;
  bool is_sealed(log::ProducerStamp producer) const override { return sealed_.covers(producer); }
  io::Task<bool> lists_open(ProducerId producer_id, TopicPartition partition) override;

 private:
  // Whether there are shards. NONE: yes; else what is answered instead.
  enum class IfMissing { kCreate, kLeave };
  struct Readiness {
    bool ready = false;
    ErrorCode error = ErrorCode::NONE;  // NONE and not ready: there is no transaction at all
  };
  io::Task<Readiness> make_ready(IfMissing if_missing);
  io::Task<Result<bool>> open_all(IfMissing if_missing);
  io::Task<Result<void>> open_one(TopicPartition partition, std::unique_ptr<CoordinatorCore>* slot);
  TxnSettings settings_for(const TopicPartition& partition) const;
  CoordinatorCore& shard_of(const TransactionalId& id) const;
  static io::Task<bool> settle_here(CoordinatorCore& shard, TransactionalId id,
                                    int64_t max_wait_ms);
  static io::Task<bool> lists_open_here(std::vector<CoordinatorCore*> shards,
                                        ProducerId producer_id, TopicPartition partition);

  io::Environment& environment_;
  log::LogService& log_;
  metadata::MetadataService& metadata_;
  MarkerSink& markers_;
  SealedProducers sealed_;

  // Set once, by the first core, then read by all: `ready_` publishes it.
  std::vector<std::unique_ptr<CoordinatorCore>> shards_;
  std::atomic<bool> ready_ = false;
  // First core only.
  std::vector<std::unique_ptr<CoordinatorCore>> abandoned_;
  bool opening_ = false;
  io::Signal opened_;
};

void sort_unique(std::vector<TopicPartition>& partitions) {
  std::sort(partitions.begin(), partitions.end());
  partitions.erase(std::unique(partitions.begin(), partitions.end()), partitions.end());
}

// ---- shards

io::Task<Result<void>> Service::load() {
  auto opening = io::on(environment_.cores.front().executor, open_all(IfMissing::kLeave));
  Result<bool> opened = co_await std::move(opening);
  if (!opened) co_return opened.error();
  co_return Result<void>();
}

io::Task<Service::Readiness> Service::make_ready(IfMissing if_missing) {
  if (ready_.load(std::memory_order_acquire)) co_return Readiness{true, ErrorCode::NONE};
  auto opening = io::on(environment_.cores.front().executor, open_all(if_missing));
  Result<bool> opened = co_await std::move(opening);
  if (!opened) co_return Readiness{false, opened.error().code};
  co_return Readiness{*opened, ErrorCode::NONE};
}

// On the first core. False: the topic does not exist, and shall not be made.
io::Task<Result<bool>> Service::open_all(IfMissing if_missing) {
  constexpr int64_t kLookAgainMs = 1000;
  const io::Core& core = environment_.cores.front();
  while (opening_) {
    auto wakeup = io::Wakeup::make(core.executor, core.clock);
    opened_.subscribe(wakeup);
    auto waiting = wakeup->wait_until(core.clock.now().steady_ms + kLookAgainMs);
    co_await std::move(waiting);
  }
  if (ready_.load(std::memory_order_relaxed)) co_return true;
  std::shared_ptr<const metadata::TopicImage> topic =
      metadata_.image().topic(metadata::kTransactionTopic);
  if (topic == nullptr && if_missing == IfMissing::kLeave) co_return false;

  opening_ = true;
  Result<void> result;
  auto ensuring = metadata_.ensure_internal_topic(metadata::kTransactionTopic);
  Result<std::shared_ptr<const metadata::TopicImage>> ensured = co_await std::move(ensuring);
  if (!ensured) {
    result = ensured.error();
  } else {
    topic = *ensured;
    std::vector<std::unique_ptr<CoordinatorCore>> shards(static_cast<size_t>(topic->partitions));
    std::vector<io::Task<Result<void>>> loads;
    for (int32_t i = 0; i < topic->partitions; ++i) {
      const TopicPartition partition{topic->name, i};
      auto load = open_one(partition, &shards[static_cast<size_t>(i)]);
      loads.push_back(io::on(log_.core_of(partition).executor, std::move(load)));
    }
    auto all = io::when_all(std::move(loads));
    const std::vector<Result<void>> loaded = co_await std::move(all);
    for (const Result<void>& one : loaded) {
      if (!one && result) result = one.error();
    }
    // After a failure too they stay alive: those that did load are at work already.
    auto& kept = result ? shards_ : abandoned_;
    for (auto& shard : shards) kept.push_back(std::move(shard));
  }
  if (result) ready_.store(true, std::memory_order_release);
  opening_ = false;
  opened_.notify();
  if (!result) co_return result.error();
  co_return true;
}

// On the partition's core.
io::Task<Result<void>> Service::open_one(TopicPartition partition,
                                         std::unique_ptr<CoordinatorCore>* slot) {
  std::shared_ptr<log::Partition> found = log_.find(partition);
  if (found == nullptr)
    co_return error(ErrorCode::COORDINATOR_NOT_AVAILABLE, "no log of " + partition.topic.str());
  *slot = std::make_unique<CoordinatorCore>(log_.core_of(partition), std::move(found),
                                            settings_for(partition), metadata_, markers_, sealed_);
  auto loading = (*slot)->load();
  co_return co_await std::move(loading);
}

TxnSettings Service::settings_for(const TopicPartition& partition) const {
  const metadata::BrokerConfig& config = metadata_.broker_config();
  TxnSettings settings;
  settings.max_timeout_ms = config.transaction_max_timeout_ms;
  settings.two_phase_commit = config.transaction_two_phase_commit_enable;
  settings.id_expiration_ms = config.transactional_id_expiration_ms;
  settings.coordinator_epoch = metadata_.leader_epoch(partition);
  return settings;
}

CoordinatorCore& Service::shard_of(const TransactionalId& id) const {
  const auto at = metadata::coordinator_partition(id.sv(), static_cast<int32_t>(shards_.size()));
  return *shards_[static_cast<size_t>(at)];
}

// ---- operations

io::Task<InitProducerIdReply> Service::init_producer_id(std::optional<TransactionalId> id,
                                                        int32_t timeout_ms,
                                                        std::optional<log::ProducerStamp> expected,
                                                        bool enable_2pc, bool keep_prepared) {
  if (!id) {
    auto fetching = metadata_.next_producer_id();
    Result<ProducerId> fresh = co_await std::move(fetching);
    if (!fresh) co_return InitProducerIdReply{fresh.error().code, {}, {}};
    co_return InitProducerIdReply{ErrorCode::NONE, {*fresh, 0}, {}};
  }
  if (id->empty()) co_return InitProducerIdReply{ErrorCode::INVALID_REQUEST, {}, {}};
  auto preparing = make_ready(IfMissing::kCreate);
  const Readiness readiness = co_await std::move(preparing);
  if (!readiness.ready) co_return InitProducerIdReply{readiness.error, {}, {}};
  InitProducerId op;
  op.id = *id;
  op.timeout_ms = timeout_ms;
  op.expected = expected;
  op.enable_2pc = enable_2pc;
  op.keep_prepared = keep_prepared;
  CoordinatorCore& shard = shard_of(op.id);
  auto running = io::on(shard.core().executor, shard.init_producer_id(std::move(op)));
  co_return co_await std::move(running);
}

io::Task<ErrorCode> Service::add_partitions(TxnIdentity who, std::vector<TopicPartition> partitions,
                                            ClientTransactionVersion version) {
  if (who.id.empty()) co_return ErrorCode::INVALID_REQUEST;
  auto preparing = make_ready(IfMissing::kLeave);
  const Readiness readiness = co_await std::move(preparing);
  if (readiness.error != ErrorCode::NONE) co_return readiness.error;
  if (!readiness.ready) co_return ErrorCode::INVALID_PRODUCER_ID_MAPPING;
  AddPartitions op;
  op.who = who;
  op.partitions = std::move(partitions);
  sort_unique(op.partitions);
  op.client_version = version;
  CoordinatorCore& shard = shard_of(op.who.id);
  auto running = io::on(shard.core().executor, shard.add_partitions(std::move(op)));
  co_return co_await std::move(running);
}

io::Task<std::vector<std::pair<TopicPartition, ErrorCode>>> Service::verify(
    TxnIdentity who, std::vector<TopicPartition> partitions) {
  using Reply = Verify::Reply;
  const auto all = [&partitions](ErrorCode code) {
    Reply reply;
    for (TopicPartition& partition : partitions) reply.emplace_back(std::move(partition), code);
    return reply;
  };
  if (who.id.empty()) co_return all(ErrorCode::INVALID_REQUEST);
  auto preparing = make_ready(IfMissing::kLeave);
  const Readiness readiness = co_await std::move(preparing);
  if (readiness.error != ErrorCode::NONE) co_return all(readiness.error);
  if (!readiness.ready) co_return all(ErrorCode::INVALID_PRODUCER_ID_MAPPING);
  CoordinatorCore& shard = shard_of(who.id);
  Verify op{who, partitions};
  auto running = io::on(shard.core().executor, shard.run(std::move(op)));
  Result<Reply> reply = co_await std::move(running);
  if (!reply) co_return all(reply.error().code);
  co_return std::move(*reply);
}

io::Task<EnlistReply> Service::enlist(TxnIdentity who, std::optional<TimeMs> start,
                                      std::vector<TopicPartition> partitions) {
  if (who.id.empty())
    co_return EnlistReply{ErrorCode::INVALID_REQUEST, "The transactional id is empty.", -1};
  auto preparing = make_ready(IfMissing::kLeave);
  const Readiness readiness = co_await std::move(preparing);
  if (readiness.error != ErrorCode::NONE) co_return EnlistReply{readiness.error, "", -1};
  if (!readiness.ready) co_return EnlistReply{ErrorCode::INVALID_PRODUCER_ID_MAPPING, "", -1};
  Enlist op;
  op.who = who;
  op.start = start;
  op.partitions = std::move(partitions);
  sort_unique(op.partitions);
  CoordinatorCore& shard = shard_of(op.who.id);
  auto running = io::on(shard.core().executor, shard.enlist(std::move(op)));
  co_return co_await std::move(running);
}

io::Task<bool> Service::settle_here(CoordinatorCore& shard, TransactionalId id,
                                    int64_t max_wait_ms) {
  auto waiting =
      shard.wait_settled(std::move(id), shard.core().clock.now().steady_ms + max_wait_ms);
  co_return co_await std::move(waiting);
}

io::Task<void> Service::settle(TransactionalId id, int64_t max_wait_ms) {
  auto preparing = make_ready(IfMissing::kLeave);
  const Readiness readiness = co_await std::move(preparing);
  if (!readiness.ready) co_return;
  CoordinatorCore& shard = shard_of(id);
  auto settling = io::on(shard.core().executor, settle_here(shard, id, max_wait_ms));
  co_await std::move(settling);
}

io::Task<ErrorCode> Service::doom(TxnIdentity who, std::optional<TimeMs> start) {
  if (who.id.empty()) co_return ErrorCode::NONE;
  auto preparing = make_ready(IfMissing::kLeave);
  const Readiness readiness = co_await std::move(preparing);
  if (!readiness.ready) co_return readiness.error;
  CoordinatorCore& shard = shard_of(who.id);
  Doom op{who, start, 0};
  auto dooming = io::on(shard.core().executor, shard.doom(std::move(op)));
  co_return co_await std::move(dooming);
}

io::Task<EndTxnReply> Service::end_txn(TxnIdentity who, bool commit,
                                       ClientTransactionVersion version) {
  if (who.id.empty()) co_return EndTxnReply{ErrorCode::INVALID_REQUEST, {}};
  auto preparing = make_ready(IfMissing::kLeave);
  const Readiness readiness = co_await std::move(preparing);
  if (readiness.error != ErrorCode::NONE) co_return EndTxnReply{readiness.error, {}};
  if (!readiness.ready) co_return EndTxnReply{ErrorCode::INVALID_PRODUCER_ID_MAPPING, {}};
  EndTxn op;
  op.who = who;
  op.commit = commit;
  op.client_version = version;
  CoordinatorCore& shard = shard_of(op.who.id);
  auto running = io::on(shard.core().executor, shard.end_txn(std::move(op)));
  co_return co_await std::move(running);
}

io::Task<TransactionDescription> Service::describe(TransactionalId id) {
  TransactionDescription description;
  description.error = ErrorCode::INVALID_REQUEST;
  if (id.empty()) co_return description;
  auto preparing = make_ready(IfMissing::kLeave);
  const Readiness readiness = co_await std::move(preparing);
  description.error = readiness.error;
  if (!readiness.ready && readiness.error == ErrorCode::NONE) {
    description.error = ErrorCode::TRANSACTIONAL_ID_NOT_FOUND;
  }
  if (!readiness.ready) co_return description;
  CoordinatorCore& shard = shard_of(id);
  Describe op{id};
  auto running = io::on(shard.core().executor, shard.run(std::move(op)));
  Result<TransactionDescription> reply = co_await std::move(running);
  if (reply) co_return std::move(*reply);
  description.error = reply.error().code;
  co_return description;
}

io::Task<Result<std::vector<TransactionListing>>> Service::list() {
  std::vector<TransactionListing> all;
  auto preparing = make_ready(IfMissing::kLeave);
  const Readiness readiness = co_await std::move(preparing);
  if (readiness.error != ErrorCode::NONE) co_return error(readiness.error);
  if (!readiness.ready) co_return all;
  std::vector<io::Task<Result<List::Reply>>> asking;
  for (const auto& shard : shards_)
    asking.push_back(io::on(shard->core().executor, shard->run(List{})));
  auto answers = io::when_all(std::move(asking));
  std::vector<Result<List::Reply>> replies = co_await std::move(answers);
  for (Result<List::Reply>& reply : replies) {
    if (!reply) co_return reply.error();
    std::move(reply->begin(), reply->end(), std::back_inserter(all));
  }
  co_return all;
}

io::Task<bool> Service::lists_open_here(std::vector<CoordinatorCore*> shards,
                                        ProducerId producer_id, TopicPartition partition) {
  for (const CoordinatorCore* shard : shards) {
    if (shard->shard().lists_open(producer_id, partition)) co_return true;
  }
  co_return false;
}

// Nothing says which transactional id a producer id belongs to: every shard is asked, core by core.
io::Task<bool> Service::lists_open(ProducerId producer_id, TopicPartition partition) {
  auto preparing = make_ready(IfMissing::kLeave);
  const Readiness readiness = co_await std::move(preparing);
  if (!readiness.ready) co_return false;
  std::vector<std::vector<CoordinatorCore*>> by_core(environment_.cores.size());
  for (const auto& shard : shards_)
    by_core.at(static_cast<size_t>(shard->core().index)).push_back(shard.get());
  std::vector<io::Task<bool>> asking;
  for (auto& shards : by_core) {
    if (shards.empty()) continue;
    io::Executor& executor = shards.front()->core().executor;
    asking.push_back(io::on(executor, lists_open_here(std::move(shards), producer_id, partition)));
  }
  auto answers = io::when_all(std::move(asking));
  const std::vector<bool> listed = co_await std::move(answers);
  co_return std::find(listed.begin(), listed.end(), true) != listed.end();
}

}  // namespace

std::unique_ptr<TxnService> make_txn_service(io::Environment& environment, log::LogService& log,
                                             metadata::MetadataService& metadata,
                                             MarkerSink& markers) {
  return std::make_unique<Service>(environment, log, metadata, markers);
}

}  // namespace ackord::txn
