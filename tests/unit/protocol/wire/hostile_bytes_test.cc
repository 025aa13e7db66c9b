// Messages that a peer has cut or spoilt: a decoder answers an error or a message, never crashes,
// and never allocates much more than the message is long.
#include <gtest/gtest.h>

#include <array>
#include <boost/json.hpp>
#include <fstream>
#include <random>
#include <string>

#include "protocol/generated/fetch_response.h"
#include "protocol/json/json_message.h"
#include "tests/unit/protocol/wire/bytes.h"

namespace ackord::protocol {
namespace {

struct Vector {
  const JsonMessage* message;
  int16_t version;
  std::vector<std::byte> bytes;
};

// Every message once, in the last of its versions: the vectors are sorted.
std::vector<Vector> vectors() {
  std::vector<Vector> vectors;
  std::ifstream in(std::string(ACKORD_TEST_DATA) + "/vectors/kafka-4.4-messages.jsonl");
  std::string line;
  while (std::getline(in, line)) {
    const boost::json::value parsed = boost::json::parse(line);
    const JsonMessage* message =
        find_json_message(std::string_view(parsed.at("message").as_string()));
    if (message == nullptr) continue;
    Vector vector{message, static_cast<int16_t>(parsed.at("version").as_int64()),
                  bytes_of(std::string_view(parsed.at("hex").as_string()))};
    if (!vectors.empty() && vectors.back().message == message) {
      vectors.back() = std::move(vector);
    } else {
      vectors.push_back(std::move(vector));
    }
  }
  return vectors;
}

TEST(HostileBytes, EveryPrefixIsAnError) {
  const std::vector<Vector> all = vectors();
  ASSERT_GT(all.size(), 200U);
  for (const Vector& vector : all) {
    for (size_t size = 0; size < vector.bytes.size(); ++size) {
      // A copy of its own, so that a sanitizer sees a read beyond its end.
      const std::vector<std::byte> cut(vector.bytes.begin(),
                                       vector.bytes.begin() + static_cast<std::ptrdiff_t>(size));
      Reader in(cut);
      EXPECT_FALSE(vector.message->decode(in, vector.version))
          << vector.message->name << " cut at " << size;
    }
  }
}

TEST(HostileBytes, SpoiltBytesAreReadOrRefused) {
  std::mt19937 random(1);
  for (const Vector& vector : vectors()) {
    if (vector.bytes.empty()) continue;
    for (int i = 0; i < 200; ++i) {
      std::vector<std::byte> spoilt = vector.bytes;
      for (int changes = 0; changes < 3; ++changes) {
        const auto value =
            std::to_array<unsigned>({0xff, 0x7f, 0x80, 0, static_cast<unsigned>(random() & 0xff)});
        spoilt[random() % spoilt.size()] = static_cast<std::byte>(value[random() % value.size()]);
      }
      Reader in(spoilt);
      vector.message->print(in, vector.version);
    }
  }
}

TEST(HostileBytes, AHugeCountIsRefusedBeforeAnythingIsAllocated) {
  // FetchResponse v12: throttle, error, session, then two thousand million topics.
  const auto bytes = bytes_of("00000000 0000 00000000 ffffffff07 00");
  Reader in(bytes);
  const auto decoded = FetchResponse::decode(in, 12);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::INVALID_REQUEST);
  EXPECT_EQ(decoded.error().message,
            "FetchResponse v12: an array has more elements than the message can hold at byte 15");
}

}  // namespace
}  // namespace ackord::protocol
