// Messages as JSON, by name. The form is the one of Kafka's JsonConverter classes: names in
// camelCase; bytes and records in base64; uuids as their 22 characters; null for null; every field
// of the version, but a tagged one only if it is not its default.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "protocol/json/missing.h"
#include "protocol/types/result.h"
#include "protocol/wire/reader.h"
#include "protocol/wire/writer.h"

namespace ackord::protocol {

struct JsonMessage {
  std::string_view name;
  int16_t min_version;
  int16_t max_version;
  Result<boost::json::value> (*decode)(Reader& in, int16_t version);
  // Answers what the message's size() says.
  Result<size_t> (*encode)(const boost::json::value& from, int16_t version, Writer& out,
                           Missing missing);
  // What the message's to_string() says.
  Result<std::string> (*print)(Reader& in, int16_t version);
};

std::span<const JsonMessage* const> all_json_messages();
// nullptr when there is none of this name.
const JsonMessage* find_json_message(std::string_view name);

}  // namespace ackord::protocol
