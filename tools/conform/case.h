// Case: one expectation of the protocol, and how a file of cases is written:
//
//   AREA("fetch.session", "Fetch sessions (KIP-227)");
//   CASE(wrong_epoch, "KIP-227", .api = "Fetch", .first = 7, .last = 17) {
//     … kit.version() …
//   }
//
// makes the checks fetch.session.wrong_epoch[v7] … [v17], one a version; a version that the broker
// does not advertise fails, unless the case calls kit.needs(). A case without `api` is one check.
// `spec` is what it checks: a KIP, or a section of docs/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/conform/kit/kit.h"

namespace ackord::conform {

struct Area {
  const char* name;
  const char* title;
  // The API without which the whole area is skipped: set for what is not Kafka's.
  const char* needs = nullptr;
};

struct CaseOptions {
  const char* api = nullptr;
  int16_t first = 0;
  int16_t last = 0;
  // How long it may take; then it fails.
  int limit_s = 30;
  // It changes, or depends on, what all cases share (broker configs): nothing else runs beside it.
  bool alone = false;
};

struct Case {
  const Area* area;
  const char* name;
  const char* spec;
  CaseOptions options;
  void (*run)(Kit& kit);
};

// One case in one version.
struct Check {
  const Case* of;
  int16_t version = -1;
  std::string name;  // area.case or area.case[vN]
};

// Adds it to all_cases(); for the macros.
bool add_case(const Case& added);

// In the order of their areas and names, every version that the schemas have.
std::vector<Check> all_checks();
// Those that `only` names: areas (and the areas below them), cases, or checks, with commas between;
// all when it is empty. Throws std::runtime_error when a name names nothing.
std::vector<Check> select_checks(const std::vector<Check>& checks, std::string_view only);

// NOLINTBEGIN: macros, so that a case reads as a function with its name and its spec.
#define AREA(...)                                          \
  namespace {                                              \
  constexpr ::ackord::conform::Area kArea = {__VA_ARGS__}; \
  }                                                        \
  static_assert(true)

#define CASE(id, spec_text, ...)                                                         \
  static void case_##id(::ackord::conform::Kit& kit);                                    \
  [[maybe_unused]] static const bool added_##id = ::ackord::conform::add_case(           \
      {&kArea, #id, spec_text, ::ackord::conform::CaseOptions{__VA_ARGS__}, case_##id}); \
  static void case_##id([[maybe_unused]] ::ackord::conform::Kit& kit)
// NOLINTEND

}  // namespace ackord::conform
