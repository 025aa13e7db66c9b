// micro-bench: the hot paths under Google Benchmark, whose options it takes.
#include <benchmark/benchmark.h>

#include "tests/hot_paths/hot_paths.h"

int main(int argc, char** argv) {
  for (const auto& path : ackord::hot_paths::all()) {
    benchmark::RegisterBenchmark(path.name.c_str(), [path](benchmark::State& state) {
      const auto work = path.make();
      for (auto _ : state) work();
      if (path.records > 0) state.SetItemsProcessed(state.iterations() * path.records);
      if (path.bytes > 0) state.SetBytesProcessed(state.iterations() * path.bytes);
    });
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
