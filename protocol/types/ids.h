// Strong types for the identifiers of Kafka's schemas (their entityType): two kinds of id never mix
// by accident.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "protocol/types/string.h"

namespace ackord {

using TimeMs = int64_t;  // milliseconds since the Unix epoch
using Offset = int64_t;  // a record's place in its partition

// Text ids. Ownership as in String.
#define ACKORD_TEXT_ID(Name)                                                              \
  class Name : public String {                                                            \
   public:                                                                                \
    using String::String;                                                                 \
    static Name view(std::string_view text) { return Name(String::view(text), Moved{}); } \
                                                                                          \
   private:                                                                               \
    struct Moved {};                                                                      \
    Name(String&& text, Moved) : String(std::move(text)) {}                               \
  }

ACKORD_TEXT_ID(TopicName);
ACKORD_TEXT_ID(GroupId);
ACKORD_TEXT_ID(TransactionalId);
#undef ACKORD_TEXT_ID

// Number ids.
template <class Tag, class Number>
struct NumberId {
  Number value = -1;

  constexpr NumberId() = default;
  constexpr explicit NumberId(Number number) : value(number) {}
  friend constexpr bool operator==(NumberId, NumberId) = default;
  friend constexpr auto operator<=>(NumberId, NumberId) = default;
  friend std::ostream& operator<<(std::ostream& out, NumberId id) { return out << id.value; }
};
using ProducerId = NumberId<struct ProducerIdTag, int64_t>;
using BrokerId = NumberId<struct BrokerIdTag, int32_t>;

// 16 bytes in network order, as on the wire.
struct Uuid {
  std::array<uint8_t, 16> bytes{};

  // 22 characters of URL-safe base64 without padding, Kafka's text form.
  std::string to_string() const;
  // False when the text is not one; then `out` is unchanged.
  static bool parse(std::string_view text, Uuid& out);
  bool is_zero() const { return *this == Uuid{}; }
  friend bool operator==(const Uuid&, const Uuid&) = default;
  friend auto operator<=>(const Uuid&, const Uuid&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Uuid& id) {
    return out << id.to_string();
  }
};

struct TopicPartition {
  TopicName topic;
  int32_t partition = 0;
  friend bool operator==(const TopicPartition&, const TopicPartition&) = default;
  friend std::strong_ordering operator<=>(const TopicPartition& a, const TopicPartition& b) {
    if (auto c = a.topic <=> b.topic; c != 0) return c;
    return a.partition <=> b.partition;
  }
};

struct TopicIdPartition {
  Uuid topic_id;
  int32_t partition = 0;
  friend bool operator==(const TopicIdPartition&, const TopicIdPartition&) = default;
  friend auto operator<=>(const TopicIdPartition&, const TopicIdPartition&) = default;
};

}  // namespace ackord

template <class Tag, class Number>
struct std::hash<ackord::NumberId<Tag, Number>> {
  size_t operator()(ackord::NumberId<Tag, Number> id) const {
    return std::hash<Number>()(id.value);
  }
};
template <>
struct std::hash<ackord::TopicName> : std::hash<ackord::String> {};
template <>
struct std::hash<ackord::GroupId> : std::hash<ackord::String> {};
template <>
struct std::hash<ackord::TransactionalId> : std::hash<ackord::String> {};
template <>
struct std::hash<ackord::Uuid> {
  size_t operator()(const ackord::Uuid& id) const;
};
template <>
struct std::hash<ackord::TopicPartition> {
  size_t operator()(const ackord::TopicPartition& tp) const {
    return std::hash<ackord::TopicName>()(tp.topic) * 31 + static_cast<size_t>(tp.partition);
  }
};
template <>
struct std::hash<ackord::TopicIdPartition> {
  size_t operator()(const ackord::TopicIdPartition& tp) const {
    return std::hash<ackord::Uuid>()(tp.topic_id) * 31 + static_cast<size_t>(tp.partition);
  }
};
