// How the names of a schema become C++ names. The rule is described in codegen/README.md.
#pragma once

#include <string>
#include <string_view>

namespace ackord::codegen {

// "LastStableOffset" → "last_stable_offset", "KRaftVersion" → "k_raft_version".
std::string snake_case(std::string_view name);
// The same, with "_" behind it when C++ keeps the word for itself.
std::string member_name(std::string_view name);
// "LastStableOffset" → "lastStableOffset": the name in Kafka's JSON form.
std::string json_name(std::string_view name);
// Whether the name begins with a letter and holds only letters and digits.
bool is_name(std::string_view name);

}  // namespace ackord::codegen
