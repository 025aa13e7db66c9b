// Base64 with the standard alphabet and padding, as Kafka's JSON form has it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ackord::protocol {

std::string base64_of(std::span<const std::byte> bytes);
// False when the text is not base64; then `out` is unchanged.
bool parse_base64(std::string_view text, std::vector<std::byte>& out);

}  // namespace ackord::protocol
