// The commands of ackordctl, as CLI11 subcommands. Parsing sets `chosen`, which does the work on a
// connected cluster; wrong usage ends the parsing with a CLI::ParseError.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <ostream>

#include "client/cluster.h"

namespace ackord::ctl {

using Command =
    std::function<Result<void>(client::Cluster&, const client::Deadline&, std::ostream&)>;

// Makes `function` the command when this subcommand is the one.
template <class Options, class Function>
void choose(CLI::App* subcommand, std::shared_ptr<Options> options, const bool& json,
            Command& chosen, Function function) {
  subcommand->callback([options, &json, &chosen, function] {
    chosen = [options, &json, function](client::Cluster& cluster, const client::Deadline& deadline,
                                        std::ostream& out) {
      options->json = json;
      return function(cluster, *options, deadline, out);
    };
  });
}

// `json`: of the whole program; read when the command runs. Both outlive the app.
void add_share_commands(CLI::App& app, const bool& json, Command& chosen);
void add_txn_commands(CLI::App& app, const bool& json, Command& chosen);
void add_batch_commands(CLI::App& app, const bool& json, Command& chosen);

}  // namespace ackord::ctl
