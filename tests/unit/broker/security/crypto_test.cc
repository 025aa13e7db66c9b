#include "broker/security/crypto.h"

#include <gtest/gtest.h>

#include "broker/security/base64.h"

namespace ackord::security {
namespace {

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out += kDigits[static_cast<uint8_t>(byte) >> 4];
    out += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return out;
}

// RFC 4231, test case 2; RFC 7914, section 11; FIPS 180-2.
TEST(Crypto, KnownAnswers) {
  EXPECT_EQ(hex(hash(Digest::kSha256, "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(hmac(Digest::kSha256, "Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex(hmac(Digest::kSha512, "Jefe", "what do ya want for nothing?")),
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
            "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737");
  EXPECT_EQ(hex(pbkdf2(Digest::kSha256, "passwd", "salt", 1)),
            "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
  EXPECT_EQ(hmac(Digest::kSha256, "", "x").size(), 32u);
}

TEST(Crypto, SecretsAreEqualOnlyWhole) {
  EXPECT_TRUE(equal_secrets("abc", "abc"));
  EXPECT_TRUE(equal_secrets("", ""));
  EXPECT_FALSE(equal_secrets("abc", "abd"));
  EXPECT_FALSE(equal_secrets("abc", "ab"));
  EXPECT_NE(random_bytes(32), random_bytes(32));
}

// RFC 4648, section 10.
TEST(Base64, BothWays) {
  for (const auto& [bytes, text] :
       std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                        {"f", "Zg=="},
                                                        {"fo", "Zm8="},
                                                        {"foo", "Zm9v"},
                                                        {"foob", "Zm9vYg=="},
                                                        {"fooba", "Zm9vYmE="},
                                                        {"foobar", "Zm9vYmFy"},
                                                        {"\xfb\xff", "+/8="}}) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
  EXPECT_EQ(to_base64url("\xfb\xff"), "-_8");
  EXPECT_EQ(from_base64url("-_8"), "\xfb\xff");
}

TEST(Base64, AnythingElseIsRefused) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "====", "=", "Z===", "Zm9v\n", "Zm 9",
                           "-_8=", "Zg==Zg==", "Zm9vYg=g", "Zh=="})
    EXPECT_FALSE(from_base64(text)) << text;
  for (const char* text : {"A", "AAAAA", "+/8", "Zg==", "Zm9v "})
    EXPECT_FALSE(from_base64url(text)) << text;
}

}  // namespace
}  // namespace ackord::security
