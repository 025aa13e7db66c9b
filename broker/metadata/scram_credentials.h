// SCRAM credentials (KIP-554): what users prove themselves with. Pure; any thread. Codes and texts
// are Kafka 4.4's. A password is never here: clients send it salted, and of that only the two keys
// of RFC 5802 are kept.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "protocol/generated/remove_user_scram_credential_record.h"
#include "protocol/generated/user_scram_credential_record.h"
#include "protocol/types/result.h"

namespace ackord::metadata {

// The numbers are the protocol's.
enum class ScramMechanism : int8_t { kSha256 = 1, kSha512 = 2 };

struct ScramCredential {
  std::string salt;
  std::string stored_key;
  std::string server_key;
  int32_t iterations = 0;
};
// User → mechanism → credential.
using ScramCredentials =
    std::map<std::string, std::map<ScramMechanism, ScramCredential>, std::less<>>;

struct ScramDeletion {
  std::string user;
  int8_t mechanism = 0;
};
struct ScramUpsertion {
  std::string user;
  int8_t mechanism = 0;
  int32_t iterations = 0;
  std::string salt;
  std::string salted_password;
};

using ScramRecord =
    std::variant<protocol::UserScramCredentialRecord, protocol::RemoveUserScramCredentialRecord>;
// Each user that was named, and what was wrong.
using ScramResults = std::map<std::string, std::optional<Error>>;
struct ScramPlan {
  ScramResults users;
  std::vector<ScramRecord> records;  // of those with whom nothing was wrong
};
// Each user stands for itself. UNACCEPTABLE_CREDENTIAL, UNSUPPORTED_SASL_MECHANISM,
// RESOURCE_NOT_FOUND, DUPLICATE_RESOURCE.
ScramPlan plan_scram_changes(const ScramCredentials& credentials,
                             const std::vector<ScramDeletion>& deletions,
                             const std::vector<ScramUpsertion>& upsertions);

protocol::UserScramCredentialRecord scram_record(const std::string& user, ScramMechanism mechanism,
                                                 const ScramCredential& credential);
void apply_scram(ScramCredentials& credentials, const protocol::UserScramCredentialRecord& record);
void apply_scram(ScramCredentials& credentials,
                 const protocol::RemoveUserScramCredentialRecord& record);

}  // namespace ackord::metadata
