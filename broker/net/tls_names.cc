#include "broker/net/tls_names.h"

#include <fmt/format.h>
#include <openssl/objects.h>
#include <openssl/x509v3.h>

#include <array>
#include <string_view>
#include <utility>

#include "broker/net/openssl_ptr.h"

namespace ackord::net {
namespace {

// RFC 2253, section 2.3; by OpenSSL's number of the type.
constexpr std::array<std::pair<int, std::string_view>, 9> kKeywords = {{
    {NID_commonName, "CN"},
    {NID_localityName, "L"},
    {NID_stateOrProvinceName, "ST"},
    {NID_organizationName, "O"},
    {NID_organizationalUnitName, "OU"},
    {NID_countryName, "C"},
    {NID_streetAddress, "STREET"},
    {NID_domainComponent, "DC"},
    {NID_userId, "UID"},
}};

std::string_view keyword_of(int nid) {
  for (const auto& [known, keyword] : kKeywords) {
    if (known == nid) return keyword;
  }
  return {};
}

std::string number_of(const ASN1_OBJECT* type) {
  std::array<char, 256> text{};
  OBJ_obj2txt(text.data(), static_cast<int>(text.size()), type, 1);
  return text.data();
}

bool is_text(const ASN1_STRING* value) {
  switch (ASN1_STRING_type(value)) {
    case V_ASN1_PRINTABLESTRING:
    case V_ASN1_UTF8STRING:
    case V_ASN1_T61STRING:
    case V_ASN1_IA5STRING:
    case V_ASN1_GENERALSTRING:
    case V_ASN1_BMPSTRING:
    case V_ASN1_UNIVERSALSTRING: return true;
    default: return false;
  }
}

std::string hex_of(const ASN1_STRING* value) {
  // The encoding with its type and length.
  ASN1_TYPE whole{};
  whole.type = ASN1_STRING_type(value);
  whole.value.asn1_string = const_cast<ASN1_STRING*>(value);
  unsigned char* bytes = nullptr;
  const int size = i2d_ASN1_TYPE(&whole, &bytes);
  std::string out = "#";
  for (int i = 0; i < size; ++i) out += fmt::format("{:02x}", bytes[i]);
  OPENSSL_free(bytes);
  return out;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view kEscaped = ",=+<>#;\"\\";
  const auto is_edge_space = [](char c) { return c == ' ' || c == '\r'; };
  size_t first = 0;
  size_t last = text.size();
  while (first < text.size() && is_edge_space(text[first])) ++first;
  while (last > first && is_edge_space(text[last - 1])) --last;
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\0') {
      out += "\\00";
      continue;
    }
    if (i < first || i >= last || kEscaped.find(c) != std::string_view::npos) out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

std::string part_of(const X509_NAME_ENTRY* entry) {
  const ASN1_OBJECT* type = X509_NAME_ENTRY_get_object(entry);
  const ASN1_STRING* value = X509_NAME_ENTRY_get_data(entry);
  const std::string_view keyword = keyword_of(OBJ_obj2nid(type));
  if (keyword.empty()) return number_of(type) + "=" + hex_of(value);
  if (!is_text(value)) return fmt::format("{}={}", keyword, hex_of(value));
  const std::string_view text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                              static_cast<size_t>(ASN1_STRING_length(value)));
  return fmt::format("{}={}", keyword, escaped(text));
}

}  // namespace

std::string distinguished_name(const X509* certificate) {
  const X509_NAME* name = X509_get_subject_name(certificate);
  std::string out;
  std::string group;  // parts of one set, joined by +
  for (int i = X509_NAME_entry_count(name) - 1; i >= 0; --i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    group = group.empty() ? part_of(entry) : part_of(entry) + "+" + group;
    const bool set_goes_on = i > 0 && X509_NAME_ENTRY_set(X509_NAME_get_entry(name, i - 1)) ==
                                          X509_NAME_ENTRY_set(entry);
    if (set_goes_on) continue;
    if (!out.empty()) out.push_back(',');
    out += std::exchange(group, {});
  }
  return out;
}

std::set<std::string> subject_alt_names(const X509* certificate) {
  std::set<std::string> names;
  auto* list = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(list); ++i) {
    unsigned char* bytes = nullptr;
    const int size = i2d_GENERAL_NAME(sk_GENERAL_NAME_value(list, i), &bytes);
    if (size > 0) names.emplace(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
    OPENSSL_free(bytes);
  }
  GENERAL_NAMES_free(list);
  return names;
}

}  // namespace ackord::net
