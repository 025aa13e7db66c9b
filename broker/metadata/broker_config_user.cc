#include "broker/metadata/broker_config_user.h"

#include <utility>
#include <variant>

#include "broker/metadata/config_change.h"

namespace ackord::metadata {

BrokerConfigTurn::BrokerConfigTurn(BrokerConfigUser* user, const MetadataImage& image,
                                   const ShardIdentity& identity, const AlterConfigs& op)
    : user_(op.type == ResourceType::kBroker ? user : nullptr), validate_only_(op.validate_only) {
  if (user_ == nullptr) return;
  const auto records = config_changes(image, identity, op);
  if (!records) {
    user_ = nullptr;
    return;
  }
  change_.cluster = image.broker_configs();
  change_.node = image.node_configs();
  ConfigMap& changed = op.resource.empty() ? change_.cluster : change_.node;
  for (const MetadataRecord& record : *records) {
    const auto* config = std::get_if<protocol::ConfigRecord>(&record);
    if (config == nullptr) continue;
    const std::string name = config->name.str();
    change_.names.push_back(name);
    if (config->value) {
      changed[name] = config->value->str();
    } else {
      changed.erase(name);
    }
  }
  for (const ConfigChange& one : op.changes) change_.names.push_back(one.name);
}

io::Task<Result<void>> BrokerConfigTurn::check() {
  if (user_ == nullptr) co_return Result<void>();
  auto checking = user_->check(change_);
  Result<void> good = co_await std::move(checking);
  co_return good;
}

io::Task<void> BrokerConfigTurn::apply() {
  if (user_ == nullptr || validate_only_) co_return;
  auto applying = user_->apply(std::move(change_));
  co_await std::move(applying);
}

}  // namespace ackord::metadata
