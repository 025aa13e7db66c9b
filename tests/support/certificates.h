// Keys and certificates made by the test itself: an authority, and what it issues. Errors: a null
// pointer somewhere, which the test's next step reports.
#pragma once

#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ackord::test {

class Certificate {
 public:
  // In the order of the encoding: {{"C", "DE"}, {"CN", "a"}} is CN=a,C=DE for people.
  using Subject = std::vector<std::pair<std::string, std::string>>;

  static Certificate authority(const std::string& name) {
    Certificate made;
    made.sign({{"CN", name}}, {"CA:TRUE"}, made);
    return made;
  }
  // As X509V3_EXT has it: "DNS:localhost,IP:127.0.0.1".
  Certificate issue(const Subject& subject,
                    const std::string& alt_names = "DNS:localhost,IP:127.0.0.1") const {
    Certificate made;
    made.issuer_ = certificate_;
    made.sign(subject, {"CA:FALSE", alt_names}, *this);
    return made;
  }

  X509* x509() const { return certificate_.get(); }
  EVP_PKEY* key() const { return key_.get(); }

  std::string pem() const {
    return text([this](BIO* out) { PEM_write_bio_X509(out, certificate_.get()); });
  }
  // With that of the issuer behind it.
  std::string chain_pem() const {
    if (!issuer_) return pem();
    return pem() + text([this](BIO* out) { PEM_write_bio_X509(out, issuer_.get()); });
  }
  // PKCS#8; encrypted where there is a password.
  std::string key_pem(const std::string& password = "") const {
    return text([this, &password](BIO* out) {
      const EVP_CIPHER* cipher = password.empty() ? nullptr : EVP_aes_256_cbc();
      PEM_write_bio_PKCS8PrivateKey(out, key_.get(), cipher, password.data(),
                                    static_cast<int>(password.size()), nullptr, nullptr);
    });
  }
  // Key, certificate and issuer.
  std::string pkcs12(const std::string& password) const {
    STACK_OF(X509)* others = sk_X509_new_null();
    if (issuer_) sk_X509_push(others, issuer_.get());
    const std::unique_ptr<PKCS12, decltype(&PKCS12_free)> store(
        PKCS12_create(password.c_str(), "broker", key_.get(), certificate_.get(), others, 0, 0, 0,
                      0, 0),
        PKCS12_free);
    sk_X509_free(others);
    return text([&store](BIO* out) { i2d_PKCS12_bio(out, store.get()); });
  }

 private:
  Certificate() : key_(EVP_EC_gen("P-256"), EVP_PKEY_free), certificate_(X509_new(), X509_free) {}

  template <class Write>
  static std::string text(Write write) {
    BIO* out = BIO_new(BIO_s_mem());
    write(out);
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(out, &bytes);
    std::string written(bytes, static_cast<size_t>(size));
    BIO_free(out);
    return written;
  }

  void sign(const Subject& subject, const std::vector<std::string>& extensions,
            const Certificate& by) {
    static long serial = 1;
    X509* x = certificate_.get();
    X509_set_version(x, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(x), serial++);
    X509_gmtime_adj(X509_getm_notBefore(x), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x), 86400);
    X509_set_pubkey(x, key_.get());
    for (const auto& [type, value] : subject) {
      X509_NAME_add_entry_by_txt(X509_get_subject_name(x), type.c_str(), MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(value.data()),
                                 static_cast<int>(value.size()), -1, 0);
    }
    X509_set_issuer_name(x, X509_get_subject_name(by.x509()));
    const int kinds[] = {NID_basic_constraints, NID_subject_alt_name};
    for (size_t i = 0; i < extensions.size(); ++i) {
      X509_EXTENSION* one = X509V3_EXT_conf_nid(nullptr, nullptr, kinds[i], extensions[i].c_str());
      X509_add_ext(x, one, -1);
      X509_EXTENSION_free(one);
    }
    X509_sign(x, by.key_.get(), EVP_sha256());
  }

  std::shared_ptr<EVP_PKEY> key_;
  std::shared_ptr<X509> certificate_;
  std::shared_ptr<X509> issuer_;
};

}  // namespace ackord::test
