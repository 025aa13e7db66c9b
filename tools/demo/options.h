// The command line that all programs of the demo share.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/demo/job.h"

namespace ackord::demo {

inline void add_options(CLI::App& app, Options& options) {
  app.add_option("--bootstrap", options.bootstrap, "the broker")->capture_default_str();
  app.add_option("--group", options.group, "the share group")->capture_default_str();
  app.add_option("--input-topic", options.input, "where the lines come from")
      ->capture_default_str();
  app.add_option("--output-topic", options.output, "where the results go")->capture_default_str();
}

}  // namespace ackord::demo
