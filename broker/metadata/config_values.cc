#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "broker/metadata/config_tables.h"
#include "broker/metadata/durations.h"

namespace ackord::metadata {
namespace {

std::string_view trim(std::string_view text) {
  const auto space = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

Error invalid(const ConfigDef& def, std::string_view value, std::string_view reason) {
  return error(ErrorCode::INVALID_CONFIG,
               fmt::format("Invalid value {} for configuration {}: {}", value, def.name, reason));
}

std::string_view name_of(ConfigType type) {
  switch (type) {
    case ConfigType::kInt: return "INT";
    case ConfigType::kShort: return "SHORT";
    case ConfigType::kLong: return "LONG";
    default: return "DOUBLE";
  }
}

// As Java's parsers: an optional sign, then digits alone.
std::optional<int64_t> parse_integer(std::string_view text, ConfigType type) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (type == ConfigType::kInt && number != static_cast<int32_t>(number)) return std::nullopt;
  if (type == ConfigType::kShort && number != static_cast<int16_t>(number)) return std::nullopt;
  return number;
}

std::optional<double> parse_double(std::string_view text) {
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  double number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Double.toString for the numbers that configs hold.
std::string show_double(double number) {
  std::string text = fmt::format("{}", number);
  if (std::isfinite(number) && text.find_first_of(".e") == std::string::npos) text += ".0";
  const size_t exponent = text.find('e');
  if (exponent != std::string::npos) text.replace(exponent, text[exponent + 1] == '+' ? 2 : 1, "E");
  return text;
}

bool allows(std::string_view allowed, std::string_view value) {
  while (true) {
    const size_t comma = allowed.find(", ");
    if (allowed.substr(0, comma) == value) return true;
    if (comma == std::string_view::npos) return false;
    allowed.remove_prefix(comma + 2);
  }
}

Result<std::string> check_number(const ConfigDef& def, std::string shown, double number) {
  if (def.check == Check::kRange) {
    if (number < def.min)
      return invalid(def, shown, fmt::format("Value must be at least {}", def.min));
    if (number > def.max)
      return invalid(def, shown, fmt::format("Value must be no more than {}", def.max));
  }
  if (def.check == Check::kGzipLevel && number != -1 && (number < def.min || number > def.max)) {
    return invalid(def, shown,
                   fmt::format("Value must be between {} and {} or equal to -1", def.min, def.max));
  }
  return shown;
}

bool is_replica_pair(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) return false;
  return std::all_of(text.begin(), text.end(), [&text, colon](const char& c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0 || &c == text.data() + colon;
  });
}

Result<std::string> check_list(const ConfigDef& def, std::string_view value) {
  const std::vector<std::string> items = split_list(value);
  if (def.check == Check::kListOf) {
    for (const std::string& item : items) {
      if (!allows(def.allowed, item))
        return invalid(def, item, fmt::format("String must be one of: {}", def.allowed));
    }
  }
  const std::string joined = fmt::format("{}", fmt::join(items, ","));
  if (def.check == Check::kThrottledReplicas && joined != "*" &&
      !std::all_of(items.begin(), items.end(), is_replica_pair)) {
    return invalid(
        def, fmt::format("[{}]", fmt::join(items, ", ")),
        fmt::format("{} must be the literal '*' or a list of replicas in the following format: "
                    "[partitionId]:[brokerId],[partitionId]:[brokerId],...",
                    def.name));
  }
  return joined;
}

Result<std::string> check_string(const ConfigDef& def, std::string_view value) {
  if (def.check == Check::kOneOf && !allows(def.allowed, value)) {
    return invalid(def, value, fmt::format("String must be one of: {}", def.allowed));
  }
  if (def.check == Check::kOffsetReset && value != "latest" && value != "earliest") {
    if (!by_duration_ms(value)) {
      return invalid(def, value,
                     fmt::format("Invalid value `{}` for configuration {}. The value must be "
                                 "either 'earliest', 'latest' "
                                 "or of the format 'by_duration:<PnDTnHnMn.nS>'.",
                                 value, def.name));
    }
  }
  if (def.check == Check::kDeadLetterTopic && value.starts_with("__")) {
    return error(ErrorCode::INVALID_CONFIG,
                 fmt::format("{}: DLQ topic name must not start with '__'", def.name));
  }
  return std::string(value);
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> items;
  text = trim(text);
  if (text.empty()) return items;
  while (true) {
    const size_t comma = text.find(',');
    items.emplace_back(trim(text.substr(0, comma)));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

const ConfigDef* find_config(std::span<const ConfigDef> table, std::string_view name) {
  const auto at =
      std::lower_bound(table.begin(), table.end(), name,
                       [](const ConfigDef& def, std::string_view key) { return def.name < key; });
  return at == table.end() || at->name != name ? nullptr : &*at;
}

const ConfigDef* find_listener_config(std::string_view name) {
  constexpr std::string_view kPrefix = "listener.name.";
  if (!name.starts_with(kPrefix)) return nullptr;
  name.remove_prefix(kPrefix.size());
  for (int i = 0; i < 2; ++i) {
    const size_t dot = name.find('.');
    if (dot == std::string_view::npos) return nullptr;
    name.remove_prefix(dot + 1);
    if (const ConfigDef* def = find_config(broker_config_defs(), name)) return def;
  }
  return nullptr;
}

Result<std::string> parse_config(const ConfigDef& def, std::string_view value) {
  const std::string_view text = trim(value);
  switch (def.type) {
    case ConfigType::kBoolean: {
      std::string lower(text);
      std::transform(lower.begin(), lower.end(), lower.begin(),
                     [](unsigned char c) { return std::tolower(c); });
      if (lower == "true" || lower == "false") return lower;
      return invalid(def, value, "Expected value to be either true or false");
    }
    case ConfigType::kInt:
    case ConfigType::kShort:
    case ConfigType::kLong: {
      const std::optional<int64_t> number = parse_integer(text, def.type);
      if (!number)
        return invalid(def, value, fmt::format("Not a number of type {}", name_of(def.type)));
      return check_number(def, std::to_string(*number), static_cast<double>(*number));
    }
    case ConfigType::kDouble: {
      const std::optional<double> number = parse_double(text);
      if (!number)
        return invalid(def, value, fmt::format("Not a number of type {}", name_of(def.type)));
      return check_number(def, show_double(*number), *number);
    }
    case ConfigType::kList: return check_list(def, text);
    default: return check_string(def, text);
  }
}

}  // namespace ackord::metadata
