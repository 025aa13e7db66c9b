// What the generated messages promise, shown on a few of them.
#include <gtest/gtest.h>

#include "protocol/generated/api_versions_response.h"
#include "protocol/generated/consumer_group_member_metadata_value.h"
#include "protocol/generated/fetch_request.h"
#include "protocol/generated/header_versions.h"
#include "protocol/generated/messages.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/produce_request.h"
#include "protocol/generated/sasl_authenticate_request.h"
#include "protocol/generated/share_update_value.h"
#include "protocol/wire/header.h"
#include "tests/unit/protocol/wire/bytes.h"

namespace ackord::protocol {
namespace {

template <class Message>
std::vector<std::byte> encoded(const Message& message, int16_t version) {
  Writer out;
  message.encode(out, version);
  EXPECT_EQ(out.size(), message.size(version));
  return out.finish().copy();
}

TEST(Generated, Defaults) {
  const FetchRequest request;
  EXPECT_EQ(request.replica_id, BrokerId(-1));
  EXPECT_EQ(request.max_bytes, INT32_MAX);
  EXPECT_EQ(FetchRequest::FetchPartition().high_watermark, INT64_MAX);
  EXPECT_EQ(ProduceRequest().transactional_id, std::nullopt);
}

TEST(Generated, ADecodedMessageBorrows) {
  ProduceRequest request;
  request.topic_data.emplace_back().name = "t";
  const auto bytes = encoded(request, 9);
  Reader in(bytes);
  const auto decoded = ProduceRequest::decode(in, 9);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, request);
  const auto* name = reinterpret_cast<const std::byte*>(decoded->topic_data[0].name.data());
  EXPECT_TRUE(name >= bytes.data() && name < bytes.data() + bytes.size());
}

TEST(Generated, AVersionThatIsNone) {
  Reader in({});
  const auto decoded = ProduceRequest::decode(in, 99);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code, ErrorCode::UNSUPPORTED_VERSION);
}

TEST(Generated, NullWhereTheVersionForbidsIt) {
  MetadataRequest request;
  request.topics.reset();
  EXPECT_EQ(hex_of(encoded(request, 0)), "00000000") << "written as empty";
  EXPECT_EQ(hex_of(encoded(request, 1)), "ffffffff");
  const auto null = bytes_of("ffffffff");
  Reader old(null);
  EXPECT_FALSE(MetadataRequest::decode(old, 0));
  Reader newer(null);
  const auto decoded = MetadataRequest::decode(newer, 1);
  ASSERT_TRUE(decoded);
  EXPECT_FALSE(decoded->topics.has_value());
}

// As a stock Kafka 4.4 has it in its log: a member that speaks the new protocol.
TEST(Generated, ATaggedStructThatIsNullIsAZero) {
  ConsumerGroupMemberMetadataValue value;
  value.classic_member_metadata.reset();
  value.rebalance_timeout_ms = 300000;
  value.instance_id.reset();
  value.rack_id.reset();
  value.subscribed_topic_regex.reset();
  value.server_assignor.reset();
  const auto bytes = encoded(value, 0);
  EXPECT_EQ(hex_of(bytes),
            "0000010101"
            "00"
            "000493e0"
            "00"
            "01"
            "00"
            "01"
            "00");
  Reader in(bytes);
  const auto decoded = ConsumerGroupMemberMetadataValue::decode(in, 0);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, value);
}

TEST(Generated, OurTagsLeaveKafkasBytesAsTheyAre) {
  ShareUpdateValue value;
  value.state_batches.emplace_back().last_offset = 9;
  const std::string plain = hex_of(encoded(value, 0));
  EXPECT_EQ(plain.substr(plain.size() - 4), "0000")
      << "neither the batch nor the value has a tagged field";
  value.owners.emplace_back().transaction_id = "x";
  value.state_batches[0].owner_index = 0;
  const auto bytes = encoded(value, 0);
  Reader in(bytes);
  const auto decoded = ShareUpdateValue::decode(in, 0);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(*decoded, value);
}

TEST(Generated, SecretsAreMasked) {
  SaslAuthenticateRequest request;
  request.auth_bytes = Bytes(std::string_view("hunter2"));
  EXPECT_EQ(request.to_string(), "SaslAuthenticateRequest(authBytes=<hidden>)");
}

TEST(Generated, Text) {
  ApiVersionsResponse response;
  response.error_code = ErrorCode::UNSUPPORTED_VERSION;
  response.api_keys.emplace_back().max_version = 3;
  EXPECT_TRUE(
      response.to_string().starts_with("ApiVersionsResponse(errorCode=35/UNSUPPORTED_VERSION, "
                                       "apiKeys=[(apiKey=0, minVersion=0, maxVersion=3)], "))
      << response.to_string();
}

TEST(Generated, TableOfMessages) {
  ASSERT_NE(find_message("ProduceRequest"), nullptr);
  EXPECT_EQ(find_message("ProduceRequest")->max_version, ProduceRequest::kMaxVersion);
  EXPECT_EQ(find_message("Nothing"), nullptr);
  EXPECT_EQ(find_message(MessageType::kResponse, 18)->name, "ApiVersionsResponse");
}

TEST(Header, Versions) {
  EXPECT_EQ(request_header_version(0, 8), 1);
  EXPECT_EQ(request_header_version(0, 9), 2);
  EXPECT_EQ(response_header_version(0, 8), 0);
  EXPECT_EQ(response_header_version(0, 9), 1);
  EXPECT_EQ(request_header_version(18, 3), 2);
  EXPECT_EQ(response_header_version(18, 3), 0)
      << "ApiVersions is answered before versions are known";
  EXPECT_EQ(request_header_version(18, 99), 2) << "a later version is read to be refused";
  EXPECT_EQ(request_header_version(17, 1), 1) << "SaslHandshake is never flexible";
  EXPECT_EQ(request_header_version(12345, 0), -1);
}

TEST(Header, RoundTrip) {
  RequestHeader header;
  header.request_api_key = 18;
  header.request_api_version = 3;
  header.correlation_id = 7;
  header.client_id = "c";
  Writer out;
  write_request_header(out, header);
  const auto bytes = out.finish().copy();
  EXPECT_EQ(hex_of(bytes),
            "0012"
            "0003"
            "00000007"
            "000163"
            "00")
      << "the client id is never compact";
  Reader in(bytes);
  const auto read = read_request_header(in);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, header);
  EXPECT_EQ(in.remaining(), 0U);
  for (size_t size = 0; size < bytes.size(); ++size) {
    Reader cut({bytes.data(), size});
    EXPECT_FALSE(read_request_header(cut)) << size;
  }
}

TEST(Header, UnknownApi) {
  const auto bytes = bytes_of("7fff 0000 00000000 ffff");
  Reader in(bytes);
  const auto read = read_request_header(in);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::UNSUPPORTED_VERSION);
}

}  // namespace
}  // namespace ackord::protocol
