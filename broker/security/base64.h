// Base64 (RFC 4648): the standard alphabet with padding, and the URL's without. Decoding is strict:
// nothing but the alphabet, the padding just so. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ackord::security {

std::string to_base64(std::string_view bytes);
// nullopt for what is none.
std::optional<std::string> from_base64(std::string_view text);
std::string to_base64url(std::string_view bytes);
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace ackord::security
