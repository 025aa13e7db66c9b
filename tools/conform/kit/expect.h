// Expectations of what is no part of an answer: counts, times, lists that a case has made.
#pragma once

#include <string>
#include <string_view>

#include "tools/conform/kit/failure.h"
#include "tools/conform/kit/show.h"

namespace ackord::conform {

// `what` names the value in the message.
template <class Actual, class Expected>
void expect_equal(const Actual& actual, const Expected& expected, std::string_view what) {
  if (!(actual == expected)) {
    throw Failure(std::string(what) + ": expected " + show(expected) + ", received " +
                  show(actual));
  }
}

template <class Number>
void expect_between(const Number& actual, const Number& low, const Number& high,
                    std::string_view what) {
  if (actual < low || actual > high) {
    throw Failure(std::string(what) + ": expected " + show(low) + " to " + show(high) +
                  ", received " + show(actual));
  }
}

// `what` says what holds: "the connection is closed".
inline void expect(bool truth, std::string_view what) {
  if (!truth) throw Failure("expected: " + std::string(what));
}

}  // namespace ackord::conform
