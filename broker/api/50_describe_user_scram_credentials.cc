// DescribeUserScramCredentials (key 50), version 0: mechanisms and iterations of users, never a key
// (KIP-554). May: DESCRIBE on the cluster.
#include <map>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/describe_user_scram_credentials_request.h"
#include "protocol/generated/describe_user_scram_credentials_response.h"

namespace ackord::api {
namespace {

using protocol::DescribeUserScramCredentialsRequest;
using protocol::DescribeUserScramCredentialsResponse;
using UserResult = DescribeUserScramCredentialsResponse::DescribeUserScramCredentialsResult;

UserResult described(const std::string& user, bool twice,
                     const metadata::ScramCredentials& credentials) {
  UserResult result;
  result.user = String(user);
  result.error_message.reset();
  const auto found = credentials.find(user);
  if (twice) {
    result.error_code = ErrorCode::DUPLICATE_RESOURCE;
    result.error_message = String(
        "Cannot describe SCRAM credentials for the same user twice in a single request: " + user);
  } else if (found == credentials.end()) {
    result.error_code = ErrorCode::RESOURCE_NOT_FOUND;
    result.error_message =
        String("Attempt to describe a user credential that does not exist: " + user);
  } else {
    for (const auto& [mechanism, credential] : found->second) {
      auto& info = result.credential_infos.emplace_back();
      info.mechanism = static_cast<int8_t>(mechanism);
      info.iterations = credential.iterations;
    }
  }
  return result;
}

}  // namespace

io::Task<DescribeUserScramCredentialsResponse> handle(RequestContext& context,
                                                      DescribeUserScramCredentialsRequest request) {
  DescribeUserScramCredentialsResponse response;
  response.error_message.reset();
  if (!Access(context).may_cluster(Operation::kDescribe)) {
    response.error_code = ErrorCode::CLUSTER_AUTHORIZATION_FAILED;
    response.error_message = String(kafka_text(response.error_code));
    co_return response;
  }
  const metadata::ScramCredentials& credentials = context.services.metadata.image().scram();
  std::map<std::string, int> named;
  if (request.users) {
    for (const auto& user : *request.users) ++named[user.name.str()];
  }
  if (named.empty()) {
    for (const auto& [user, theirs] : credentials) named[user] = 1;
  }
  for (const auto& [user, times] : named)
    response.results.push_back(described(user, times > 1, credentials));
  co_return response;
}

}  // namespace ackord::api
