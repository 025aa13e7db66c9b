// Jwks: a set of public keys (RFC 7517), and whether one of them made a signature (RFC 7518). RSA
// from 2,048 bits with RS256, RS384, RS512, PS256, PS384, PS512; EC with ES256, ES384, ES512 on
// their curves. Immutable; any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types/result.h"

namespace ackord::security {

class Jwks {
 public:
  // The text of a JWKS file. Keys of other kinds, and those not for signatures, are passed over.
  // Errors: INVALID_CONFIG: not a key set, or none of its keys can be used.
  static Result<std::shared_ptr<const Jwks>> parse(std::string_view json);
  ~Jwks();

  size_t size() const;
  // `algorithm` and `key_id` are those of the token's header. A key that names an algorithm serves
  // that one alone; without `key_id` every key that fits is tried.
  bool verify(std::string_view algorithm, std::optional<std::string_view> key_id,
              std::string_view signed_text, std::string_view signature) const;

 private:
  struct Key;
  Jwks();

  std::vector<Key> keys_;
};

}  // namespace ackord::security
