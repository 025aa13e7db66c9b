// Messages between hex and JSON, by name and version.
#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types/result.h"

namespace ackord::codec {

// False when the text is not hex; spaces are skipped.
bool parse_hex(std::string_view text, std::vector<std::byte>& out);
std::string hex_of(const std::vector<std::byte>& bytes);

// Bytes that are left over are an error. INVALID_REQUEST for an unknown message.
Result<boost::json::value> decode(std::string_view message, int16_t version,
                                  const std::vector<std::byte>& bytes);
Result<std::vector<std::byte>> encode(std::string_view message, int16_t version,
                                      const boost::json::value& from);

}  // namespace ackord::codec
