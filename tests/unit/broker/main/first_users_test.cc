#include "broker/main/first_users.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "broker/security/base64.h"
#include "broker/security/crypto.h"

namespace ackord::main {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string refusal(const std::string& text) {
  const auto users = parse_first_users({text});
  return users ? "accepted" : users.error().message;
}

TEST(FirstUsers, APasswordIsSalted) {
  const auto users = parse_first_users({"SCRAM-SHA-512=[name=alice,password=a-secret]"});
  ASSERT_TRUE(users) << users.error().message;
  ASSERT_EQ(users->size(), 1u);
  const metadata::ScramUpsertion& alice = users->front();
  EXPECT_EQ(alice.user, "alice");
  EXPECT_EQ(alice.mechanism, 2);
  EXPECT_EQ(alice.iterations, 4096);
  EXPECT_EQ(alice.salt.size(), 20u);
  EXPECT_EQ(alice.salted_password,
            security::pbkdf2(security::Digest::kSha512, "a-secret", alice.salt, 4096));
}

TEST(FirstUsers, EverythingMayBeSaid) {
  const std::string salted = security::to_base64(std::string(32, 'x'));
  const auto users = parse_first_users(
      {"SCRAM-SHA-256=[name=\"a,b=c\",iterations=8192,salt=\"N3E=\",password=\"p,=q\"]",
       "SCRAM-SHA-256=[name=bob,salt=\"N3E=\",saltedpassword=\"" + salted + "\"]"});
  ASSERT_TRUE(users) << users.error().message;
  EXPECT_EQ((*users)[0].user, "a,b=c");
  EXPECT_EQ((*users)[0].salt, "7q");
  EXPECT_EQ((*users)[0].iterations, 8192);
  EXPECT_EQ((*users)[0].salted_password,
            security::pbkdf2(security::Digest::kSha256, "p,=q", "7q", 8192));
  EXPECT_EQ((*users)[1].mechanism, 1);
  EXPECT_EQ((*users)[1].salted_password, std::string(32, 'x'));
}

TEST(FirstUsers, AFileHasOneOnEachLine) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("ackord-users-" + std::to_string(::getpid()) + ".txt");
  std::ofstream(path) << "SCRAM-SHA-256=[name=a,password=x]\n\nSCRAM-SHA-512=[name=b,password=y]\n";
  const auto users = parse_first_users({"@" + path.string()});
  ASSERT_TRUE(users) << users.error().message;
  EXPECT_EQ(users->size(), 2u);
  std::filesystem::remove(path);
  EXPECT_THAT(refusal("@" + path.string()), HasSubstr("cannot read"));
}

TEST(FirstUsers, WhatIsNoneIsRefusedWithoutItsPassword) {
  for (const char* text :
       {"", "alice", "PLAIN=[name=a,password=hidden]", "SCRAM-SHA-256=name=a,password=hidden",
        "SCRAM-SHA-256=[name=a,password=hidden", "SCRAM-SHA-256=[password=hidden]",
        "SCRAM-SHA-256=[name=a]", "SCRAM-SHA-256=[]", "SCRAM-SHA-256=[name]",
        "SCRAM-SHA-256=[name=a,password=hidden,]", "SCRAM-SHA-256=[name=a,password=\"hidden]",
        "SCRAM-SHA-256=[name=a,password=\"hidden\"x]", "SCRAM-SHA-256=[name=a,passwort=hidden]",
        "SCRAM-SHA-256=[name=a,password=hidden,iterations=4095]",
        "SCRAM-SHA-256=[name=a,password=hidden,iterations=16385]",
        "SCRAM-SHA-256=[name=a,password=hidden,iterations=x]",
        "SCRAM-SHA-256=[name=a,password=hidden,salt=%]",
        "SCRAM-SHA-256=[name=a,salt=N3E=,saltedpassword=AAAA]",
        "SCRAM-SHA-256=[name=a,password=hidden,saltedpassword=AAAA]"})
    EXPECT_THAT(refusal(text), AllOf(HasSubstr("--add-scram: "), Not(HasSubstr("hidden")))) << text;
}

}  // namespace
}  // namespace ackord::main
