// What the mechanisms need of OpenSSL: digests, keyed digests, comparing in constant time. Any
// thread. Bytes are strings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ackord::security {

enum class Digest { kSha256, kSha512 };
// In bytes.
constexpr size_t digest_size(Digest digest) { return digest == Digest::kSha256 ? 32 : 64; }

std::string hash(Digest digest, std::string_view message);
std::string hmac(Digest digest, std::string_view key, std::string_view message);
// PBKDF2 with HMAC (RFC 8018); as long as the digest. RFC 5802 calls it Hi().
std::string pbkdf2(Digest digest, std::string_view password, std::string_view salt, int iterations);
// Takes as long whatever the content; other lengths are other content.
bool equal_secrets(std::string_view a, std::string_view b);
// From the operating system, through OpenSSL.
std::string random_bytes(size_t count);

}  // namespace ackord::security
