// Signs JSON Web Tokens, for tests: keys made by OpenSSL, and the key set that a broker reads.
#pragma once

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker/security/base64.h"

namespace ackord::security {

class JwtKey {
 public:
  // "RSA" with so many bits, or "EC" on a curve.
  static JwtKey rsa(unsigned bits) { return JwtKey(EVP_RSA_gen(bits), 0); }
  static JwtKey ec(const char* curve, size_t coordinate_bytes) {
    return JwtKey(EVP_EC_gen(curve), coordinate_bytes);
  }

  // An entry of "keys"; `fields` are put before the key's own: "\"kid\":\"a\",".
  std::string entry(const std::string& fields) const {
    if (coordinate_bytes_ == 0) {
      return "{" + fields + R"("kty":"RSA","n":")" + number(OSSL_PKEY_PARAM_RSA_N, 0) +
             R"(","e":")" + number(OSSL_PKEY_PARAM_RSA_E, 0) + "\"}";
    }
    const std::string curve = coordinate_bytes_ == 32   ? "P-256"
                              : coordinate_bytes_ == 48 ? "P-384"
                                                        : "P-521";
    return "{" + fields + R"("kty":"EC","crv":")" + curve + R"(","x":")" +
           number(OSSL_PKEY_PARAM_EC_PUB_X, coordinate_bytes_) + R"(","y":")" +
           number(OSSL_PKEY_PARAM_EC_PUB_Y, coordinate_bytes_) + "\"}";
  }

  // The compact form of a token with this header and these claims, both JSON.
  std::string token(std::string_view algorithm, std::string_view header,
                    std::string_view claims) const {
    const std::string text = to_base64url(header) + "." + to_base64url(claims);
    return text + "." + to_base64url(sign(algorithm, text));
  }

  std::string sign(std::string_view algorithm, std::string_view text) const {
    const EVP_MD* digest = algorithm.ends_with("256")   ? EVP_sha256()
                           : algorithm.ends_with("384") ? EVP_sha384()
                                                        : EVP_sha512();
    const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(),
                                                                     EVP_MD_CTX_free);
    EVP_PKEY_CTX* settings = nullptr;
    EVP_DigestSignInit(context.get(), &settings, digest, nullptr, key_.get());
    if (algorithm.starts_with("PS")) {
      EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING);
      EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST);
    }
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    size_t size = 0;
    EVP_DigestSign(context.get(), nullptr, &size, bytes, text.size());
    std::string out(size, '\0');
    EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, bytes,
                   text.size());
    out.resize(size);
    return coordinate_bytes_ == 0 ? out : flat(out);
  }

 private:
  JwtKey(EVP_PKEY* key, size_t coordinate_bytes)
      : key_(key, EVP_PKEY_free), coordinate_bytes_(coordinate_bytes) {}

  static std::string padded(const BIGNUM* number, size_t size) {
    if (size == 0) size = static_cast<size_t>(BN_num_bytes(number));
    std::string out(size, '\0');
    BN_bn2binpad(number, reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(size));
    return out;
  }
  std::string number(const char* name, size_t size) const {
    BIGNUM* number = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), name, &number);
    std::string out = to_base64url(padded(number, size));
    BN_free(number);
    return out;
  }
  std::string flat(const std::string& der) const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
    ECDSA_SIG* pair = d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size()));
    std::string out = padded(ECDSA_SIG_get0_r(pair), coordinate_bytes_) +
                      padded(ECDSA_SIG_get0_s(pair), coordinate_bytes_);
    ECDSA_SIG_free(pair);
    return out;
  }

  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key_;
  size_t coordinate_bytes_;
};

}  // namespace ackord::security
