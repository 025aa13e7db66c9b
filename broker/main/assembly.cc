#include "broker/main/assembly.h"

#include <utility>

namespace ackord::main {

// What the group coordinator asks of the share partitions' state; the two rooms do not know each
// other.
class Assembly::ShareStates : public group::ShareStateKeeper {
 public:
  explicit ShareStates(share::ShareService& share) : share_(share) {}
  io::Task<ErrorCode> initialize(GroupId group, Uuid topic_id, int32_t partition,
                                 int32_t state_epoch, Offset start_offset) override {
    return initialize({{std::move(group), topic_id, partition}, state_epoch, start_offset, true});
  }
  io::Task<ErrorCode> replace(GroupId group, Uuid topic_id, int32_t partition, int32_t state_epoch,
                              Offset start_offset) override {
    return initialize({{std::move(group), topic_id, partition}, state_epoch, start_offset, false});
  }
  io::Task<ErrorCode> remove(GroupId group, Uuid topic_id, int32_t partition) override {
    auto deleting = share_.delete_state({{std::move(group), topic_id, partition}});
    const share::PartitionError error = co_await std::move(deleting);
    // The state of a topic that is gone goes with it.
    if (error.error_code == ErrorCode::UNKNOWN_TOPIC_OR_PARTITION) co_return ErrorCode::NONE;
    co_return error.error_code;
  }

 private:
  io::Task<ErrorCode> initialize(share::Initialize op) {
    auto initializing = share_.initialize_state(std::move(op));
    const share::PartitionError error = co_await std::move(initializing);
    co_return error.error_code;
  }

  share::ShareService& share_;
};

metadata::MetadataSettings local_metadata_settings(metadata::BrokerConfig config, std::string host,
                                                   int32_t port) {
  metadata::MetadataSettings settings;
  settings.broker = std::move(config);
  settings.listeners.push_back({"PLAINTEXT", std::move(host), port});
  return settings;
}

Assembly::Assembly(io::Environment& environment, AssemblySettings settings)
    : environment_(environment), logins_(std::move(settings.logins)) {
  const int32_t slots = settings.metadata.broker.max_incremental_fetch_session_cache_slots;
  settings.metadata.log_directory = settings.log.directory;
  log_ = log::make_log_service(environment, std::move(settings.log));
  metadata_ = metadata::make_metadata_service(environment, *log_, std::move(settings.metadata));
  share_ = share::make_share_service(environment, *log_, *metadata_);
  share_states_ = std::make_unique<ShareStates>(*share_);
  group_ = group::make_group_service(environment, *log_, *metadata_, *share_states_);
  routing_ = std::make_unique<api::MarkerRouting>(*log_, *group_, *share_);
  txn_ = txn::make_txn_service(environment, *log_, *metadata_, *routing_);
  quotas_ = std::make_unique<quota::ClientQuotas>(environment, *metadata_);
  telemetry_ = std::make_unique<api::ClientTelemetry>(environment, *metadata_);
  if (settings.authorizer)
    authorization_ = std::make_unique<api::Authorization>(std::move(*settings.authorizer));
  const auto cores = static_cast<int>(environment.cores.size());
  for (int core = 0; core < cores; ++core)
    fetch_sessions_.emplace_back(core, cores, (slots + cores - 1) / cores);
  dispatch_ = std::make_unique<api::Dispatch>(
      api::Services{environment, *log_, *metadata_, *group_, *txn_, *share_, fetch_sessions_,
                    *quotas_, *telemetry_, authorization_.get()},
      logins_);
}

Assembly::~Assembly() = default;

io::Task<Result<void>> Assembly::start() {
  Result<std::vector<log::FoundPartition>> found = log_->open();
  if (!found) co_return found.error();
  auto loading_metadata = metadata_->load(std::move(*found));
  Result<void> loaded = co_await std::move(loading_metadata);
  if (!loaded) co_return loaded;
  // Groups and share state come first: the transaction coordinator sends markers to them as soon as
  // it has loaded.
  auto loading_share = share_->load();
  loaded = co_await std::move(loading_share);
  if (!loaded) co_return loaded;
  auto loading_group = group_->load();
  loaded = co_await std::move(loading_group);
  if (!loaded) co_return loaded;
  auto loading_txn = txn_->load();
  loaded = co_await std::move(loading_txn);
  co_return loaded;
}

io::Task<void> Assembly::stop() {
  auto closing = log_->close();
  co_await std::move(closing);
}

}  // namespace ackord::main
