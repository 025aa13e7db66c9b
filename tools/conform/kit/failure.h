// How a case ends early. Thrown by the kit and by cases, caught by the runner alone.
#pragma once

#include <stdexcept>
#include <string>

namespace ackord::conform {

// The broker did not do what the case expects. what(): expected and received, in readable form.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The case cannot be run here, for the reason given: neither passed nor failed.
class Skip : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace ackord::conform
