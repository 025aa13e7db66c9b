// Mutations: a valid request made nearly valid: a few of its fields, or the bytes of its frame.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/conform/differential/world.h"
#include "tools/conform/kit/json.h"

namespace ackord::conform::differential {

// Changes one field, by its kind: an edge of a number's type; an empty, long or other text;
// an empty, null or doubled array, spoiled records. What comes out can be encoded. Nothing is
// changed when nothing was found that can be.
Object mutate(World& world, Random& random, std::string_view api, int16_t version,
              const Object& request);

// How a frame is spoiled. The bytes are chosen when it is done: frames of the two brokers may
// differ in length.
enum class Spoil : int8_t {
  kNot,
  kTruncated,  // some bytes at its end are missing
  kLonger,     // bytes follow
  kFlipped,    // one bit of the body
  kVersion,    // a version that is not the one of the body
};
// `size`: of what the broker with the shorter frame gets; `at` chooses.
void spoil(std::vector<std::byte>& frame, Spoil how, uint64_t at);

}  // namespace ackord::conform::differential
