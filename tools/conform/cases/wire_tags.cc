// Flexible versions: tagged fields that the broker does not know, and the headers of every API.
#include "protocol/generated/messages.h"
#include "tools/conform/case.h"
#include "tools/conform/kit/raw_bytes.h"

namespace ackord::conform {

AREA("wire.tags", "Tagged fields and header versions (KIP-482)");

namespace {

constexpr int16_t kMetadata = 3;

// An API that the broker advertises and whose schema is known.
struct Known {
  std::string name;
  int16_t key = 0;
  VersionRange versions;
  int16_t flexible_from = 0;
};

// All but Produce: with defaults it has acks 0, and no answer.
std::vector<Known> known_apis(Kit& kit) {
  std::vector<Known> out;
  for (const auto& [key, versions] : kit.broker().all_versions()) {
    const auto* info = protocol::find_message(protocol::MessageType::kRequest, key);
    if (info == nullptr || info->name == "ProduceRequest") continue;
    const std::string_view suffix = "Request";
    const std::string name(info->name.substr(0, info->name.size() - suffix.size()));
    out.push_back(
        {name,
         key,
         {std::max(versions.min, info->min_version), std::min(versions.max, info->max_version)},
         info->flexible_from});
  }
  return out;
}

// Defaults are enough for most.
Object least_request(const Known& api, int16_t version) {
  if (api.name == "ApiVersions" && version >= 3)
    return {{"clientSoftwareName", "ackord-conform"}, {"clientSoftwareVersion", "1"}};
  // A filter of unknown kinds closes the connection.
  if (api.name == "DescribeAcls")
    return {{"resourceTypeFilter", 1},
            {"patternTypeFilter", 1},
            {"operation", 1},
            {"permissionType", 1}};
  // Kafka never answers a request without transactions.
  if (api.name == "AddPartitionsToTxn" && version >= 4)
    return {{"transactions", list(Object{{"transactionalId", "none"}, {"producerId", 1}})}};
  return {};
}

// The answer can be read to its last byte, with the header that belongs to the version.
void expect_answer(Kit& kit, const Known& api, int16_t version) {
  Connection& connection = kit.connect();
  connection.receive(connection.send(api.name, version, least_request(api, version)));
  connection.close();
}

Value metadata_answer(Kit& kit, const RawBytes& payload, int16_t version = 9) {
  Connection& connection = kit.connect();
  connection.send_frame(payload.bytes());
  return connection.receive({"Metadata", version, kRawCorrelationId});
}

void expect_closed(Kit& kit, const RawBytes& payload) {
  Connection& connection = kit.connect();
  connection.send_frame(payload.bytes());
  connection.expect_closed();
}

// Metadata v9 that asks for no topics, up to its own tagged fields.
RawBytes metadata_without_tags() { return raw_header(kMetadata, 9, 2).these({1, 0, 0, 0}); }

}  // namespace

CASE(first_flexible_version_of_every_api, "KIP-482", .limit_s = 60) {
  for (const Known& api : known_apis(kit)) {
    if (api.versions.has(api.flexible_from)) expect_answer(kit, api, api.flexible_from);
  }
}

CASE(last_classic_version_of_every_api, "KIP-482", .limit_s = 60) {
  for (const Known& api : known_apis(kit)) {
    const auto classic = static_cast<int16_t>(api.flexible_from - 1);
    if (api.versions.has(classic)) expect_answer(kit, api, classic);
  }
}

CASE(every_version_of_every_api, "Kafka protocol guide, Network", .limit_s = 60) {
  for (const Known& api : known_apis(kit)) {
    for (int16_t version = api.versions.min; version <= api.versions.max; ++version)
      expect_answer(kit, api, version);
  }
}

// A field with tag 99 at the end of every request, and one in its header.
CASE(unknown_tags_in_every_api, "KIP-482", .limit_s = 60) {
  for (const Known& api : known_apis(kit)) {
    if (api.versions.max < api.flexible_from) continue;
    const auto whole =
        encode_request(api.name, api.versions.max, least_request(api, api.versions.max),
                       {.correlation_id = kRawCorrelationId, .client_id = "x"});
    const size_t header = raw_header(0, 0, 2).bytes().size();
    RawBytes request = raw_header(api.key, api.versions.max, 1).these({1, 5, 3, 'a', 'b', 'c'});
    request.raw({whole.begin() + static_cast<std::ptrdiff_t>(header), whole.end() - 1});
    Connection& connection = kit.connect();
    connection.send_frame(request.these({1, 99, 1, '?'}).bytes());
    connection.receive({api.name, api.versions.max, kRawCorrelationId});
    connection.close();
  }
}

CASE(unknown_tag_in_the_body, "KIP-482") {
  metadata_answer(kit, metadata_without_tags().these({1, 99, 1, '?'}))["brokers"].is_not_empty();
}
CASE(several_unknown_tags, "KIP-482") {
  const RawBytes request = metadata_without_tags().these({3, 5, 1, 26, 6, 0, 0x80, 0x80, 1, 1, 7});
  metadata_answer(kit, request)["brokers"].is_not_empty();
}
CASE(unknown_tag_in_a_nested_struct, "KIP-482") {
  RawBytes request = raw_header(kMetadata, 9, 2);
  request.these({2, 2, 'a', 1, 99, 1, '?', 0, 0, 0, 0});
  metadata_answer(kit, request)["topics"][0]["name"].is("a");
}
CASE(unknown_tag_in_the_header, "KIP-482") {
  RawBytes request = raw_header(kMetadata, 9, 1).these({1, 5, 3, 'a', 'b', 'c'});
  metadata_answer(kit, request.these({1, 0, 0, 0, 0}))["brokers"].is_not_empty();
}

CASE(tag_beyond_the_frame, "KIP-482") {
  expect_closed(kit, metadata_without_tags().these({1, 99, 0x7f}));
}
CASE(tag_count_huge, "KIP-482") {
  expect_closed(kit, metadata_without_tags().these({0xff, 0xff, 0xff, 0xff, 0x0f}));
}
CASE(tags_missing, "KIP-482") { expect_closed(kit, metadata_without_tags()); }
CASE(header_tag_beyond_the_frame, "KIP-482") {
  expect_closed(kit, raw_header(kMetadata, 9, 1).these({1, 5, 0x7f, 'a', 1, 0, 0, 0, 0}));
}
CASE(classic_header_on_a_flexible_version, "KIP-482") {
  // Without the header's tags the first byte of the body is taken for them, and one is missing.
  expect_closed(kit, raw_header(kMetadata, 9, 1).these({1, 0, 0, 0, 0}));
}

}  // namespace ackord::conform
