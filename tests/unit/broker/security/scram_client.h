// The client's side of SCRAM, for tests, and credentials as a broker keeps them.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "broker/security/base64.h"
#include "broker/security/sasl_scram.h"

namespace ackord::security {

inline metadata::ScramCredential credential_of(metadata::ScramMechanism mechanism,
                                               std::string_view password, std::string salt,
                                               int iterations) {
  const Digest digest = digest_of(mechanism);
  const std::string salted = pbkdf2(digest, password, salt, iterations);
  return {std::move(salt), hash(digest, hmac(digest, salted, "Client Key")),
          hmac(digest, salted, "Server Key"), iterations};
}

class FixedCredentials final : public SaslCredentials {
 public:
  std::optional<metadata::ScramCredential> scram(metadata::ScramMechanism mechanism,
                                                 std::string_view user) const override {
    const auto found = users.find({mechanism, std::string(user)});
    if (found == users.end()) return std::nullopt;
    return found->second;
  }
  std::map<std::pair<metadata::ScramMechanism, std::string>, metadata::ScramCredential> users;
};

class ScramClient {
 public:
  ScramClient(metadata::ScramMechanism mechanism, std::string user, std::string password)
      : digest_(digest_of(mechanism)), password_(std::move(password)) {
    bare_ = "n=" + user + ",r=" + nonce_;
  }
  void use_nonce(std::string_view user, std::string nonce) {
    nonce_ = std::move(nonce);
    bare_ = "n=" + std::string(user) + ",r=" + nonce_;
  }
  // ",name=value"
  void extend(std::string_view extension) { bare_ += extension; }
  void use_header(std::string header) { header_ = std::move(header); }

  std::string first() const { return header_ + bare_; }
  // Its final message; `extension` as in extend().
  std::string last(const std::string& server_first, const std::string& extension = "",
                   const std::string& before_nonce = "") {
    const auto field = [&server_first](std::string_view name) {
      const size_t begin = server_first.find(name) + name.size();
      return server_first.substr(begin, server_first.find(',', begin) - begin);
    };
    const std::string salted =
        pbkdf2(digest_, password_, *from_base64(field(",s=")), std::stoi(field(",i=")));
    const std::string key = hmac(digest_, salted, "Client Key");
    const std::string without_proof =
        "c=" + to_base64(header_) + ",r=" + before_nonce + field("r=") + extension;
    const std::string spoken = bare_ + "," + server_first + "," + without_proof;
    const std::string signature = hmac(digest_, hash(digest_, key), spoken);
    std::string proof = key;
    for (size_t i = 0; i < proof.size(); ++i) proof[i] = static_cast<char>(proof[i] ^ signature[i]);
    expected_ = "v=" + to_base64(hmac(digest_, hmac(digest_, salted, "Server Key"), spoken));
    return without_proof + ",p=" + to_base64(proof);
  }
  // What a broker that knows the password answers to last().
  const std::string& expected() const { return expected_; }

 private:
  Digest digest_;
  std::string password_;
  std::string header_ = "n,,";
  std::string nonce_ = "clientnonce";
  std::string bare_;
  std::string expected_;
};

}  // namespace ackord::security
