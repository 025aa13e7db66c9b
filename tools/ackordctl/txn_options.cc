// Options and help of `ackordctl txn`. Kafka's names of options work too (kafka-transactions.sh).
#include <limits>
#include <memory>

#include "tools/ackordctl/commands.h"
#include "tools/ackordctl/txn_commands.h"

namespace ackord::ctl {
namespace {

using Options = std::shared_ptr<TxnOptions>;

constexpr const char* kExamples = R"(
Examples:
  ackordctl txn list --state Ongoing --duration 60000
  ackordctl txn list --pattern 'payments-.*' --json
  ackordctl txn describe payments-7
  ackordctl txn abort payments-7
  ackordctl txn producers --topic orders --partition 3
  ackordctl txn abort --topic orders --partition 3 --start-offset 1207)";

constexpr const char* kAbort =
    R"(aborts a transaction that is stuck

With a transactional id: its open transaction, on every partition, share acknowledgements
included, as a new producer of that id does it (InitProducerId). Its output is discarded,
its records are delivered again, AND ITS PRODUCER IS FENCED: that process fails with its next
call, and has to be started again. A prepared two-phase transaction is aborted, too. When
nothing is open nothing is done, and nobody is fenced.

With --topic and --partition: writes an abort marker there, and nowhere else (WriteTxnMarkers),
for a transaction that its coordinator has forgotten, so that the last stable offset moves.
Refused while a coordinator has it open. Name it by --start-offset (see txn producers), or by
--producer-id, --producer-epoch and --coordinator-epoch.)";

constexpr const char* kCommit =
    R"(commits an open two-phase transaction (KIP-939) whose owner cannot

Output and share acknowledgements become final. Only for transactions without a timeout:
that the owner had prepared it is yours to know. To abort one: txn abort.)";

void add_partition(CLI::App* command, const Options& options, bool required) {
  command->add_option("--topic", options->topic, "the topic")->required(required);
  command->add_option("--partition", options->partition, "its partition")
      ->required(required)
      ->check(CLI::NonNegativeNumber);
}

void add_list(CLI::App* txn, const Options& options, const bool& json, Command& chosen) {
  CLI::App* list = txn->add_subcommand("list", "transactional ids, and where they stand");
  TransactionFilter& filter = options->filter;
  list->add_option("--state", filter.states,
                   "only in this state (Empty, Ongoing, PrepareCommit, PrepareAbort, "
                   "CompleteCommit, CompleteAbort); may be given again")
      ->allow_extra_args(false);
  list->add_option("--producer-id", filter.producer_ids, "only of this producer")
      ->allow_extra_args(false);
  list->add_option("--duration,--duration-filter", filter.longer_than_ms,
                   "only those that are open for longer than this, ms")
      ->check(CLI::NonNegativeNumber);
  list->add_option("--pattern,--transactional-id-pattern", filter.pattern,
                   "only ids that match this expression (RE2)");
  choose(list, options, json, chosen, list_txns);
}

// Exactly one of the three ways to say which.
void check_abort(const TxnOptions& options) {
  const bool place = !options.topic.empty() && options.partition >= 0;
  const bool any_place = !options.topic.empty() || options.partition >= 0 || options.start_offset ||
                         options.producer_id;
  if (!options.id.empty()) {
    if (any_place)
      throw CLI::ValidationError("abort", "takes a transactional id, or a partition: not both");
    return;
  }
  if (!place)
    throw CLI::ValidationError("abort", "needs a transactional id, or --topic and --partition");
  if (options.start_offset.has_value() == options.producer_id.has_value())
    throw CLI::ValidationError("abort", "needs --start-offset, or --producer-id");
  if (options.producer_id && (options.producer_epoch < 0 || options.coordinator_epoch < 0))
    throw CLI::ValidationError("--producer-id",
                               "needs --producer-epoch and --coordinator-epoch beside it");
}

void add_abort(CLI::App* txn, const Options& options, const bool& json, Command& chosen) {
  CLI::App* abort = txn->add_subcommand("abort", kAbort);
  abort->add_option("transactional-id,--transactional-id", options->id, "all of its transaction");
  add_partition(abort, options, false);
  abort->add_option("--start-offset", options->start_offset, "where the transaction starts there")
      ->check(CLI::NonNegativeNumber);
  abort->add_option("--producer-id", options->producer_id, "its producer")
      ->check(CLI::NonNegativeNumber);
  abort->add_option("--producer-epoch", options->producer_epoch)
      ->check(CLI::Range(0, int{std::numeric_limits<int16_t>::max()}));
  abort->add_option("--coordinator-epoch", options->coordinator_epoch)
      ->check(CLI::NonNegativeNumber);
  choose(abort, options, json, chosen,
         [](auto& cluster, const TxnOptions& asked, const auto& deadline, auto& out) {
           return asked.id.empty() ? abort_hanging(cluster, asked, deadline, out)
                                   : abort_txn(cluster, asked, deadline, out);
         });
  abort->parse_complete_callback([options] { check_abort(*options); });
}

}  // namespace

void add_txn_commands(CLI::App& app, const bool& json, Command& chosen) {
  const auto options = std::make_shared<TxnOptions>();
  CLI::App* txn = app.add_subcommand("txn", "transactions of producers");
  txn->require_subcommand(1);
  txn->footer(kExamples);
  add_list(txn, options, json, chosen);

  CLI::App* describe = txn->add_subcommand(
      "describe", "one transaction: its producer, partitions, and staged share acknowledgements");
  describe->add_option("transactional-id,--transactional-id", options->id)->required();
  choose(describe, options, json, chosen, describe_txn);

  CLI::App* producers = txn->add_subcommand(
      "producers", "the producers that a partition remembers, and where their transactions start");
  add_partition(producers, options, true);
  choose(producers, options, json, chosen, show_producers);

  add_abort(txn, options, json, chosen);

  CLI::App* commit = txn->add_subcommand("commit", kCommit);
  commit->add_option("transactional-id,--transactional-id", options->id)->required();
  choose(commit, options, json, chosen, commit_txn);
}

}  // namespace ackord::ctl
