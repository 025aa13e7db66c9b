// Options and help of `ackordctl batch`.
#include <memory>

#include "tools/ackordctl/batch_commands.h"
#include "tools/ackordctl/commands.h"

namespace ackord::ctl {
namespace {

using Options = std::shared_ptr<BatchOptions>;

constexpr const char* kExamples = R"(
Examples:
  ackordctl batch list --state PREPARE
  ackordctl batch list workers --prefix workers-job.17 --json
  ackordctl batch describe workers workers-job.17-204
  ackordctl batch commit workers workers-job.17-204
  ackordctl batch abort workers workers-job.17-204)";

constexpr const char* kCommit =
    R"(commits a prepared batch transaction whose coordinator cannot

Its records are acknowledged. Do so only when the engine's own commit of it is durable; the
engine's next start decides the same by itself. A commit is not taken back.)";

constexpr const char* kAbort =
    R"(aborts a batch transaction

Its records are delivered again. A prepared one whose results the engine has already made
durable would be worked on twice: commit that.)";

template <class Function>
void add_of_one(CLI::App* batch, const char* name, const char* help, const Options& options,
                const bool& json, Command& chosen, Function function) {
  CLI::App* command = batch->add_subcommand(name, help);
  command->add_option("group", options->group, "the share group")->required();
  command->add_option("transaction-id", options->id, "its batch transaction")->required();
  choose(command, options, json, chosen, function);
}

}  // namespace

void add_batch_commands(CLI::App& app, const bool& json, Command& chosen) {
  const auto options = std::make_shared<BatchOptions>();
  CLI::App* batch = app.add_subcommand("batch", "batch transactions of share groups");
  batch->require_subcommand(1);
  batch->footer(kExamples);

  CLI::App* list = batch->add_subcommand(
      "list", "batch transactions that have not ended, or those in some state");
  list->add_option("group", options->group, "the share group; all of them when left out");
  list->add_option("--prefix", options->prefix, "only ids that begin so");
  list->add_option("--state", options->states,
                   "those in this state (ONGOING, PREPARE, COMMITTED, ABORTED); may be given again")
      ->allow_extra_args(false)
      ->transform(CLI::IsMember({"ONGOING", "PREPARE", "COMMITTED", "ABORTED"}, CLI::ignore_case));
  choose(list, options, json, chosen, list_batches);

  add_of_one(batch, "describe", "one, with the ranges of records that are staged in it", options,
             json, chosen, describe_batch);
  add_of_one(batch, "commit", kCommit, options, json, chosen, commit_batch);
  add_of_one(batch, "abort", kAbort, options, json, chosen, abort_batch);
}

}  // namespace ackord::ctl
