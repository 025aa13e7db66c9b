// Principal: who a connection speaks for (KIP-4, KafkaPrincipal). A value; free to copy.
#pragma once

#include <string>

namespace ackord::security {

struct Principal {
  std::string type = "User";
  std::string name = "ANONYMOUS";    // where nothing was proved
  bool token_authenticated = false;  // by a delegation token (KIP-48)

  // As ACLs and super.users write it.
  std::string str() const { return type + ":" + name; }
  friend bool operator==(const Principal&, const Principal&) = default;
};

}  // namespace ackord::security
