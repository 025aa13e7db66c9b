// The syntax of server.properties: Java's property files (java.util.Properties.load), in UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/types/result.h"

namespace ackord::main {

struct Property {
  std::string name;
  std::string value;
  std::string origin;  // "server.properties:12" or "--set", for error texts
};

// In the order of the file; a name may come twice. Errors: INVALID_CONFIG with file and line.
Result<std::vector<Property>> parse_properties(std::string_view text, std::string_view file_name);

// "name=value" of the command line.
Result<Property> parse_assignment(std::string_view text);

}  // namespace ackord::main
