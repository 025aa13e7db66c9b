// The names in a certificate, as Java prints them: ACLs and mapping rules of a Kafka cluster are
// written against that form. Pure functions; any thread.
#pragma once

#include <openssl/x509.h>

#include <set>
#include <string>

namespace ackord::net {

// The subject in the form of RFC 2253 (X500Principal.getName): last part first, types without a
// name there as numbers with their value in hex.
std::string distinguished_name(const X509* certificate);

// Each in its encoding (type and value): equal names are equal texts.
std::set<std::string> subject_alt_names(const X509* certificate);

}  // namespace ackord::net
