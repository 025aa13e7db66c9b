#include "broker/log/log_names.h"

#include <fmt/format.h>

#include <charconv>

namespace ackord::log::names {
namespace {

constexpr size_t kOffsetDigits = 20;
constexpr size_t kMaxNameSize = 255;

template <class Number>
std::optional<Number> parse_number(std::string_view digits) {
  Number value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc() || end != digits.data() + digits.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::string join(std::string_view directory, std::string_view name) {
  return fmt::format("{}/{}", directory, name);
}

std::string file_name(Offset base_offset, std::string_view suffix) {
  return fmt::format("{:020}{}", base_offset, suffix);
}

std::optional<Offset> parse_file_name(std::string_view name, std::string_view suffix) {
  if (name.size() != kOffsetDigits + suffix.size() || !name.ends_with(suffix)) return std::nullopt;
  return parse_number<Offset>(name.substr(0, kOffsetDigits));
}

std::string folder_name(const TopicPartition& partition) {
  return fmt::format("{}-{}", partition.topic.sv(), partition.partition);
}

std::optional<TopicPartition> parse_folder_name(std::string_view name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const auto number = parse_number<int32_t>(name.substr(dash + 1));
  if (!number || name[dash + 1] == '+') return std::nullopt;
  return TopicPartition{TopicName(std::string(name.substr(0, dash))), *number};
}

std::string deleted_folder_name(const TopicPartition& partition, const Uuid& unique) {
  std::string hex;
  for (const uint8_t byte : unique.bytes) hex += fmt::format("{:02x}", byte);
  const std::string suffix = fmt::format("-{}.{}{}", partition.partition, hex, kDeleteSuffix);
  return fmt::format("{}{}", partition.topic.sv().substr(0, kMaxNameSize - suffix.size()), suffix);
}

}  // namespace ackord::log::names
