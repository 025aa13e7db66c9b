// What the ACL requests are answered where no authorizer is configured, in Kafka's words.
#pragma once

#include <string_view>

namespace ackord::api {

inline constexpr std::string_view kNoAuthorizer = "No Authorizer is configured on the broker";

}  // namespace ackord::api
