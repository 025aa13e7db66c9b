// The users of --add-scram: somebody must be able to log in before anybody can make users. The form
// is that of Kafka's `kafka-storage format --add-scram`:
//   SCRAM-SHA-512=[name=alice,password=secret]
// with iterations=8192, salt="<base64>", and saltedpassword="<base64>" in place of a password.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "broker/io/task.h"
#include "broker/metadata/metadata_service.h"
#include "protocol/types/result.h"

namespace ackord::main {

// `texts`: each a user, or @ and the path of a file that has one on each line, so that no password
// stands in the list of processes. Errors: INVALID_CONFIG, which never repeats a password.
Result<std::vector<metadata::ScramUpsertion>> parse_first_users(
    const std::vector<std::string>& texts);

// Those that the log does not have already, durably; what a user has is left as it is.
io::Task<Result<void>> add_first_users(metadata::MetadataService& metadata,
                                       std::vector<metadata::ScramUpsertion> users);

}  // namespace ackord::main
