// Text from the wire as Java reads it: what is no UTF-8 becomes U+FFFD, once for each maximal part
// of a character that could have been one (Unicode 3.9, "U+FFFD substitution"), and once for a
// surrogate. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace ackord::protocol {

bool is_utf8(std::string_view text);
std::string repaired_utf8(std::string_view text);

}  // namespace ackord::protocol
