// Running a script of tests/peers/kafka.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "tests/integration/support/raw_client.h"

namespace ackord::integration {

struct ToolRun {
  // The scripts' exit status where there is no Kafka.
  static constexpr int kNoKafka = 77;

  int status = -1;
  std::string output;
};

// `command`: the script's name and arguments, as a shell has them.
inline ToolRun run_kafka_tool(const std::string& command) {
  ToolRun run;
  FILE* pipe = ::popen((std::string(ACKORD_KAFKA_PEER) + "/" + command + " 2>&1").c_str(), "r");
  require(pipe != nullptr, command);
  char block[4096];
  for (size_t got = 0; (got = std::fread(block, 1, sizeof block, pipe)) > 0;)
    run.output.append(block, got);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) run.status = WEXITSTATUS(status);
  return run;
}

}  // namespace ackord::integration
