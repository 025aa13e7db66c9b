// The ACL requests where no authorizer is configured: each is answered, with SECURITY_DISABLED.
#include "tools/conform/case.h"
#include "tools/conform/kit/admin.h"

namespace ackord::conform {

AREA("acls.none", "ACLs without an authorizer");

namespace {

// As in the protocol: a resource type, a pattern type, an operation, a permission.
constexpr int kAny = 1;
constexpr int kTopic = 2;
constexpr int kLiteral = 3;
constexpr int kRead = 3;
constexpr int kAllow = 3;

void needs_no_authorizer(Kit& kit) {
  const auto configs = configs_of(kit, ConfigResource::kBroker, std::to_string(node_id(kit)));
  const auto found = configs.find("authorizer.class.name");
  if (found != configs.end() && found->second && !found->second->empty())
    throw Skip("it has an authorizer");
}

Object creation(const std::string& topic) {
  return {{"resourceType", kTopic},      {"resourceName", topic}, {"resourcePatternType", kLiteral},
          {"principal", "User:conform"}, {"host", "*"},           {"operation", kRead},
          {"permissionType", kAllow}};
}

Object filter() {
  return {{"resourceTypeFilter", kAny}, {"resourceNameFilter", nullptr},
          {"patternTypeFilter", kAny},  {"principalFilter", nullptr},
          {"hostFilter", nullptr},      {"operation", kAny},
          {"permissionType", kAny}};
}

}  // namespace

CASE(describe, "KIP-140", .api = "DescribeAcls", .first = 1, .last = 3) {
  needs_no_authorizer(kit);
  const Value answer = kit.ask("DescribeAcls", kit.version(), filter());
  answer["errorCode"].is(ErrorCode::SECURITY_DISABLED);
  answer["errorMessage"].is_not_empty();
  answer["resources"].has_size(0);
}

CASE(create, "KIP-140", .api = "CreateAcls", .first = 1, .last = 3) {
  needs_no_authorizer(kit);
  const Value results =
      kit.ask("CreateAcls", kit.version(),
              {{"creations", list(creation(kit.name("a")), creation(kit.name("b")))}})["results"];
  results.has_size(2);
  for (const Value& result : results.items()) {
    result["errorCode"].is(ErrorCode::SECURITY_DISABLED);
    result["errorMessage"].is_not_empty();
  }
}

CASE(remove, "KIP-140", .api = "DeleteAcls", .first = 1, .last = 3) {
  needs_no_authorizer(kit);
  const Value results = kit.ask("DeleteAcls", kit.version(),
                                {{"filters", list(filter(), filter())}})["filterResults"];
  results.has_size(2);
  for (const Value& result : results.items()) {
    result["errorCode"].is(ErrorCode::SECURITY_DISABLED);
    result["matchingAcls"].has_size(0);
  }
}

CASE(nothing, "KIP-140") {
  needs_no_authorizer(kit);
  kit.ask("CreateAcls", 3, {{"creations", list()}})["results"].has_size(0);
  kit.ask("DeleteAcls", 3, {{"filters", list()}})["filterResults"].has_size(0);
}

// Kafka closes the connection at a kind that it does not know; an error is as good.
CASE(unknown_kinds, "KIP-140") {
  needs_no_authorizer(kit);
  Connection& connection = kit.connect();
  const Sent sent =
      connection.send("DescribeAcls", 3, merged(filter(), {{"resourceTypeFilter", 0}}));
  if (const auto frame = connection.receive_frame())
    decode_answer(sent, *frame)["errorCode"].is_one_of(
        {ErrorCode::SECURITY_DISABLED, ErrorCode::INVALID_REQUEST});
  kit.ask("Metadata", 12, {});
}

}  // namespace ackord::conform
