// hot-path NAME TIMES: does the work so many times, and nothing else; for a profiler or a counter
// of instructions. Without arguments: the names, one a line.
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/hot_paths/hot_paths.h"

int main(int argc, char** argv) {
  for (const auto& path : ackord::hot_paths::all()) {
    if (argc == 1) std::cout << path.name << "\n";
    if (argc != 3 || path.name != argv[1]) continue;
    const auto work = path.make();
    for (long left = std::strtol(argv[2], nullptr, 10); left > 0; --left) work();
    return 0;
  }
  return argc == 1 ? 0 : 2;
}
