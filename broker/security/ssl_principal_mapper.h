// SslPrincipalMapper: the user's name that the subject of a client's certificate stands for
// (ssl.principal.mapping.rules, KIP-371). Immutable; any thread.
//   RULE:^CN=([^,]*),.*$/$1/L, DEFAULT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types/result.h"

namespace ackord::security {

class SslPrincipalMapper {
 public:
  // Errors: INVALID_CONFIG; a rule that is none, a pattern that RE2 does not read (it has no look-
  // ahead and no back references).
  static Result<SslPrincipalMapper> make(std::string_view rules);
  SslPrincipalMapper(SslPrincipalMapper&&) noexcept;
  SslPrincipalMapper& operator=(SslPrincipalMapper&&) noexcept;
  ~SslPrincipalMapper();

  // Of the first rule that applies; nullopt: none does, and the peer is not taken.
  std::optional<std::string> name_of(const std::string& distinguished_name) const;

 private:
  struct Rule;

  SslPrincipalMapper();

  std::vector<std::unique_ptr<Rule>> rules_;
};

}  // namespace ackord::security
