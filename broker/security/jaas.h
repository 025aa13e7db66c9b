// One login module of a JAAS configuration, as a broker's `...sasl.jaas.config` has it:
//   class.of.TheModule required name="value" other="value";
// Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "protocol/types/result.h"

namespace ackord::security {

struct JaasModule {
  std::string name;
  std::map<std::string, std::string, std::less<>> options;
};

// Errors: INVALID_CONFIG. The text never has a value in it: values are secrets.
Result<JaasModule> parse_jaas(std::string_view text);

}  // namespace ackord::security
