// Result<T>: a value, or an Error with Kafka's code and a text for people. Errors that a peer's
// bytes or a caller's wish can cause travel in it; programmer errors are assertions.
#pragma once

#include <boost/system/result.hpp>
#include <cstdlib>
#include <string>
#include <utility>

#include "protocol/types/error_code.h"

namespace ackord {

struct Error {
  ErrorCode code = ErrorCode::UNKNOWN_SERVER_ERROR;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

// Called by Result::value() on an error: the caller had to check first.
[[noreturn]] inline void throw_exception_from_error(const Error&, const boost::source_location&) {
  std::abort();
}

template <class T>
using Result = boost::system::result<T, Error>;

inline Error error(ErrorCode code, std::string message = {}) {
  return Error{code, std::move(message)};
}

}  // namespace ackord
