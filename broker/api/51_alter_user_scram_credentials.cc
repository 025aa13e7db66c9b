// AlterUserScramCredentials (key 51), version 0: sets and takes away what users prove themselves
// with, each user for itself (KIP-554). May: ALTER on the cluster.
#include <utility>
#include <vector>

#include "broker/api/authorize.h"
#include "broker/api/error_texts.h"
#include "broker/api/handlers.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/generated/alter_user_scram_credentials_request.h"
#include "protocol/generated/alter_user_scram_credentials_response.h"

namespace ackord::api {

using protocol::AlterUserScramCredentialsRequest;
using protocol::AlterUserScramCredentialsResponse;

io::Task<AlterUserScramCredentialsResponse> handle(RequestContext& context,
                                                   AlterUserScramCredentialsRequest request) {
  std::vector<metadata::ScramDeletion> deletions;
  for (const auto& one : request.deletions) deletions.push_back({one.name.str(), one.mechanism});
  std::vector<metadata::ScramUpsertion> upsertions;
  for (const auto& one : request.upsertions) {
    upsertions.push_back({one.name.str(), one.mechanism, one.iterations, std::string(one.salt.sv()),
                          std::string(one.salted_password.sv())});
  }
  metadata::ScramResults results;
  for (const auto& one : deletions) results[one.user];
  for (const auto& one : upsertions) results[one.user];
  Result<metadata::ScramResults> altered =
      error(ErrorCode::CLUSTER_AUTHORIZATION_FAILED,
            std::string(kafka_text(ErrorCode::CLUSTER_AUTHORIZATION_FAILED)));
  if (Access(context).may_cluster(Operation::kAlter)) {
    auto altering =
        context.services.metadata.alter_scram(std::move(deletions), std::move(upsertions));
    altered = co_await std::move(altering);
  }
  if (altered) results = std::move(*altered);
  AlterUserScramCredentialsResponse response;
  for (const auto& [user, wrong] : results) {
    auto& out = response.results.emplace_back();
    out.user = String(user);
    out.error_message.reset();
    if (altered && !wrong) continue;
    out.error_code = altered ? wrong->code : altered.error().code;
    out.error_message = String(altered ? wrong->message : altered.error().message);
  }
  co_return response;
}

}  // namespace ackord::api
