// BrokerConfigUser: who runs on the broker's own configs and can take other ones while it runs:
// listeners, their keys, limits of connections. main hands one in; this room knows nothing of them.
#pragma once

#include <string>
#include <vector>

#include "broker/io/task.h"
#include "broker/metadata/image.h"
#include "broker/metadata/metadata_shard.h"
#include "protocol/types/result.h"

namespace ackord::metadata {

// What is set for all brokers, and for this one, after a change; and which settings it named: also
// those that keep their value, whose files are then read again (KIP-226).
struct BrokerConfigChange {
  ConfigMap cluster;
  ConfigMap node;
  std::vector<std::string> names;
};

// On the core of the metadata log, one change at a time.
class BrokerConfigUser {
 public:
  virtual ~BrokerConfigUser() = default;

  // Whether it could go on with that. INVALID_REQUEST with a text that holds no secret.
  virtual io::Task<Result<void>> check(BrokerConfigChange change) = 0;
  // The change is durable.
  virtual io::Task<void> apply(BrokerConfigChange change) = 0;
};

// One change of configs, as the user of the broker's own is told of it; no effect where it is none
// of those, or there is no user.
class BrokerConfigTurn {
 public:
  // `op` is looked at now; a change that is refused anyway is not told.
  BrokerConfigTurn(BrokerConfigUser* user, const MetadataImage& image,
                   const ShardIdentity& identity, const AlterConfigs& op);

  io::Task<Result<void>> check();
  io::Task<void> apply();

 private:
  BrokerConfigUser* user_;
  bool validate_only_;
  BrokerConfigChange change_;
};

}  // namespace ackord::metadata
