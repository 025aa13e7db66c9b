// The values of uncompressed record batches, by offset; control batches have none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace ackord::simulation {

std::map<int64_t, std::string> texts_of(std::span<const std::byte> batches);

}  // namespace ackord::simulation
