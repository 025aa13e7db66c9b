#include "broker/metadata/client_metrics.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "broker/metadata/config_tables.h"

namespace ackord::metadata {
namespace {

struct Property {
  std::string_view name;
  std::string MetricsClient::* value;
};
constexpr std::array kProperties = {
    Property{"client_id", &MetricsClient::client_id},
    Property{"client_instance_id", &MetricsClient::instance_id},
    Property{"client_software_name", &MetricsClient::software_name},
    Property{"client_software_version", &MetricsClient::software_version},
    Property{"client_source_address", &MetricsClient::address},
    Property{"client_source_port", &MetricsClient::port},
};

std::string_view trim(std::string_view text) {
  const auto space = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

struct Parsed {
  std::string MetricsClient::* property = nullptr;
  std::unique_ptr<RE2> pattern;
};

// name=pattern; nullopt when it is no such thing.
std::optional<Parsed> parse_pattern(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || text.find('=', equals + 1) != std::string_view::npos)
    return std::nullopt;
  const std::string_view name = trim(text.substr(0, equals));
  const std::string_view pattern = trim(text.substr(equals + 1));
  if (pattern.empty()) return std::nullopt;
  for (const Property& one : kProperties) {
    if (one.name != name) continue;
    RE2::Options options;
    options.set_log_errors(false);
    Parsed parsed{one.value, std::make_unique<RE2>(pattern, options)};
    if (!parsed.pattern->ok()) return std::nullopt;
    return parsed;
  }
  return std::nullopt;
}

int32_t interval_of(const std::string& text) {
  int32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

struct MetricsSubscription::Pattern {
  std::string MetricsClient::* property;
  std::unique_ptr<RE2> pattern;
};

MetricsSubscription::MetricsSubscription(const ConfigMap& configs) {
  if (const auto at = configs.find("interval.ms"); at != configs.end())
    interval_ms_ = interval_of(at->second);
  if (const auto at = configs.find("metrics"); at != configs.end())
    metrics_ = split_list(at->second);
  const auto match = configs.find("match");
  if (match == configs.end()) return;
  for (const std::string& text : split_list(match->second)) {
    std::optional<Parsed> parsed = parse_pattern(text);
    if (!parsed) {
      readable_ = false;
      continue;
    }
    patterns_.push_back({parsed->property, std::move(parsed->pattern)});
  }
}

MetricsSubscription::~MetricsSubscription() = default;
MetricsSubscription::MetricsSubscription(MetricsSubscription&&) noexcept = default;

bool MetricsSubscription::matches(const MetricsClient& client) const {
  if (!readable_) return false;
  for (const Pattern& one : patterns_) {
    if (!RE2::FullMatch(client.*one.property, *one.pattern)) return false;
  }
  return true;
}

Result<void> check_metrics_configs(const ConfigMap& configs) {
  for (const auto& [name, value] : configs) {
    const ConfigDef* def = find_config(metrics_config_defs(), name);
    if (def == nullptr) {
      return error(ErrorCode::INVALID_REQUEST,
                   fmt::format("Unknown client metrics configuration: {}", name));
    }
    const Result<std::string> parsed = parse_config(*def, value);
    if (!parsed) return parsed.error();
    if (name == "interval.ms") {
      const int32_t interval = interval_of(*parsed);
      if (interval < kMinPushIntervalMs || interval > kMaxPushIntervalMs) {
        return error(
            ErrorCode::INVALID_REQUEST,
            fmt::format("Invalid value {} for interval.ms, interval must be between {} and {} "
                        "(1 hour)",
                        interval, kMinPushIntervalMs, kMaxPushIntervalMs));
      }
    }
    if (name != "match") continue;
    for (const std::string& pattern : split_list(value)) {
      if (!parse_pattern(pattern)) {
        return error(ErrorCode::INVALID_CONFIG,
                     fmt::format("Illegal client matching pattern: {}", pattern));
      }
    }
  }
  return {};
}

}  // namespace ackord::metadata
