// Checks the codec against messages that another implementation has encoded.
#pragma once

#include <cstddef>
#include <iosfwd>

namespace ackord::codec {

struct Verdict {
  size_t passed = 0;
  size_t failed = 0;
};

// `in` holds one {"message", "version", "json", "hex"} a line. A line passes when its hex decodes
// to its JSON and its JSON encodes to its hex. The first differences go to `report`.
Verdict verify(std::istream& in, std::ostream& report);

}  // namespace ackord::codec
