// Normalising: an answer without what may differ between two brokers that behave alike, and the
// first place where two such answers differ.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/conform/differential/symbols.h"

namespace ackord::conform::differential {

struct Normaliser {
  const Symbols& symbols;
  // Names that begin with it are of the story. In answers that list everything a broker has, only
  // those are kept.
  std::string run;
  int64_t base_time = 0;
};

// Ids as placeholders, times as "time", error messages as "text", records as JSON, and so on: the
// table in normalise.cc says what, and why. Arrays of objects are sorted, and those that differ in
// one array only are joined: no order is promised there.
json::value normalise(std::string_view api, const json::value& answer, const Normaliser& with);

// A request with its record batches as JSON, for people.
json::value with_records_read(const json::value& request, const Normaliser& with);

// "path: one ≠ other", or nothing.
std::optional<std::string> first_difference(const json::value& one, const json::value& other,
                                            const std::string& path = {});

}  // namespace ackord::conform::differential
