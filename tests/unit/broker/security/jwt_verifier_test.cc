#include "broker/security/jwt_verifier.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/broker/security/jwt_maker.h"

namespace ackord::security {
namespace {

constexpr int64_t kNow = 1'700'000'000;  // seconds

// Made once: RSA keys take their time.
struct Keys {
  JwtKey rsa = JwtKey::rsa(2048);
  JwtKey other_rsa = JwtKey::rsa(2048);
  JwtKey p256 = JwtKey::ec("P-256", 32);
  JwtKey p384 = JwtKey::ec("P-384", 48);
  JwtKey p521 = JwtKey::ec("P-521", 66);
  std::shared_ptr<const Jwks> set;

  Keys() {
    const std::string json =
        fmt::format(R"({{"keys":[{},{},{},{},{}]}})", rsa.entry(R"("kid":"r1","use":"sig",)"),
                    p256.entry(R"("kid":"e1",)"), p384.entry(R"("kid":"e2",)"),
                    p521.entry(R"("kid":"e3",)"), other_rsa.entry(R"("kid":"enc","use":"enc",)"));
    set = *Jwks::parse(json);
  }
};
const Keys& keys() {
  static const Keys made;
  return made;
}

std::string claims(std::string_view more = "") {
  return fmt::format(
      R"({{"sub":"carol","iss":"https://issuer","aud":"ackord","iat":{},"exp":{}{}}})", kNow - 10,
      kNow + 60, more);
}
// With one claim instead of, or besides, the others; "" takes it away.
std::string with(std::string_view name, std::string_view value) {
  std::string out = "{";
  const auto put = [&](std::string_view claim, std::string usual) {
    const std::string_view chosen = claim == name ? value : usual;
    if (!chosen.empty())
      out += fmt::format("{}\"{}\":{}", out.size() > 1 ? "," : "", claim, chosen);
  };
  for (const auto& [claim, usual] :
       std::vector<std::pair<std::string_view, std::string>>{{"sub", "\"carol\""},
                                                             {"iss", "\"https://issuer\""},
                                                             {"aud", "\"ackord\""},
                                                             {"iat", std::to_string(kNow - 10)},
                                                             {"exp", std::to_string(kNow + 60)},
                                                             {"nbf", ""},
                                                             {"scope", ""}})
    put(claim, usual);
  return out + "}";
}

class JwtVerification : public testing::Test {
 protected:
  JwtVerification() {
    settings_.keys = keys().set;
    settings_.issuer = "https://issuer";
    settings_.audiences = {"ackord", "other"};
  }
  std::string verdict(std::string_view token) {
    const auto verified = JwtVerifier(settings_).verify(token, kNow * 1000);
    if (const auto* why = std::get_if<std::string_view>(&verified)) return std::string(*why);
    return "good";
  }
  std::string of(const std::string& payload) {
    return verdict(keys().rsa.token("RS256", R"({"alg":"RS256","kid":"r1"})", payload));
  }
  std::string headed(const std::string& header, std::string_view algorithm = "RS256") {
    return verdict(keys().rsa.token(algorithm, header, claims()));
  }

  JwtSettings settings_;
};

TEST_F(JwtVerification, EveryAlgorithm) {
  for (const char* algorithm : {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
    EXPECT_EQ(headed(fmt::format(R"({{"alg":"{}","kid":"r1"}})", algorithm), algorithm), "good");
  const Keys& all = keys();
  EXPECT_EQ(verdict(all.p256.token("ES256", R"({"alg":"ES256","kid":"e1"})", claims())), "good");
  EXPECT_EQ(verdict(all.p384.token("ES384", R"({"alg":"ES384"})", claims())), "good");
  EXPECT_EQ(verdict(all.p521.token("ES512", R"({"alg":"ES512","kid":"e3"})", claims())), "good");
}

TEST_F(JwtVerification, TheClaimsComeOut) {
  const auto token = keys().rsa.token("RS256", R"({"alg":"RS256"})", with("sub", "\" carol \""));
  const auto verified = JwtVerifier(settings_).verify(token, kNow * 1000);
  EXPECT_EQ(std::get<JwtClaims>(verified).subject, "carol");
  EXPECT_EQ(std::get<JwtClaims>(verified).expires_at_ms, (kNow + 60) * 1000);
}

TEST_F(JwtVerification, OnlyAKeyOfTheSetCounts) {
  constexpr std::string_view kNoKey = "no key of the set signed it";
  const Keys& all = keys();
  EXPECT_EQ(verdict(all.other_rsa.token("RS256", R"({"alg":"RS256"})", claims())), kNoKey);
  EXPECT_EQ(verdict(all.other_rsa.token("RS256", R"({"alg":"RS256","kid":"enc"})", claims())),
            kNoKey);
  EXPECT_EQ(headed(R"({"alg":"RS256","kid":"zz"})"), kNoKey);
  EXPECT_EQ(headed(R"({"alg":"RS256","kid":"e1"})"), kNoKey);
  EXPECT_EQ(headed(R"({"alg":"PS256","kid":"r1"})"), kNoKey) << "signed with the other padding";
  EXPECT_EQ(headed(R"({"alg":"RS512","kid":"r1"})"), kNoKey);
  EXPECT_EQ(headed(R"({"alg":"HS256","kid":"r1"})"), kNoKey);
  EXPECT_EQ(headed(R"({"alg":"none"})"), kNoKey);
  EXPECT_EQ(headed(R"({"alg":"None"})"), kNoKey);
  EXPECT_EQ(headed(R"({"alg":"ES256"})"), kNoKey);
  EXPECT_EQ(verdict(to_base64url(R"({"alg":"none"})") + "." + to_base64url(claims()) + "."),
            kNoKey);
  std::string token = all.rsa.token("RS256", R"({"alg":"RS256"})", claims());
  token.replace(token.find('.') + 1, token.rfind('.') - token.find('.') - 1,
                to_base64url(with("sub", "\"admin\"")));
  EXPECT_EQ(verdict(token), kNoKey);
}

TEST_F(JwtVerification, AKeyServesTheAlgorithmThatItNames) {
  settings_.keys =
      *Jwks::parse(fmt::format(R"({{"keys":[{}]}})", keys().rsa.entry(R"("alg":"RS256",)")));
  EXPECT_EQ(headed(R"({"alg":"RS256"})"), "good");
  EXPECT_NE(headed(R"({"alg":"PS256"})", "PS256"), "good");
}

TEST_F(JwtVerification, Headers) {
  EXPECT_EQ(headed(R"({"alg":"RS256","typ":"foo","zip":"x"})"), "good");
  EXPECT_EQ(headed(R"({"alg":"RS256","kid":5})"), "malformed");
  EXPECT_EQ(headed(R"({"alg":null})"), "no algorithm");
  EXPECT_EQ(headed("{}"), "no algorithm");
  EXPECT_EQ(headed(R"({"alg":"RS256","crit":["x"],"x":1})"), "an extension");
  EXPECT_EQ(headed(R"({"alg":"RS256","b64":false})"), "an extension");
  EXPECT_EQ(headed("[]"), "malformed");
  EXPECT_EQ(headed("{"), "malformed");
}

TEST_F(JwtVerification, Times) {
  const auto at = [this](std::string_view name, int64_t seconds) {
    return of(with(name, std::to_string(kNow + seconds)));
  };
  EXPECT_EQ(at("exp", -5), "good") << "within the skew";
  EXPECT_EQ(at("exp", -9), "good");
  EXPECT_EQ(at("exp", -11), "expired before it was issued");
  EXPECT_EQ(at("exp", -30), "expired");
  EXPECT_EQ(at("nbf", 30), "good");
  EXPECT_EQ(at("nbf", 31), "not yet");
  EXPECT_EQ(at("nbf", 61), "expired before it began");
  EXPECT_EQ(at("iat", 50), "good");
  EXPECT_EQ(at("iat", 61), "expired before it was issued");
  EXPECT_EQ(of(with("exp", "")), "no expiry");
  EXPECT_EQ(of(with("iat", "")), "no time of issue");
  EXPECT_EQ(of(with("exp", std::to_string(kNow + 60) + ".5")), "good");
  for (const char* value : {"\"1800000000\"", "1e300", "-1e300", "null", "[]",
                            "9223372036854775807", "18446744073709551615", "-9223372036854775808"})
    EXPECT_EQ(of(with("exp", value)), "a time that is none") << value;
  EXPECT_EQ(of(with("exp", "-5")), "no expiry");
  EXPECT_EQ(of(with("iat", "-5")), "no time of issue");
}

TEST_F(JwtVerification, IssuerAndAudience) {
  EXPECT_EQ(of(with("iss", "\"https://issuer/\"")), "another issuer");
  EXPECT_EQ(of(with("iss", "5")), "another issuer");
  EXPECT_EQ(of(with("iss", "")), "another issuer");
  EXPECT_EQ(of(with("aud", "\"x\"")), "another audience");
  EXPECT_EQ(of(with("aud", "")), "another audience");
  EXPECT_EQ(of(with("aud", "[]")), "another audience");
  EXPECT_EQ(of(with("aud", "5")), "another audience");
  EXPECT_EQ(of(with("aud", R"(["ackord",5])")), "another audience");
  EXPECT_EQ(of(with("aud", R"(["x","other"])")), "good");
  settings_.issuer.reset();
  settings_.audiences.clear();
  EXPECT_EQ(of(with("iss", "")), "good");
  EXPECT_EQ(of(with("aud", "")), "good");
  EXPECT_EQ(of(with("aud", "5")), "good");
}

TEST_F(JwtVerification, SubjectAndScope) {
  for (const char* value : {"", "\"\"", "\"  \"", "7", "null"})
    EXPECT_EQ(of(with("sub", value)), "no subject") << value;
  for (const char* value : {"", "\"a b\"", "5", "[]", R"(["a","b"])"})
    EXPECT_EQ(of(with("scope", value)), "good") << value;
  for (const char* value : {"\"\"", "\" \"", R"(["a","a"])", R"(["a"," a"])", R"([""])", "[5]"})
    EXPECT_EQ(of(with("scope", value)), "its scope") << value;
  settings_.subject_claim = "scope";
  settings_.scope_claim = "sub";
  EXPECT_EQ(of(with("scope", "\"dave\"")), "good");
  EXPECT_EQ(of(with("scope", "")), "no subject");
}

TEST_F(JwtVerification, HostileBytes) {
  for (const char* token : {"", ".", "..", "...", "a", "a.b", "a.b.c.d", "e30.e30.", "e30..e30",
                            "=.=.=", "e30=.e30=.e30="})
    EXPECT_NE(verdict(token), "good") << token;
  const std::string good = keys().p256.token("ES256", R"({"alg":"ES256"})", claims());
  ASSERT_EQ(verdict(good), "good");
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    std::string token = good;
    token[random() % token.size()] ^= static_cast<char>(random() % 255 + 1);
    EXPECT_NE(verdict(token), "good") << token;
  }
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(verdict(good.substr(0, size)), "good");
}

TEST(JwtKeys, WhatIsNoKeySet) {
  const auto refusal = [](const std::string& json) {
    const auto set = Jwks::parse(json);
    return set ? "good" : set.error().message;
  };
  EXPECT_THAT(refusal(""), testing::HasSubstr("array"));
  EXPECT_THAT(refusal("[]"), testing::HasSubstr("array"));
  EXPECT_THAT(refusal(R"({"keys":{}})"), testing::HasSubstr("array"));
  for (const std::string& entry :
       {std::string("5"), std::string("{}"), std::string(R"({"kty":"oct","k":"AAAA"})"),
        std::string(R"({"kty":"RSA","n":"AQAB","e":"AQAB"})"),
        std::string(R"({"kty":"EC","crv":"P-256","x":"AA","y":"AA"})"),
        std::string(R"({"kty":"EC","crv":"X","x":"AA","y":"AA"})"), JwtKey::rsa(1024).entry("")})
    EXPECT_THAT(refusal("{\"keys\":[" + entry + "]}"), testing::HasSubstr("none")) << entry;
  // A point that does not lie on the curve.
  const std::string zeros(43, 'A');
  EXPECT_THAT(refusal(fmt::format(
                  R"({{"keys":[{{"kty":"EC","crv":"P-256","x":"{0}","y":"{0}"}}]}})", zeros)),
              testing::HasSubstr("none"));
  EXPECT_EQ(refusal("{\"keys\":[5," + keys().p256.entry("") + "]}"), "good");
}

}  // namespace
}  // namespace ackord::security
