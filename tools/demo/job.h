// What the demo's worker does to a line, and what its verifier therefore expects. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/types/ids.h"

namespace ackord::demo {

// Where the programs meet: options that all of them have.
struct Options {
  std::string bootstrap = "localhost:9092";
  std::string group = "quickstart";
  std::string input = "lines";
  std::string output = "processed";
};

// One record of about fifty is refused. Which ones follows from their places, so that the verifier
// knows them too.
bool is_rejected(int32_t partition, Offset offset);

// "lines-3/42": names the input record.
std::string output_key(std::string_view topic, int32_t partition, Offset offset);
// "<number of the line>\t<CRC-32C of the line, hexadecimal>\t<the line in capitals (ASCII)>"
std::string output_value(std::string_view number, std::string_view line);

}  // namespace ackord::demo
