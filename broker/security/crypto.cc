#include "broker/security/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "broker/base/assert.h"

namespace ackord::security {
namespace {

const EVP_MD* method(Digest digest) {
  return digest == Digest::kSha256 ? EVP_sha256() : EVP_sha512();
}

unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string hash(Digest digest, std::string_view message) {
  std::string out(digest_size(digest), '\0');
  const int done =
      EVP_Digest(message.data(), message.size(), bytes_of(out), nullptr, method(digest), nullptr);
  ACKORD_ASSERT(done == 1, "OpenSSL has SHA-2");
  return out;
}

std::string hmac(Digest digest, std::string_view key, std::string_view message) {
  std::string out(digest_size(digest), '\0');
  // A null key would mean something else.
  const char* key_bytes = key.empty() ? "" : key.data();
  const unsigned char* done = HMAC(method(digest), key_bytes, static_cast<int>(key.size()),
                                   bytes_of(message), message.size(), bytes_of(out), nullptr);
  ACKORD_ASSERT(done != nullptr, "OpenSSL has HMAC");
  return out;
}

std::string pbkdf2(Digest digest, std::string_view password, std::string_view salt,
                   int iterations) {
  std::string out(digest_size(digest), '\0');
  const int done = PKCS5_PBKDF2_HMAC(password.data(), static_cast<int>(password.size()),
                                     bytes_of(salt), static_cast<int>(salt.size()), iterations,
                                     method(digest), static_cast<int>(out.size()), bytes_of(out));
  ACKORD_ASSERT(done == 1, "OpenSSL has PBKDF2");
  return out;
}

bool equal_secrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_bytes(size_t count) {
  std::string out(count, '\0');
  const int done = RAND_bytes(bytes_of(out), static_cast<int>(count));
  ACKORD_ASSERT(done == 1, "the system has randomness");
  return out;
}

}  // namespace ackord::security
