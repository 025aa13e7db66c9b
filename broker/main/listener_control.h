// ListenerControl: the listeners' keys and limits, as they were configured and as
// IncrementalAlterConfigs changes them while the broker runs. A change of a listener's ssl.*
// settings reads its files again, for the connections that come from then on.
//
// Filled before the cores run; after that all on core 0, where its Tasks hop to from any.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "broker/base/metrics.h"
#include "broker/io/core.h"
#include "broker/main/config.h"
#include "broker/main/listeners.h"
#include "broker/metadata/broker_config_user.h"
#include "broker/net/listener.h"

namespace ackord::main {

class ListenerControl final : public metadata::BrokerConfigUser {
 public:
  // The environment must outlive it.
  ListenerControl(Config config, io::Environment& environment);

  // Binds, and reads the keys. Start-up only.
  Result<void> open(io::AsioCores& cores, net::RequestSink& sink,
                    std::vector<ListenerConfig> configs, int descriptor_bound);
  // As clients are told; complete after open().
  const std::vector<metadata::AdvertisedListener>& advertised() const { return advertised_; }
  // Before listen(): connections a second that an address may make.
  void set_address_rate(net::ConnectionQuotas::AddressRate rate);

  Result<void> listen();
  void accept();
  io::Task<void> stop(int64_t grace_ms);

  io::Task<Result<void>> check(metadata::BrokerConfigChange change) override;
  io::Task<void> apply(metadata::BrokerConfigChange change) override;

  // On core 0.
  void add_metrics(base::MetricsPage& page) const;

 private:
  struct One {
    std::unique_ptr<net::Listener> listener;
    security::SecurityProtocol protocol;
    std::shared_ptr<const net::TlsContext> tls;  // null without
  };
  // What a configuration would make of all that can change.
  struct Loaded {
    std::optional<net::ConnectionBounds> bounds;              // nullopt: as they are
    std::vector<std::shared_ptr<const net::TlsContext>> tls;  // by listener; null: as it is
    std::optional<Error> failed;                              // of what could not be loaded
  };

  Result<net::SharedLimits> shared_limits(size_t cores);
  io::Task<Loaded> load(metadata::BrokerConfigChange change);
  io::Task<Result<void>> check_here(metadata::BrokerConfigChange change);
  io::Task<int> apply_here(metadata::BrokerConfigChange change);

  const Config config_;
  io::Environment& environment_;
  std::shared_ptr<net::ConnectionQuotas> quotas_;
  std::shared_ptr<net::RequestBudget> budget_;
  std::vector<One> listeners_;
  bool serving_ = false;
  std::vector<metadata::AdvertisedListener> advertised_;
};

}  // namespace ackord::main
