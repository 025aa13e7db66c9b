#include "broker/security/jwks.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include <array>
#include <boost/json.hpp>
#include <utility>

#include "broker/security/base64.h"

namespace ackord::security {
namespace {

namespace json = boost::json;

struct Free {
  void operator()(BIGNUM* one) const { BN_free(one); }
  void operator()(ECDSA_SIG* one) const { ECDSA_SIG_free(one); }
  void operator()(EVP_MD_CTX* one) const { EVP_MD_CTX_free(one); }
  void operator()(EVP_PKEY* one) const { EVP_PKEY_free(one); }
  void operator()(EVP_PKEY_CTX* one) const { EVP_PKEY_CTX_free(one); }
  void operator()(OSSL_PARAM* one) const { OSSL_PARAM_free(one); }
  void operator()(OSSL_PARAM_BLD* one) const { OSSL_PARAM_BLD_free(one); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

constexpr int kFewestRsaBits = 2048;
// Verifying takes longer the longer the key is, and the core waits for it.
constexpr int kMostRsaBits = 8192;

enum class Kind : uint8_t { kRsa, kRsaPss, kEc };
struct Algorithm {
  std::string_view name;
  Kind kind;
  const EVP_MD* (*digest)();
  std::string_view curve;   // of the key
  size_t coordinate_bytes;  // of that curve: a signature is two of them
};
constexpr std::array<Algorithm, 9> kAlgorithms = {{
    {"RS256", Kind::kRsa, EVP_sha256, "", 0},
    {"RS384", Kind::kRsa, EVP_sha384, "", 0},
    {"RS512", Kind::kRsa, EVP_sha512, "", 0},
    {"PS256", Kind::kRsaPss, EVP_sha256, "", 0},
    {"PS384", Kind::kRsaPss, EVP_sha384, "", 0},
    {"PS512", Kind::kRsaPss, EVP_sha512, "", 0},
    {"ES256", Kind::kEc, EVP_sha256, "P-256", 32},
    {"ES384", Kind::kEc, EVP_sha384, "P-384", 48},
    {"ES512", Kind::kEc, EVP_sha512, "P-521", 66},
}};

const Algorithm* find_algorithm(std::string_view name) {
  for (const Algorithm& one : kAlgorithms) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

const Algorithm* algorithm_of_curve(std::string_view curve) {
  for (const Algorithm& one : kAlgorithms) {
    if (one.kind == Kind::kEc && one.curve == curve) return &one;
  }
  return nullptr;
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::optional<std::string> text_of(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

Owned<EVP_PKEY> make_key(const char* type, OSSL_PARAM_BLD* parts) {
  const Owned<OSSL_PARAM> parameters(OSSL_PARAM_BLD_to_param(parts));
  const Owned<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1) return nullptr;
  if (EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1)
    return nullptr;
  return Owned<EVP_PKEY>(key);
}

Owned<EVP_PKEY> rsa_key(const json::object& fields) {
  const auto modulus = from_base64url(text_of(fields, "n").value_or(""));
  const auto exponent = from_base64url(text_of(fields, "e").value_or(""));
  if (!modulus || !exponent || modulus->size() > kMostRsaBits / 8 || exponent->size() > 8)
    return nullptr;
  const Owned<BIGNUM> n(BN_bin2bn(bytes_of(*modulus), static_cast<int>(modulus->size()), nullptr));
  const Owned<BIGNUM> e(
      BN_bin2bn(bytes_of(*exponent), static_cast<int>(exponent->size()), nullptr));
  if (!n || !e || BN_num_bits(n.get()) < kFewestRsaBits || !BN_is_odd(e.get())) return nullptr;
  const Owned<OSSL_PARAM_BLD> parts(OSSL_PARAM_BLD_new());
  if (!parts || OSSL_PARAM_BLD_push_BN(parts.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(parts.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) != 1)
    return nullptr;
  return make_key("RSA", parts.get());
}

Owned<EVP_PKEY> ec_key(const json::object& fields, const Algorithm& algorithm) {
  constexpr char kUncompressed = 4;  // SEC 1, section 2.3.3: it and both coordinates are a point
  const auto x = from_base64url(text_of(fields, "x").value_or(""));
  const auto y = from_base64url(text_of(fields, "y").value_or(""));
  if (!x || !y || x->size() != algorithm.coordinate_bytes || y->size() != x->size()) return nullptr;
  const std::string point = kUncompressed + *x + *y;
  const std::string curve(algorithm.curve);
  const Owned<OSSL_PARAM_BLD> parts(OSSL_PARAM_BLD_new());
  if (!parts ||
      OSSL_PARAM_BLD_push_utf8_string(parts.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve.c_str(), 0) !=
          1 ||
      OSSL_PARAM_BLD_push_octet_string(parts.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                       point.size()) != 1)
    return nullptr;
  return make_key("EC", parts.get());
}

// Two numbers, one after the other (RFC 7518, section 3.4), as OpenSSL wants them: in DER.
std::string to_der(std::string_view signature, size_t coordinate_bytes) {
  if (signature.size() != 2 * coordinate_bytes) return "";
  const auto size = static_cast<int>(coordinate_bytes);
  const Owned<ECDSA_SIG> pair(ECDSA_SIG_new());
  Owned<BIGNUM> r(BN_bin2bn(bytes_of(signature), size, nullptr));
  Owned<BIGNUM> s(BN_bin2bn(bytes_of(signature.substr(coordinate_bytes)), size, nullptr));
  if (!pair || !r || !s || ECDSA_SIG_set0(pair.get(), r.get(), s.get()) != 1) return "";
  r.release();  // the pair owns them now
  s.release();
  unsigned char* der = nullptr;
  const int length = i2d_ECDSA_SIG(pair.get(), &der);
  if (length <= 0) return "";
  std::string out(reinterpret_cast<const char*>(der), static_cast<size_t>(length));
  OPENSSL_free(der);
  return out;
}

bool is_signed(EVP_PKEY* key, const Algorithm& algorithm, std::string_view text,
               std::string_view signature) {
  const Owned<EVP_MD_CTX> context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* settings = nullptr;  // owned by the context
  if (!context ||
      EVP_DigestVerifyInit(context.get(), &settings, algorithm.digest(), nullptr, key) != 1)
    return false;
  // RFC 7518, section 3.5: the salt is as long as the digest.
  if (algorithm.kind == Kind::kRsaPss &&
      (EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) != 1 ||
       EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST) != 1))
    return false;
  return EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(text),
                          text.size()) == 1;
}

}  // namespace

struct Jwks::Key {
  std::string id;
  std::string algorithm;             // empty: any that fits
  const Algorithm* curve = nullptr;  // of an EC key
  Owned<EVP_PKEY> key;

  bool fits(const Algorithm& wanted) const {
    if (!algorithm.empty() && algorithm != wanted.name) return false;
    return wanted.kind == Kind::kEc ? curve == &wanted : curve == nullptr;
  }
};

Jwks::Jwks() = default;
Jwks::~Jwks() = default;
size_t Jwks::size() const { return keys_.size(); }

Result<std::shared_ptr<const Jwks>> Jwks::parse(std::string_view text) {
  boost::system::error_code failure;
  const json::value document = json::parse(text, failure);
  const json::object* set = failure ? nullptr : document.if_object();
  const json::value* listed = set == nullptr ? nullptr : set->if_contains("keys");
  if (listed == nullptr || !listed->is_array())
    return error(ErrorCode::INVALID_CONFIG, "not a JSON object with an array \"keys\"");
  std::shared_ptr<Jwks> jwks(new Jwks());
  for (const json::value& one : listed->get_array()) {
    const json::object* fields = one.if_object();
    if (fields == nullptr || text_of(*fields, "use").value_or("sig") != "sig") continue;
    Key key;
    key.id = text_of(*fields, "kid").value_or("");
    key.algorithm = text_of(*fields, "alg").value_or("");
    const std::string type = text_of(*fields, "kty").value_or("");
    if (type == "RSA") key.key = rsa_key(*fields);
    if (type == "EC") key.curve = algorithm_of_curve(text_of(*fields, "crv").value_or(""));
    if (key.curve != nullptr) key.key = ec_key(*fields, *key.curve);
    if (key.key) jwks->keys_.push_back(std::move(key));
  }
  if (jwks->keys_.empty()) {
    return error(ErrorCode::INVALID_CONFIG,
                 "none of its keys can be used: RSA from 2048 bits, or EC on P-256, P-384, P-521");
  }
  return std::shared_ptr<const Jwks>(std::move(jwks));
}

bool Jwks::verify(std::string_view algorithm, std::optional<std::string_view> key_id,
                  std::string_view signed_text, std::string_view signature) const {
  const Algorithm* wanted = find_algorithm(algorithm);
  if (wanted == nullptr) return false;
  std::string der;
  if (wanted->kind == Kind::kEc) {
    der = to_der(signature, wanted->coordinate_bytes);
    signature = der;
  }
  for (const Key& key : keys_) {
    if (key_id && key.id != *key_id) continue;
    if (key.fits(*wanted) && is_signed(key.key.get(), *wanted, signed_text, signature)) return true;
  }
  return false;
}

}  // namespace ackord::security
