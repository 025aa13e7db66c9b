#include "broker/metadata/scram_credentials.h"

#include <sodium.h>

#include <array>
#include <string_view>
#include <utility>

namespace ackord::metadata {
namespace {

constexpr int32_t kFewestIterations = 4096;
constexpr int32_t kMostIterations = 16384;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
template <size_t kSize>
std::string text_of(const std::array<unsigned char, kSize>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Sha256 {
  static std::string hmac(std::string_view key, std::string_view message) {
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, bytes_of(key), key.size());
    crypto_auth_hmacsha256_update(&state, bytes_of(message), message.size());
    std::array<unsigned char, crypto_auth_hmacsha256_BYTES> out{};
    crypto_auth_hmacsha256_final(&state, out.data());
    return text_of(out);
  }
  static std::string hash(std::string_view message) {
    std::array<unsigned char, crypto_hash_sha256_BYTES> out{};
    crypto_hash_sha256(out.data(), bytes_of(message), message.size());
    return text_of(out);
  }
};

struct Sha512 {
  static std::string hmac(std::string_view key, std::string_view message) {
    crypto_auth_hmacsha512_state state;
    crypto_auth_hmacsha512_init(&state, bytes_of(key), key.size());
    crypto_auth_hmacsha512_update(&state, bytes_of(message), message.size());
    std::array<unsigned char, crypto_auth_hmacsha512_BYTES> out{};
    crypto_auth_hmacsha512_final(&state, out.data());
    return text_of(out);
  }
  static std::string hash(std::string_view message) {
    std::array<unsigned char, crypto_hash_sha512_BYTES> out{};
    crypto_hash_sha512(out.data(), bytes_of(message), message.size());
    return text_of(out);
  }
};

// RFC 5802, section 3.
template <class Hash>
ScramCredential derived(const ScramUpsertion& upsertion) {
  ScramCredential credential;
  credential.salt = upsertion.salt;
  credential.iterations = upsertion.iterations;
  credential.stored_key = Hash::hash(Hash::hmac(upsertion.salted_password, "Client Key"));
  credential.server_key = Hash::hmac(upsertion.salted_password, "Server Key");
  return credential;
}

ScramCredential derived(ScramMechanism mechanism, const ScramUpsertion& upsertion) {
  return mechanism == ScramMechanism::kSha256 ? derived<Sha256>(upsertion)
                                              : derived<Sha512>(upsertion);
}

std::optional<ScramMechanism> known(int8_t mechanism) {
  const auto named = static_cast<ScramMechanism>(mechanism);
  if (named != ScramMechanism::kSha256 && named != ScramMechanism::kSha512) return std::nullopt;
  return named;
}

std::optional<Error> check_names(const std::string& user, int8_t mechanism) {
  if (user.empty()) return error(ErrorCode::UNACCEPTABLE_CREDENTIAL, "Username must not be empty");
  if (!known(mechanism))
    return error(ErrorCode::UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism");
  return std::nullopt;
}

std::optional<Error> check(const ScramCredentials& credentials, const ScramDeletion& deletion) {
  if (auto wrong = check_names(deletion.user, deletion.mechanism)) return wrong;
  const auto user = credentials.find(deletion.user);
  if (user == credentials.end() || !user->second.contains(*known(deletion.mechanism))) {
    return error(ErrorCode::RESOURCE_NOT_FOUND,
                 "Attempt to delete a user credential that does not exist");
  }
  return std::nullopt;
}

std::optional<Error> check(const ScramUpsertion& upsertion) {
  if (auto wrong = check_names(upsertion.user, upsertion.mechanism)) return wrong;
  if (upsertion.iterations < kFewestIterations)
    return error(ErrorCode::UNACCEPTABLE_CREDENTIAL, "Too few iterations");
  if (upsertion.iterations > kMostIterations)
    return error(ErrorCode::UNACCEPTABLE_CREDENTIAL, "Too many iterations");
  return std::nullopt;
}

}  // namespace

ScramPlan plan_scram_changes(const ScramCredentials& credentials,
                             const std::vector<ScramDeletion>& deletions,
                             const std::vector<ScramUpsertion>& upsertions) {
  ScramPlan plan;
  const auto note = [&plan](const std::string& user, std::optional<Error> wrong) {
    const auto [at, first] = plan.users.emplace(user, std::move(wrong));
    if (!first) {
      at->second = error(ErrorCode::DUPLICATE_RESOURCE,
                         "A user credential cannot be altered twice in the same request");
    }
  };
  for (const ScramDeletion& one : deletions) note(one.user, check(credentials, one));
  for (const ScramUpsertion& one : upsertions) note(one.user, check(one));
  for (const ScramDeletion& one : deletions) {
    if (plan.users.at(one.user)) continue;
    protocol::RemoveUserScramCredentialRecord record;
    record.name = String(one.user);
    record.mechanism = one.mechanism;
    plan.records.emplace_back(std::move(record));
  }
  for (const ScramUpsertion& one : upsertions) {
    if (plan.users.at(one.user)) continue;
    const ScramMechanism mechanism = *known(one.mechanism);
    plan.records.emplace_back(scram_record(one.user, mechanism, derived(mechanism, one)));
  }
  return plan;
}

protocol::UserScramCredentialRecord scram_record(const std::string& user, ScramMechanism mechanism,
                                                 const ScramCredential& credential) {
  protocol::UserScramCredentialRecord record;
  record.name = String(user);
  record.mechanism = static_cast<int8_t>(mechanism);
  record.salt = Bytes(credential.salt);
  record.stored_key = Bytes(credential.stored_key);
  record.server_key = Bytes(credential.server_key);
  record.iterations = credential.iterations;
  return record;
}

void apply_scram(ScramCredentials& credentials, const protocol::UserScramCredentialRecord& record) {
  const auto mechanism = known(record.mechanism);
  if (!mechanism) return;
  credentials[record.name.str()][*mechanism] = {
      std::string(record.salt.sv()), std::string(record.stored_key.sv()),
      std::string(record.server_key.sv()), record.iterations};
}

void apply_scram(ScramCredentials& credentials,
                 const protocol::RemoveUserScramCredentialRecord& record) {
  const auto user = credentials.find(record.name.sv());
  const auto mechanism = known(record.mechanism);
  if (user == credentials.end() || !mechanism) return;
  user->second.erase(*mechanism);
  if (user->second.empty()) credentials.erase(user);
}

}  // namespace ackord::metadata
