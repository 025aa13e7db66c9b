// The differential mode: the same seeded random requests to two brokers, valid ones and ones that
// nearly are; what differs in the answers is reported. After a difference, the topics, groups and
// producers that the request named are replaced, so that one difference does not cause others.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "client/config.h"

namespace ackord::conform::differential {

struct DifferentialOptions {
  uint64_t seed = 1;
  int count = 1000;
  std::vector<std::string> only;  // APIs; empty: all
};

// Writes each difference (step, request with placeholders, where they differ first, both answers)
// and "N requests, N differences". The number of differences. Throws std::runtime_error when a
// broker is not there.
int run_differential(const client::Endpoint& bootstrap, const client::Endpoint& against,
                     const DifferentialOptions& options, std::ostream& out);

}  // namespace ackord::conform::differential
