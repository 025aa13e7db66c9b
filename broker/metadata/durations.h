// Config values that are ISO-8601 durations.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ackord::metadata {

// Milliseconds of "PnDTnHnMn.nS" (Java's Duration: days, hours, minutes, seconds with fraction; any
// part may be missing but one). nullopt for anything else, and for a negative one.
std::optional<int64_t> parse_duration_ms(std::string_view text);

// share.auto.offset.reset=by_duration:… ; nullopt for another policy or a duration that does not
// parse.
std::optional<int64_t> by_duration_ms(std::string_view policy);

}  // namespace ackord::metadata
