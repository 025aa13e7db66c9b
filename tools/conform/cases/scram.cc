// Describe- and AlterUserScramCredentials: users and what they prove themselves with.
#include "tools/conform/case.h"
#include "tools/conform/kit/kit.h"

namespace ackord::conform {

AREA("scram", "SCRAM credentials (KIP-554)");

namespace {

constexpr const char* kSpec = "KIP-554";
constexpr int kSha256 = 1;
constexpr int kSha512 = 2;

Object upsertion(const std::string& user, int mechanism, int iterations = 4096) {
  return {{"name", user},
          {"mechanism", mechanism},
          {"iterations", iterations},
          {"salt", bytes("salt")},
          {"saltedPassword", bytes(std::string(mechanism == kSha512 ? 64 : 32, 'p'))}};
}
Object deletion(const std::string& user, int mechanism) {
  return {{"name", user}, {"mechanism", mechanism}};
}

Value alter(Kit& kit, const json::array& deletions, const json::array& upsertions) {
  return kit.ask("AlterUserScramCredentials", 0,
                 {{"deletions", deletions}, {"upsertions", upsertions}})["results"];
}
void set(Kit& kit, const Object& upserted) {
  const Value results = alter(kit, list(), list(upserted));
  results.has_size(1);
  results[0]["user"].is(upserted.at("name"));
  results[0]["errorCode"].is_none();
  results[0]["errorMessage"].is_null();
}
void expect_refused(Kit& kit, const json::array& deletions, const json::array& upsertions,
                    ErrorCode code) {
  const Value results = alter(kit, deletions, upsertions);
  results.has_size(1);
  results[0]["errorCode"].is(code);
  results[0]["errorMessage"].is_not_empty();
}

Value describe(Kit& kit, const json::value& users) {
  const Value answer = kit.ask("DescribeUserScramCredentials", 0, {{"users", users}});
  answer["errorCode"].is_none();
  return answer["results"];
}
// Mechanism and iterations of each of a user's credentials, once they are these.
void expect_credentials(Kit& kit, const std::string& user,
                        const std::vector<std::pair<int, int>>& expected) {
  kit.until("the credentials of " + user, [&] {
    const Value result = describe(kit, list(Object{{"name", user}}))[0];
    if (expected.empty()) return result["errorCode"].error() == ErrorCode::RESOURCE_NOT_FOUND;
    std::vector<std::pair<int, int>> found;
    for (const Value& info : result["credentialInfos"].items())
      found.emplace_back(info["mechanism"].number(), info["iterations"].number());
    std::ranges::sort(found);
    return found == expected;
  });
}

}  // namespace

CASE(set_and_delete, kSpec) {
  const std::string user = kit.name("user");
  set(kit, upsertion(user, kSha256));
  expect_credentials(kit, user, {{kSha256, 4096}});
  set(kit, upsertion(user, kSha512, 8192));
  expect_credentials(kit, user, {{kSha256, 4096}, {kSha512, 8192}});
  set(kit, upsertion(user, kSha256, 4097));
  expect_credentials(kit, user, {{kSha256, 4097}, {kSha512, 8192}});
  for (const int mechanism : {kSha256, kSha512})
    alter(kit, list(deletion(user, mechanism)), list())[0]["errorCode"].is_none();
  expect_credentials(kit, user, {});
}

CASE(described_among_all, kSpec) {
  const std::string user = kit.name("user");
  set(kit, upsertion(user, kSha256));
  expect_credentials(kit, user, {{kSha256, 4096}});
  for (const json::value& users : {json::value(nullptr), json::value(list())}) {
    const Value result = describe(kit, users).with("user", user);
    result["errorCode"].is_none();
    result["credentialInfos"].has_size(1);
  }
  alter(kit, list(deletion(user, kSha256)), list())[0]["errorCode"].is_none();
}

CASE(unknown_user, kSpec) {
  for (const std::string& user : {kit.name("nobody"), std::string()}) {
    const Value result = describe(kit, list(Object{{"name", user}}))[0];
    result["user"].is(user);
    result["errorCode"].is(ErrorCode::RESOURCE_NOT_FOUND);
    result["errorMessage"].is_not_empty();
    result["credentialInfos"].has_size(0);
  }
}

CASE(user_twice, kSpec) {
  const Object user{{"name", kit.name("user")}};
  const Value results = describe(kit, list(user, user));
  results.has_size(1);
  results[0]["errorCode"].is(ErrorCode::DUPLICATE_RESOURCE);
}

CASE(iterations, kSpec) {
  const std::string user = kit.name("user");
  for (const int count : {0, 4095, 16385, -1})
    expect_refused(kit, list(), list(upsertion(user, kSha256, count)),
                   ErrorCode::UNACCEPTABLE_CREDENTIAL);
  expect_credentials(kit, user, {});
}

CASE(unknown_mechanisms, kSpec) {
  const std::string user = kit.name("user");
  for (const int mechanism : {0, 3, -1}) {
    expect_refused(kit, list(), list(upsertion(user, mechanism)),
                   ErrorCode::UNSUPPORTED_SASL_MECHANISM);
    expect_refused(kit, list(deletion(user, mechanism)), list(),
                   ErrorCode::UNSUPPORTED_SASL_MECHANISM);
  }
}

CASE(no_name, kSpec) {
  expect_refused(kit, list(), list(upsertion("", kSha256)), ErrorCode::UNACCEPTABLE_CREDENTIAL);
  expect_refused(kit, list(deletion("", kSha256)), list(), ErrorCode::UNACCEPTABLE_CREDENTIAL);
}

CASE(delete_what_is_not_there, kSpec) {
  expect_refused(kit, list(deletion(kit.name("nobody"), kSha256)), list(),
                 ErrorCode::RESOURCE_NOT_FOUND);
  const std::string user = kit.name("user");
  set(kit, upsertion(user, kSha256));
  expect_refused(kit, list(deletion(user, kSha512)), list(), ErrorCode::RESOURCE_NOT_FOUND);
  alter(kit, list(deletion(user, kSha256)), list())[0]["errorCode"].is_none();
}

// One request changes a user once at most, in either way.
CASE(changes_twice, kSpec) {
  const std::string user = kit.name("user");
  set(kit, upsertion(user, kSha256));
  expect_credentials(kit, user, {{kSha256, 4096}});
  expect_refused(kit, list(), list(upsertion(user, kSha512), upsertion(user, kSha512)),
                 ErrorCode::DUPLICATE_RESOURCE);
  expect_refused(kit, list(deletion(user, kSha256), deletion(user, kSha256)), list(),
                 ErrorCode::DUPLICATE_RESOURCE);
  for (const int mechanism : {kSha256, kSha512})
    expect_refused(kit, list(deletion(user, kSha256)), list(upsertion(user, mechanism)),
                   ErrorCode::DUPLICATE_RESOURCE);
  expect_credentials(kit, user, {{kSha256, 4096}});
  alter(kit, list(deletion(user, kSha256)), list())[0]["errorCode"].is_none();
}

CASE(bad_among_good, kSpec) {
  const std::string user = kit.name("user");
  const std::string nobody = kit.name("nobody");
  const Value results = alter(kit, list(deletion(nobody, kSha256)), list(upsertion(user, kSha256)));
  results.has_size(2);
  results.with("user", nobody)["errorCode"].is(ErrorCode::RESOURCE_NOT_FOUND);
  results.with("user", user)["errorCode"].is_none();
  expect_credentials(kit, user, {{kSha256, 4096}});
  alter(kit, list(deletion(user, kSha256)), list())[0]["errorCode"].is_none();
}

CASE(nothing, kSpec) { alter(kit, list(), list()).has_size(0); }

}  // namespace ackord::conform
