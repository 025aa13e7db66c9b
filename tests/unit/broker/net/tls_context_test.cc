#include "broker/net/tls_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "broker/net/tls_names.h"
#include "tests/support/certificates.h"
#include "tests/support/temp_directory.h"

namespace ackord::net {
namespace {

using test::Certificate;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class TlsContextTest : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    std::ofstream(directory_ / name, std::ios::binary) << content;
    return directory_ / name;
  }
  TlsSettings pem() {
    TlsSettings settings;
    settings.prefix = "listener A: ";
    settings.protocols = {"TLSv1.2", "TLSv1.3"};
    settings.key_store.type = "PEM";
    settings.key_store.location = file("both.pem", broker_.key_pem() + broker_.chain_pem());
    return settings;
  }
  static std::string outcome(const TlsSettings& settings) {
    const auto made = TlsContext::make(settings);
    return made ? (*made)->subject() : made.error().message;
  }

  test::TempDirectory directory_;
  const Certificate authority_ = Certificate::authority("authority");
  const Certificate broker_ = authority_.issue({{"O", "Acme"}, {"CN", "broker"}});
};

constexpr const char* kBroker = "CN=broker,O=Acme";

TEST_F(TlsContextTest, OnePemFile) {
  EXPECT_EQ(outcome(pem()), kBroker);
  auto other_order = pem();
  other_order.key_store.location = file("turned.pem", broker_.chain_pem() + broker_.key_pem());
  EXPECT_EQ(outcome(other_order), kBroker);
  EXPECT_EQ(TlsContext::make(pem()).value()->alt_names().size(), 2U);
}

TEST_F(TlsContextTest, AnEncryptedKeyNeedsItsPassword) {
  auto settings = pem();
  settings.key_store.location =
      file("encrypted.pem", broker_.key_pem("s3cret") + broker_.chain_pem());
  EXPECT_THAT(outcome(settings), HasSubstr("listener A: ssl.keystore: no private key"));
  settings.key_store.key_password = "wr0ng";
  EXPECT_THAT(outcome(settings), AllOf(HasSubstr("no private key"), Not(HasSubstr("wr0ng"))));
  settings.key_store.key_password = "s3cret";
  EXPECT_EQ(outcome(settings), kBroker);
}

TEST_F(TlsContextTest, InTheConfigurationItself) {
  auto settings = pem();
  settings.key_store.location.reset();
  settings.key_store.key = broker_.key_pem("s3cret");
  settings.key_store.key_password = "s3cret";
  EXPECT_THAT(outcome(settings), HasSubstr("ssl.keystore.certificate.chain: there is only a key"));
  settings.key_store.certificates = broker_.chain_pem();
  EXPECT_EQ(outcome(settings), kBroker);
  // As a property's value is after its lines were joined.
  for (auto* text : {&settings.key_store.key, &settings.key_store.certificates})
    std::replace((*text)->begin(), (*text)->end(), '\n', ' ');
  EXPECT_EQ(outcome(settings), kBroker);
  settings.key_store.key.reset();
  EXPECT_THAT(outcome(settings), HasSubstr("ssl.keystore.key: there is only a chain"));
  settings.key_store.location = "/somewhere";
  EXPECT_THAT(outcome(settings), HasSubstr("there are certificates in the configuration, too"));
  settings = pem();
  settings.key_store.type = "PKCS12";
  settings.key_store.key = broker_.key_pem();
  EXPECT_THAT(outcome(settings), HasSubstr("needs the type PEM"));
}

TEST_F(TlsContextTest, Pkcs12) {
  auto settings = pem();
  settings.key_store.location = file("store.p12", broker_.pkcs12("s3cret"));
  settings.key_store.type = "PKCS12";
  EXPECT_THAT(outcome(settings), HasSubstr("no PKCS12 store that the store's password opens"));
  settings.key_store.password = "wr0ng";
  EXPECT_THAT(outcome(settings), Not(HasSubstr("wr0ng")));
  settings.key_store.password = "s3cret";
  EXPECT_EQ(outcome(settings), kBroker);
  // Java reads such a store under the name of its default type, too.
  settings.key_store.type = "JKS";
  EXPECT_EQ(outcome(settings), kBroker);
}

TEST_F(TlsContextTest, JksIsToBeConverted) {
  auto settings = pem();
  settings.key_store.type = "JKS";
  settings.key_store.location = file("store.jks", "\xfe\xed\xfe\xed and more");
  EXPECT_THAT(outcome(settings), AllOf(HasSubstr("is a JKS store"), HasSubstr("keytool")));
}

TEST_F(TlsContextTest, Refusals) {
  auto settings = pem();
  settings.key_store.location.reset();
  EXPECT_THAT(outcome(settings), HasSubstr("ssl.keystore.location: a listener with TLS needs"));
  settings = pem();
  settings.key_store.location = directory_ / "missing.pem";
  EXPECT_THAT(outcome(settings), HasSubstr("missing.pem: No such file"));
  settings = pem();
  settings.key_store.password = "s3cret";
  EXPECT_THAT(outcome(settings), AllOf(HasSubstr("a PEM file has none"), Not(HasSubstr("s3cret"))));
  settings = pem();
  const Certificate other = authority_.issue({{"CN", "other"}});
  settings.key_store.location = file("mixed.pem", other.key_pem() + broker_.chain_pem());
  EXPECT_THAT(outcome(settings), HasSubstr("not that of the private key"));
  settings.key_store.location = file("empty.pem", "");
  EXPECT_THAT(outcome(settings), HasSubstr("no private key"));
  settings.key_store.location = file("key.pem", broker_.key_pem());
  EXPECT_THAT(outcome(settings), HasSubstr("no certificate"));
  settings = pem();
  settings.key_store.type = "BCFKS";
  EXPECT_THAT(outcome(settings), HasSubstr("PEM and PKCS12 are served"));
  settings = pem();
  settings.trust_store.type = "PEM";
  settings.trust_store.certificates = "nothing";
  EXPECT_THAT(outcome(settings), HasSubstr("ssl.truststore: no certificate could be read"));
}

TEST_F(TlsContextTest, VersionsAndSuites) {
  auto settings = pem();
  settings.protocols = {"TLSv1.1"};
  EXPECT_THAT(outcome(settings), HasSubstr("ssl.enabled.protocols=TLSv1.1"));
  settings.protocols = {};
  EXPECT_THAT(outcome(settings), HasSubstr("names none"));
  settings = pem();
  settings.protocol = "SSLv3";
  EXPECT_THAT(outcome(settings), HasSubstr("ssl.protocol=SSLv3"));
  settings = pem();
  settings.cipher_suites = {"TLS_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"};
  EXPECT_EQ(outcome(settings), kBroker);
  settings.cipher_suites = {"TLS_NO_SUCH_THING"};
  EXPECT_THAT(outcome(settings), HasSubstr("TLS_NO_SUCH_THING: no such suite"));
  settings.cipher_suites = {"TLS_AES_128_GCM_SHA256"};
  settings.protocols = {"TLSv1.2"};
  EXPECT_THAT(outcome(settings), HasSubstr("none is left"));
}

// As X500Principal.getName of Java prints them.
TEST_F(TlsContextTest, Names) {
  const auto name = [this](const Certificate::Subject& subject) {
    return distinguished_name(authority_.issue(subject).x509());
  };
  EXPECT_EQ(name({{"C", "FR"}, {"ST", "e"}, {"L", "d"}, {"O", "c"}, {"OU", "b"}, {"CN", "a"}}),
            "CN=a,OU=b,O=c,L=d,ST=e,C=FR");
  EXPECT_EQ(name({{"DC", "org"}, {"DC", "example"}, {"UID", "u1"}}), "UID=u1,DC=example,DC=org");
  EXPECT_EQ(name({{"street", "Main"}, {"CN", "a"}}), "CN=a,STREET=Main");
  EXPECT_EQ(name({{"CN", "a,b+c\"d\\e<f>g;h#i=j"}}), "CN=a\\,b\\+c\\\"d\\\\e\\<f\\>g\\;h\\#i\\=j");
  EXPECT_EQ(name({{"CN", "  two "}}), "CN=\\ \\ two\\ ");
  EXPECT_EQ(name({{"CN", "M\xc3\xbcller"}}), "CN=M\xc3\xbcller");
  // Types that RFC 2253 does not name: number, and value as it is encoded.
  EXPECT_EQ(name({{"emailAddress", "a@b"}, {"CN", "x"}}), "CN=x,1.2.840.113549.1.9.1=#1603614062");
  EXPECT_EQ(name({{"serialNumber", "7"}}), "2.5.4.5=#130137");
}

}  // namespace
}  // namespace ackord::net
