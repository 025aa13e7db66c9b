// A shell command without input: its exit status, and what it writes to both of its outputs.
#pragma once

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace ackord::integration {

struct Output {
  int status = -1;
  std::string text;
};

inline Output shell(const std::string& command) {
  Output output;
  FILE* pipe = ::popen(("exec 2>&1 </dev/null; " + command).c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen");
  std::array<char, 4096> part{};
  while (const size_t size = std::fread(part.data(), 1, part.size(), pipe))
    output.text.append(part.data(), size);
  output.status = ::pclose(pipe);
  return output;
}

}  // namespace ackord::integration
