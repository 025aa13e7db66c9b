#include "codegen/schema/versions.h"

#include <algorithm>
#include <charconv>

namespace ackord::codegen {
namespace {

std::optional<int16_t> number(std::string_view text) {
  int16_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Versions> Versions::parse(std::string_view text) {
  if (text == "none") return none();
  if (!text.empty() && text.back() == '+') {
    const auto low = number(text.substr(0, text.size() - 1));
    if (!low) return std::nullopt;
    return Versions{*low, kLast};
  }
  const size_t dash = text.find('-');
  const auto low = number(text.substr(0, dash));
  const auto high = dash == std::string_view::npos ? low : number(text.substr(dash + 1));
  if (!low || !high || *low > *high) return std::nullopt;
  return Versions{*low, *high};
}

Versions Versions::intersect(Versions other) const {
  const Versions both{std::max(low, other.low), std::min(high, other.high)};
  return both.empty() ? none() : both;
}

std::string Versions::to_string() const {
  if (empty()) return "none";
  if (high == kLast) return std::to_string(low) + "+";
  if (low == high) return std::to_string(low);
  return std::to_string(low) + "-" + std::to_string(high);
}

}  // namespace ackord::codegen
