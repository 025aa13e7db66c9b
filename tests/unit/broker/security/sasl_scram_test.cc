#include "broker/security/sasl_scram.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>

#include "tests/unit/broker/security/scram_client.h"

namespace ackord::security {
namespace {

using metadata::ScramMechanism;
using Verdict = SaslStep::Verdict;

class SaslScram : public testing::TestWithParam<ScramMechanism> {
 protected:
  SaslScram() {
    for (const auto mechanism : {ScramMechanism::kSha256, ScramMechanism::kSha512}) {
      credentials_.users[{mechanism, "sue"}] = credential_of(mechanism, "secret", "salt", 8192);
      credentials_.users[{mechanism, "a,b=c"}] = credential_of(mechanism, "secret", "salt", 4096);
      credentials_.users[{mechanism, "few"}] = credential_of(mechanism, "secret", "salt", 4095);
    }
  }
  std::unique_ptr<SaslExchange> begin() { return begin(GetParam(), "servernonce"); }
  std::unique_ptr<SaslExchange> begin(ScramMechanism mechanism, std::string nonce) {
    return make_scram_exchange(credentials_, {mechanism, std::move(nonce), "decoy"});
  }
  SaslStep login(ScramClient client) {
    auto exchange = begin();
    const SaslStep challenge = exchange->step(client.first(), 0);
    if (challenge.verdict != Verdict::kContinue) return challenge;
    const std::string last = client.last(challenge.answer);
    SaslStep step = exchange->step(last, 0);
    if (step.verdict == Verdict::kAccepted) {
      EXPECT_EQ(step.answer, client.expected());
    }
    return step;
  }
  Verdict first(std::string_view message) { return begin()->step(message, 0).verdict; }

  FixedCredentials credentials_;
};

INSTANTIATE_TEST_SUITE_P(Mechanisms, SaslScram,
                         testing::Values(ScramMechanism::kSha256, ScramMechanism::kSha512));

// RFC 7677, section 3.
TEST_P(SaslScram, ExampleOfTheRfc) {
  const std::string salt = *from_base64("W22ZaJ0SNY7soEsUEjb6gQ==");
  credentials_.users[{ScramMechanism::kSha256, "user"}] =
      credential_of(ScramMechanism::kSha256, "pencil", salt, 4096);
  auto exchange = begin(ScramMechanism::kSha256, "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0");
  const SaslStep challenge = exchange->step("n,,n=user,r=rOprNGfwEbeRWgbNEkqO", 0);
  EXPECT_EQ(challenge.answer,
            "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,"
            "i=4096");
  const SaslStep accepted = exchange->step(
      "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
      "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
      0);
  EXPECT_EQ(accepted.verdict, Verdict::kAccepted);
  EXPECT_EQ(accepted.answer, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
  EXPECT_EQ(accepted.principal.str(), "User:user");
}

TEST_P(SaslScram, WhoKnowsThePasswordIsIn) {
  EXPECT_EQ(login({GetParam(), "sue", "secret"}).principal.name, "sue");
  const SaslStep named = login({GetParam(), "a=2Cb=3Dc", "secret"});
  EXPECT_EQ(named.verdict, Verdict::kAccepted);
  EXPECT_EQ(named.principal.name, "a,b=c");
}

TEST_P(SaslScram, WhoDoesNotIsRefusedAtTheSamePlace) {
  for (const auto& client :
       {ScramClient(GetParam(), "sue", "Secret"), ScramClient(GetParam(), "nobody", "secret"),
        ScramClient(GetParam(), "few", "secret")}) {
    const SaslStep step = login(client);
    EXPECT_EQ(step.verdict, Verdict::kRefused);
    EXPECT_EQ(step.reason, "wrong user or password");
    EXPECT_EQ(step.told, "");
  }
}

TEST_P(SaslScram, AUserThatIsNotThereHasASaltThatStays) {
  const auto challenge = [this](const char* message) { return begin()->step(message, 0).answer; };
  const std::string once = challenge("n,,n=nobody,r=abc");
  EXPECT_EQ(once, challenge("n,,n=nobody,r=abc"));
  EXPECT_NE(once, challenge("n,,n=nobodx,r=abc"));
  EXPECT_TRUE(std::regex_match(once, std::regex("r=abcservernonce,s=[A-Za-z0-9+/]{35}=,i=4096")))
      << once;
}

TEST_P(SaslScram, AuthorizationIdMustBeTheName) {
  ScramClient same(GetParam(), "sue", "secret");
  same.use_header("n,a=sue,");
  EXPECT_EQ(login(same).verdict, Verdict::kAccepted);
  for (const char* user : {"sue", "nobody"}) {
    ScramClient other(GetParam(), user, "secret");
    other.use_header("n,a=bob,");
    EXPECT_EQ(login(other).told,
              "Authentication failed: Client requested an authorization id that is different "
              "from username");
  }
}

TEST_P(SaslScram, Extensions) {
  for (const char* extension : {",foo=bar", ",foo=bar,baz=q=r", ",tokenauth=false"}) {
    ScramClient client(GetParam(), "sue", "secret");
    client.extend(extension);
    EXPECT_EQ(login(client).verdict, Verdict::kAccepted) << extension;
  }
  // A user's password is no token.
  for (const char* extension : {",tokenauth=true", ",tokenauth=TRUE", ",a=b,tokenauth=true"}) {
    ScramClient client(GetParam(), "sue", "secret");
    client.extend(extension);
    EXPECT_EQ(login(client).verdict, Verdict::kRefused) << extension;
  }
  ScramClient client(GetParam(), "sue", "secret");
  auto exchange = begin();
  const std::string challenge = exchange->step(client.first(), 0).answer;
  EXPECT_EQ(exchange->step(client.last(challenge, ",x=y"), 0).verdict, Verdict::kAccepted);
}

// As librdkafka 2.0 has it.
TEST_P(SaslScram, AClientMayRepeatItsNonce) {
  ScramClient client(GetParam(), "sue", "secret");
  auto exchange = begin();
  const std::string challenge = exchange->step(client.first(), 0).answer;
  EXPECT_EQ(exchange->step(client.last(challenge, "", "clientnonce"), 0).verdict,
            Verdict::kAccepted);
}

TEST_P(SaslScram, FirstMessagesThatAreNone) {
  using namespace std::string_view_literals;
  for (const std::string_view message : {""sv,
                                         "n"sv,
                                         "n,"sv,
                                         "n,,"sv,
                                         ",,n=sue,r=abc"sv,
                                         "y,,n=sue,r=abc"sv,
                                         "p=tls-unique,,n=sue,r=abc"sv,
                                         "n,,m=x,n=sue,r=abc"sv,
                                         "n,b=x,n=sue,r=abc"sv,
                                         "n,a=,n=sue,r=abc"sv,
                                         "n,,n=,r=abc"sv,
                                         "n,,n=sue"sv,
                                         "n,,n=sue,"sv,
                                         "n,,n=sue,r="sv,
                                         "n,,n=sue,r=a b"sv,
                                         "n,,n=sue,r=abc,"sv,
                                         "n,,n=sue,r=abc,x"sv,
                                         "n,,n=sue,r=abc,x="sv,
                                         "n,,n=sue,r=abc,1=x"sv,
                                         "n,,n=sue,r=abc,x=y,"sv,
                                         "n,,n=a=2Db,r=abc"sv,
                                         "n,,n=a=,r=abc"sv,
                                         "n,,n=a=3,r=abc"sv,
                                         "n,,n=s\xc3\xbc,r=abc"sv,
                                         "n,,n=s\0,r=abc"sv,
                                         "n,,r=abc,n=sue"sv,
                                         "n,,n=sue,r=abc\0"sv,
                                         "N,,n=sue,r=abc"sv})
    EXPECT_EQ(first(message), Verdict::kRefused) << message;
}

TEST_P(SaslScram, FinalMessagesThatAreNone) {
  const auto verdict = [this](const auto& change) {
    auto exchange = begin();
    ScramClient client(GetParam(), "sue", "secret");
    std::string last = client.last(exchange->step(client.first(), 0).answer);
    change(last);
    return exchange->step(last, 0).verdict;
  };
  const auto replaced = [&](const std::string& from, const std::string& to) {
    return verdict([&](std::string& last) {
      const size_t at = last.find(from);
      ASSERT_NE(at, std::string::npos) << from;
      last.replace(at, from.size(), to);
    });
  };
  EXPECT_EQ(verdict([](std::string&) {}), Verdict::kAccepted);
  EXPECT_EQ(verdict([](std::string& last) { last.clear(); }), Verdict::kRefused);
  EXPECT_EQ(verdict([](std::string& last) { last = "*"; }), Verdict::kRefused);
  EXPECT_EQ(verdict([](std::string& last) { last += "x"; }), Verdict::kRefused);
  EXPECT_EQ(verdict([](std::string& last) { last.resize(last.find(",p=")); }), Verdict::kRefused);
  EXPECT_EQ(verdict([](std::string& last) { last.resize(last.find(",p=") + 3); }),
            Verdict::kRefused);
  EXPECT_EQ(verdict([](std::string& last) { last = last.substr(0, last.find(",p=")) + ",p=AAAA"; }),
            Verdict::kRefused);
  EXPECT_EQ(replaced("c=biws", "c=eSws"), Verdict::kRefused);
  EXPECT_EQ(replaced("c=biws", "c=biw"), Verdict::kRefused);
  EXPECT_EQ(replaced("c=biws,", ""), Verdict::kRefused);
  EXPECT_EQ(replaced("r=client", "r=Client"), Verdict::kRefused);
  EXPECT_EQ(replaced("r=client", "r=xclient"), Verdict::kRefused);
  EXPECT_EQ(replaced("nonce,p=", ",p="), Verdict::kRefused);
}

// Every byte of both messages matters, and none breaks anything.
TEST_P(SaslScram, HostileBytes) {
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    auto exchange = begin();
    ScramClient client(GetParam(), "sue", "secret");
    std::string message = client.first();
    if (i % 2 == 0) message = client.last(exchange->step(message, 0).answer);
    for (unsigned changes = random() % 3 + 1; changes > 0; --changes) {
      const size_t at = random() % message.size();
      if (random() % 3 == 0) {
        message.erase(at, 1);
      } else {
        message[at] = static_cast<char>(message[at] ^ static_cast<char>(random() % 255 + 1));
      }
    }
    EXPECT_NE(exchange->step(message, 0).verdict, Verdict::kAccepted) << message;
  }
}

}  // namespace
}  // namespace ackord::security
