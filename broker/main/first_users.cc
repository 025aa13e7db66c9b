#include "broker/main/first_users.h"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "broker/base/logging.h"
#include "broker/security/base64.h"
#include "broker/security/sasl_listener.h"
#include "broker/security/sasl_scram.h"

namespace ackord::main {
namespace {

using metadata::ScramMechanism;
using metadata::ScramUpsertion;

constexpr int32_t kUsualIterations = 4096;
constexpr int32_t kMostIterations = 16384;  // also kUsualIterations at least: Kafka's bounds
constexpr size_t kSaltBytes = 20;

Error refuse(std::string_view why) {
  return error(ErrorCode::INVALID_CONFIG, fmt::format("--add-scram: {}", why));
}

std::optional<ScramMechanism> mechanism_of(std::string_view name) {
  if (name == security::kScramSha256) return ScramMechanism::kSha256;
  if (name == security::kScramSha512) return ScramMechanism::kSha512;
  return std::nullopt;
}

using Fields = std::map<std::string, std::string, std::less<>>;

// name=value, separated by commas; a value may stand in quotes, and then have commas.
std::optional<Fields> parse_fields(std::string_view rest) {
  Fields fields;
  while (!rest.empty()) {
    const size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    std::string name(rest.substr(0, equals));
    rest.remove_prefix(equals + 1);
    const bool quoted = rest.starts_with('"');
    if (quoted) rest.remove_prefix(1);
    const size_t end = rest.find(quoted ? '"' : ',');
    if (quoted && end == std::string_view::npos) return std::nullopt;
    fields[std::move(name)] = std::string(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + (quoted ? 1 : 0));
    if (rest.empty()) break;
    if (rest.front() != ',' || rest.size() == 1) return std::nullopt;
    rest.remove_prefix(1);
  }
  return fields;
}

std::string take(Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  if (found == fields.end()) return "";
  std::string value = std::move(found->second);
  fields.erase(found);
  return value;
}

Result<ScramUpsertion> user_of(ScramMechanism mechanism, Fields fields) {
  ScramUpsertion user;
  user.mechanism = static_cast<int8_t>(mechanism);
  user.user = take(fields, "name");
  if (user.user.empty()) return refuse("name=… is missing");
  const std::string iterations = take(fields, "iterations");
  user.iterations = kUsualIterations;
  if (!iterations.empty()) {
    const char* end = iterations.data() + iterations.size();
    const auto [read, failed] = std::from_chars(iterations.data(), end, user.iterations);
    if (failed != std::errc() || read != end || user.iterations < kUsualIterations ||
        user.iterations > kMostIterations) {
      return refuse(fmt::format("iterations must be {} to {}", kUsualIterations, kMostIterations));
    }
  }
  const std::string salt = take(fields, "salt");
  const std::string password = take(fields, "password");
  const std::string salted = take(fields, "saltedpassword");
  if (!fields.empty())
    return refuse("known are name, password, iterations, salt and saltedpassword");
  if (password.empty() == salted.empty())
    return refuse("either password=… or saltedpassword=… must be there");
  const security::Digest digest = security::digest_of(mechanism);
  auto salt_bytes = security::from_base64(salt);
  if (!salt_bytes || (salt.empty() && !salted.empty()))
    return refuse("salt must be base64, and be there with saltedpassword");
  user.salt = salt.empty() ? security::random_bytes(kSaltBytes) : std::move(*salt_bytes);
  if (!password.empty()) {
    user.salted_password = security::pbkdf2(digest, password, user.salt, user.iterations);
    return user;
  }
  auto salted_bytes = security::from_base64(salted);
  if (!salted_bytes || salted_bytes->size() != security::digest_size(digest))
    return refuse("saltedpassword must be base64, as long as the mechanism's digest");
  user.salted_password = std::move(*salted_bytes);
  return user;
}

Result<ScramUpsertion> parse_user(std::string_view text) {
  const size_t bracket = text.find("=[");
  const auto mechanism = mechanism_of(text.substr(0, bracket));
  if (bracket == std::string_view::npos || !mechanism || !text.ends_with(']'))
    return refuse("the form is SCRAM-SHA-512=[name=alice,password=secret] (or SCRAM-SHA-256)");
  auto fields = parse_fields(text.substr(bracket + 2, text.size() - bracket - 3));
  if (!fields) return refuse("between the brackets stands name=value,name=value");
  return user_of(*mechanism, std::move(*fields));
}

Result<std::vector<std::string>> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  if (!file) return refuse(fmt::format("cannot read {}", path));
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

Result<std::vector<ScramUpsertion>> parse_first_users(const std::vector<std::string>& texts) {
  std::vector<ScramUpsertion> users;
  for (const std::string& text : texts) {
    std::vector<std::string> lines{text};
    if (text.starts_with('@')) {
      auto read = lines_of(text.substr(1));
      if (!read) return read.error();
      lines = std::move(*read);
    }
    for (const std::string& line : lines) {
      auto user = parse_user(line);
      if (!user) return user.error();
      users.push_back(std::move(*user));
    }
  }
  return users;
}

io::Task<Result<void>> add_first_users(metadata::MetadataService& metadata,
                                       std::vector<ScramUpsertion> users) {
  for (ScramUpsertion& one : users) {
    const std::string name = one.user;
    const auto& known = metadata.image().scram();
    const auto found = known.find(name);
    if (found != known.end() &&
        found->second.contains(static_cast<ScramMechanism>(one.mechanism))) {
      base::log_info("--add-scram: the user is there already, and stays user={}", name);
      continue;
    }
    std::vector<ScramUpsertion> single;
    single.push_back(std::move(one));
    auto altering = metadata.alter_scram({}, std::move(single));
    Result<metadata::ScramResults> altered = co_await std::move(altering);
    if (!altered) co_return altered.error();
    const std::optional<Error>& wrong = altered->at(name);
    if (wrong) co_return refuse(wrong->message);
    base::log_info("--add-scram: a user was made user={}", name);
  }
  co_return Result<void>();
}

}  // namespace ackord::main
