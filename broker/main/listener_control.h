// ListenerControl: the listeners, their keys and their limits, as they are configured.
//
// Filled before the cores run; after that all on core 0.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "broker/base/metrics.h"
#include "broker/io/core.h"
#include "broker/main/config.h"
#include "broker/main/listeners.h"
#include "broker/metadata/metadata_service.h"
#include "broker/net/listener.h"

namespace ackord::main {

class ListenerControl {
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

  // On core 0.
  void add_metrics(base::MetricsPage& page) const;

 private:
  Result<net::SharedLimits> shared_limits(size_t cores);

  const Config config_;
  io::Environment& environment_;
  std::shared_ptr<net::ConnectionQuotas> quotas_;
  std::shared_ptr<net::RequestBudget> budget_;
  std::vector<std::unique_ptr<net::Listener>> listeners_;
  std::vector<metadata::AdvertisedListener> advertised_;
};

}  // namespace ackord::main
