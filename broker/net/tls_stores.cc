#include "broker/net/tls_stores.h"

#include <fmt/format.h>
#include <openssl/pem.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace ackord::net {
namespace {

constexpr std::string_view kJksMagic = "\xfe\xed\xfe\xed";

Error refuse(std::string text) { return error(ErrorCode::INVALID_CONFIG, std::move(text)); }

std::string upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

Result<std::string> read_file(const std::string& path, const std::string& setting) {
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.is_open() && !in.bad()) return bytes;
  return refuse(fmt::format("{}.location: cannot read {}: {}", setting, path,
                            std::generic_category().message(errno == 0 ? EIO : errno)));
}

// Kafka takes PEM whose lines were joined by blanks, as a property's value often is; OpenSSL wants
// lines.
std::string with_lines(std::string_view pem) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kEnd = "-----END ";
  constexpr std::string_view kDashes = "-----";
  constexpr size_t kLine = 64;
  std::string out;
  while (true) {
    const size_t begin = pem.find(kBegin);
    if (begin == std::string_view::npos) return out;
    pem.remove_prefix(begin);
    const size_t head = pem.find(kDashes, kBegin.size());
    if (head == std::string_view::npos) return out;
    const size_t body = head + kDashes.size();
    const size_t end = pem.find(kEnd, body);
    if (end == std::string_view::npos) return out;
    const size_t tail = pem.find(kDashes, end + kEnd.size());
    if (tail == std::string_view::npos) return out;
    out.append(pem.substr(0, body)).push_back('\n');
    std::string letters(pem.substr(body, end - body));
    if (letters.find(':') == std::string::npos) {
      std::erase_if(letters, [](unsigned char c) { return std::isspace(c) != 0; });
      for (size_t at = 0; at < letters.size(); at += kLine)
        out.append(letters, at, kLine).push_back('\n');
    } else {  // Headers, which need their own lines.
      out += letters.substr(letters.starts_with('\n') ? 1 : 0);
    }
    out.append(pem.substr(end, tail + kDashes.size() - end)).push_back('\n');
    pem.remove_prefix(tail + kDashes.size());
  }
}

BioPtr bio_of(const std::string& bytes) {
  return BioPtr(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

// Without a password it says so, instead of asking at the terminal.
int give_password(char* out, int size, int /*writing*/, void* password) {
  const auto* text = static_cast<const std::optional<std::string>*>(password);
  if (text == nullptr || !*text || (*text)->size() > static_cast<size_t>(size)) return -1;
  std::memcpy(out, (*text)->data(), (*text)->size());
  return static_cast<int>((*text)->size());
}

std::vector<CertificatePtr> certificates_in(const std::string& pem) {
  std::vector<CertificatePtr> all;
  const BioPtr bio = bio_of(pem);
  while (X509* one = PEM_read_bio_X509(bio.get(), nullptr, give_password, nullptr))
    all.emplace_back(one);
  ERR_clear_error();  // the end of the text is an error, too
  return all;
}

Result<KeyPtr> key_in(const std::string& pem, const std::optional<std::string>& password,
                      const std::string& setting) {
  const BioPtr bio = bio_of(pem);
  ERR_clear_error();
  KeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, give_password,
                                     const_cast<std::optional<std::string>*>(&password)));
  if (key) return key;
  const std::string why = take_openssl_error();
  return refuse(
      fmt::format("{}: no private key could be read (PKCS#8 in PEM; one that is "
                  "encrypted needs ssl.key.password): {}",
                  setting, why));
}

struct Pkcs12Content {
  KeyPtr key;
  CertificatePtr own;
  std::vector<CertificatePtr> others;
};

Result<Pkcs12Content> read_pkcs12(const TlsStoreSettings& settings, const std::string& prefix) {
  auto bytes = read_file(*settings.location, prefix);
  if (!bytes) return bytes.error();
  if (bytes->starts_with(kJksMagic)) {
    return refuse(
        fmt::format("{}.location: {} is a JKS store, which only Java reads. Convert it: keytool "
                    "-importkeystore -srckeystore {} -destkeystore NEW.p12 -deststoretype PKCS12, "
                    "and set {}.type=PKCS12",
                    prefix, *settings.location, *settings.location, prefix));
  }
  const BioPtr bio = bio_of(*bytes);
  ERR_clear_error();
  const Pkcs12Ptr store(d2i_PKCS12_bio(bio.get(), nullptr));
  EVP_PKEY* key = nullptr;
  X509* own = nullptr;
  STACK_OF(X509)* others = nullptr;
  if (!store ||
      PKCS12_parse(store.get(), settings.password.value_or("").c_str(), &key, &own, &others) != 1) {
    return refuse(
        fmt::format("{}.location: {} is no PKCS12 store that the store's password "
                    "opens: {}",
                    prefix, *settings.location, take_openssl_error()));
  }
  Pkcs12Content content{KeyPtr(key), CertificatePtr(own), {}};
  for (int i = 0; i < sk_X509_num(others); ++i)
    content.others.emplace_back(sk_X509_value(others, i));
  sk_X509_free(others);
  return content;
}

// Of each certificate the issuer follows it. What does not belong to the chain is left out.
void order_chain(std::vector<CertificatePtr>& chain, std::vector<CertificatePtr> others) {
  while (true) {
    const X509* last = chain.back().get();
    const auto issuer = std::find_if(others.begin(), others.end(), [last](const auto& one) {
      return X509_NAME_cmp(X509_get_subject_name(one.get()), X509_get_issuer_name(last)) == 0;
    });
    if (issuer == others.end()) return;
    chain.push_back(std::move(*issuer));
    others.erase(issuer);
  }
}

Result<TlsKeyStore> checked(TlsKeyStore store, const std::string& prefix) {
  if (store.chain.empty()) return refuse(prefix + ": no certificate for the key");
  if (!store.key) return refuse(prefix + ": no private key");
  const bool match = X509_check_private_key(store.chain.front().get(), store.key.get()) == 1;
  ERR_clear_error();
  if (!match) return refuse(prefix + ": the first certificate is not that of the private key");
  return store;
}

Result<void> check_pem(const TlsStoreSettings& settings, const std::string& prefix) {
  if (settings.location && settings.password) {
    return refuse(prefix + ".password: a PEM file has none; the key's is ssl.key.password");
  }
  if (settings.location && (settings.key || settings.certificates)) {
    return refuse(prefix + ".location: there are certificates in the configuration, too");
  }
  return {};
}

}  // namespace

Result<TlsKeyStore> load_key_store(const TlsStoreSettings& settings, const std::string& prefix) {
  const std::string type = upper(settings.type);
  const bool is_inline = settings.key || settings.certificates;
  if (is_inline && type != "PEM") {
    return refuse(fmt::format("{}.type={}: a key in the configuration needs the type PEM", prefix,
                              settings.type));
  }
  if (!is_inline && !settings.location) {
    return refuse(fmt::format("{}.location: a listener with TLS needs a key store", prefix));
  }
  TlsKeyStore store;
  if (type == "PEM") {
    if (auto sound = check_pem(settings, prefix); !sound) return sound.error();
    if (is_inline && !settings.key) return refuse(prefix + ".key: there is only a chain");
    if (is_inline && !settings.certificates)
      return refuse(prefix + ".certificate.chain: there is only a key");
    Result<std::string> file =
        is_inline ? Result<std::string>("") : read_file(*settings.location, prefix);
    if (!file) return file.error();
    auto key = key_in(with_lines(is_inline ? *settings.key : *file), settings.key_password, prefix);
    if (!key) return key.error();
    store.key = std::move(*key);
    store.chain = certificates_in(with_lines(is_inline ? *settings.certificates : *file));
    return checked(std::move(store), prefix);
  }
  if (type != "PKCS12" && type != "JKS") {
    return refuse(fmt::format("{}.type={}: PEM and PKCS12 are served", prefix, settings.type));
  }
  auto content = read_pkcs12(settings, prefix);
  if (!content) return content.error();
  store.key = std::move(content->key);
  if (content->own) {
    store.chain.push_back(std::move(content->own));
    order_chain(store.chain, std::move(content->others));
  }
  return checked(std::move(store), prefix);
}

Result<std::vector<CertificatePtr>> load_trust_store(const TlsStoreSettings& settings,
                                                     const std::string& prefix) {
  const std::string type = upper(settings.type);
  std::vector<CertificatePtr> trusted;
  if (!settings.location && !settings.certificates) return trusted;
  if (type == "PEM") {
    if (auto sound = check_pem(settings, prefix); !sound) return sound.error();
    Result<std::string> file = settings.certificates ? Result<std::string>(*settings.certificates)
                                                     : read_file(*settings.location, prefix);
    if (!file) return file.error();
    trusted = certificates_in(with_lines(*file));
  } else if (settings.certificates) {
    return refuse(fmt::format("{}.type={}: certificates in the configuration need the type PEM",
                              prefix, settings.type));
  } else if (type == "PKCS12" || type == "JKS") {
    auto content = read_pkcs12(settings, prefix);
    if (!content) return content.error();
    trusted = std::move(content->others);
    if (content->own) trusted.push_back(std::move(content->own));
  } else {
    return refuse(fmt::format("{}.type={}: PEM and PKCS12 are served", prefix, settings.type));
  }
  if (trusted.empty()) return refuse(prefix + ": no certificate could be read");
  return trusted;
}

}  // namespace ackord::net
