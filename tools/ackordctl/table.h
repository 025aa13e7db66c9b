// How commands print: tables of aligned columns, and the small texts in them. Pure.
#pragma once

#include <boost/json/serialize.hpp>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types/ids.h"

namespace ackord::ctl {

using Row = std::vector<std::string>;

// The first row is the heading; all have as many columns.
std::string aligned(const std::vector<Row>& rows);

// First to last, itself included.
std::string range_text(Offset first, Offset last);
// Of an acknowledge type on the wire: "accept", …
std::string acknowledge_name(int8_t type);
// "12.3 s"
std::string seconds_text(int64_t ms);
// "2026-11-30T08:15:02Z"; "-" for a time that is not known (negative).
std::string time_text(TimeMs time_ms);

// A result for people, or for programs: table_of() and json_of() of its kind.
template <class Printed>
void print(const Printed& result, bool json, std::ostream& out) {
  if (json) {
    out << boost::json::serialize(json_of(result)) << "\n";
  } else {
    out << table_of(result);
  }
}

}  // namespace ackord::ctl
