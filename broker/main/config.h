// Config: the configuration in force, checked. Names, types, defaults and ranges: Kafka's tables in
// metadata/config_tables.h and main/config_names.h. No configuration at all is a valid one.
// Immutable; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "broker/log/types.h"
#include "broker/main/properties.h"
#include "broker/metadata/configs.h"
#include "broker/metadata/image.h"
#include "protocol/types/result.h"

namespace ackord::main {

class Config {
 public:
  // Of two properties of one name the later one counts. Errors: INVALID_CONFIG; the text names the
  // origin, the name, and for an unknown name the most similar known one.
  static Result<Config> make(const std::vector<Property>& properties);

  // What was given, as DescribeConfigs shows it.
  const std::map<std::string, std::string, std::less<>>& given() const { return given_; }
  bool is_given(std::string_view name) const { return given_.contains(name); }

  // The value in force. The name must be in the tables, and for all but find() have a value.
  std::optional<std::string> find(std::string_view name) const;
  std::string text(std::string_view name) const;
  int64_t number(std::string_view name) const;
  bool flag(std::string_view name) const;
  // Empty when there is no value.
  std::vector<std::string> list(std::string_view name) const;
  // The same for one listener: listener.name.<listener>.<name> comes before <name>.
  std::optional<std::string> find_for(std::string_view listener, std::string_view name) const;
  // What listener.name.<listener>.<name> says; nothing where it is not given.
  std::optional<std::string> find_only_for(std::string_view listener, std::string_view name) const;

  // With what IncrementalAlterConfigs has set: for all brokers, and over that for this one. Values
  // that cannot be are left out: another version may have stored them.
  Config with(const metadata::ConfigMap& cluster, const metadata::ConfigMap& node) const;

  int32_t node_id() const;        // node.id, else broker.id, else 1
  std::string directory() const;  // the first of log.dirs, else log.dir

 private:
  std::map<std::string, std::string, std::less<>> given_;
};

// What the rooms below main run with.
metadata::BrokerConfig broker_config(const Config& config);
// Without the cluster id.
log::LogSettings log_settings(const Config& config);

}  // namespace ackord::main
