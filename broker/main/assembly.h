// Assembly: the services of one broker, built and wired: the only place that builds concrete
// objects. The process builds one on real cores; the simulator builds the same one on simulated
// cores.
//
// Order of start: the log is opened and recovered, metadata is loaded (its partitions are opened),
// then the coordinators replay their logs. Then dispatch() may be used. Threads: construction and
// log opening block; start() is a task of core 0.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/dispatch.h"
#include "broker/api/fetch_session.h"
#include "broker/api/marker_routing.h"
#include "broker/api/telemetry.h"
#include "broker/group/group_service.h"
#include "broker/io/core.h"
#include "broker/log/log_service.h"
#include "broker/metadata/metadata_service.h"
#include "broker/quota/client_quotas.h"
#include "broker/security/sasl_listener.h"
#include "broker/share/share_service.h"
#include "broker/txn/txn_service.h"

namespace ackord::main {

struct AssemblySettings {
  log::LogSettings log;
  metadata::MetadataSettings metadata;
  security::SaslListeners logins;                          // of the listeners that ask for SASL
  std::optional<security::AuthorizerConfig> authorizer{};  // none: everything is allowed
};

// One listener PLAINTEXT at host:port, node id 1.
metadata::MetadataSettings local_metadata_settings(metadata::BrokerConfig config, std::string host,
                                                   int32_t port);

class Assembly {
 public:
  // The environment must outlive it.
  Assembly(io::Environment& environment, AssemblySettings settings);
  ~Assembly();

  // Errors carry the text for the operator: directory, file, offset.
  io::Task<Result<void>> start();
  // Makes everything durable and marks the shutdown as clean. Nothing may come in any more.
  io::Task<void> stop();

  api::Dispatch& dispatch() { return *dispatch_; }
  log::LogService& log() { return *log_; }
  metadata::MetadataService& metadata() { return *metadata_; }
  share::ShareService& share() { return *share_; }
  const security::SaslListeners& logins() const { return logins_; }

 private:
  class ShareStates;

  io::Environment& environment_;
  std::unique_ptr<log::LogService> log_;
  std::unique_ptr<metadata::MetadataService> metadata_;
  std::unique_ptr<share::ShareService> share_;
  std::unique_ptr<ShareStates> share_states_;
  std::unique_ptr<group::GroupService> group_;
  std::unique_ptr<api::MarkerRouting> routing_;
  std::unique_ptr<txn::TxnService> txn_;
  std::unique_ptr<quota::ClientQuotas> quotas_;
  std::unique_ptr<api::ClientTelemetry> telemetry_;
  std::unique_ptr<api::Authorization> authorization_;
  std::vector<api::FetchSessions> fetch_sessions_;
  security::SaslListeners logins_;
  std::unique_ptr<api::Dispatch> dispatch_;
};

}  // namespace ackord::main
