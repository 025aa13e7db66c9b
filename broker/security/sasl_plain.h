// SASL PLAIN (RFC 4616): the client sends name and password. Only over TLS is that safe. Users are
// those of the listener's JAAS entry.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "broker/security/sasl_exchange.h"

namespace ackord::security {

// Immutable after start-up; any thread. Passwords are kept as keyed digests only.
class PlainUsers {
 public:
  // `key`: random bytes of this process.
  explicit PlainUsers(std::string key) : key_(std::move(key)) {}

  void add(std::string user, std::string_view password);
  bool empty() const { return digests_.empty(); }
  // Takes as long for a user that is not there.
  bool verify(std::string_view user, std::string_view password) const;

 private:
  std::string key_;
  std::map<std::string, std::string, std::less<>> digests_;
};

// `users` outlives it.
std::unique_ptr<SaslExchange> make_plain_exchange(const PlainUsers& users);

}  // namespace ackord::security
