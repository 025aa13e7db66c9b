// ackord-bench: see README.md. Exit status: 0 measured; 1 the broker refused or failed, with the
// reason on standard error; 2 wrong usage.
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <string>

#include "tools/bench/works.h"

namespace {

using namespace ackord::bench;

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

struct Work {
  const char* name;
  const char* what;
  Report (*run)(Bench&);
};

constexpr Work kWorks[] = {
    {"produce", "produce requests; closed loop, or at a rate", produce},
    {"fetch", "read a filled topic from its beginning", fetch},
    {"share", "share fetches that accept what the one before brought", share},
    {"share-txn", "poll, produce as many, stage the acceptance, commit", share_txn},
    {"batch-txn", "begin, poll, acknowledge, prepare, commit", batch_txn},
    {"txn", "produce in a transaction, commit", txn},
    {"e2e", "one record at a time, from send to receipt", e2e},
    {"connections", "open many connections", connections},
    {"partitions", "make a topic of many partitions", partitions},
    {"groups", "make many share groups of one member each", groups},
    {"in-flight", "take records and hold them", in_flight},
    {"stage", "stage every other record that was taken, txn-records in a transaction", stage},
};

void add_options(CLI::App& app, Options& options, std::string& codec) {
  app.add_option("--bootstrap-server", options.bootstrap, "the broker, HOST:PORT")
      ->capture_default_str();
  app.add_option("--topic", options.topic, "made if need be, and kept; else a new one, deleted");
  app.add_option("--partitions", options.partitions)->capture_default_str();
  app.add_option("--active", options.active, "of the partitions, how many have records; 0: all")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--groups", options.groups)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--connections", options.connections)
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  app.add_option("--in-flight", options.in_flight, "requests under way on each connection")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--records", options.records)->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--warmup", options.warmup, "records of the same work before it is measured")
      ->capture_default_str();
  app.add_option("--record-size", options.record_size, "bytes of a value")
      ->capture_default_str()
      ->check(CLI::Range(0, 100 << 20));
  app.add_option("--batch", options.batch, "records in a produce request")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  app.add_option("--acks", options.acks, "-1 or 1")
      ->capture_default_str()
      ->check(CLI::IsMember({-1, 1}));
  app.add_option("--codec", codec, "none, gzip, snappy, lz4 or zstd")->capture_default_str();
  app.add_option("--rate", options.rate,
                 "records a second; latency counts from when each was due. 0: closed loop")
      ->capture_default_str();
  app.add_option("--max-records", options.max_records, "of a share fetch")->capture_default_str();
  app.add_option("--fetch-bytes", options.fetch_bytes, "of a partition in a fetch")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--max-wait-ms", options.max_wait_ms, "of a fetch that finds nothing")
      ->capture_default_str();
  app.add_option("--txn-records", options.txn_records, "of a transaction (txn, batch-txn, stage)")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  app.add_option("--hold", options.hold_s, "seconds that connections stay, to see what they cost")
      ->capture_default_str();
  app.add_option("--prefill-mb", options.prefill_mb,
                 "MiB of records that the topic gets before (partitions, produce, fetch)")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_flag("--alternate", options.alternate,
               "in-flight: accept every other record, so that each that is held is a range");
  app.add_flag("--stay", options.stay,
               "keep topics, connections and members after the report until standard input ends");
  app.add_option("--pid", options.pid, "the broker's process, to see what it uses");
  app.add_flag("--json", options.json, "one JSON object on one line");
}

void print(const Report& report, const Options& options) {
  if (options.json) {
    print_json(report, options, std::cout);
  } else {
    print_text(report, std::cout);
  }
  std::cout.flush();
}

void measure(const Work& work, const Options& options) {
  if (options.warmup > 0) {
    Options warm = options;
    warm.records = options.warmup;
    warm.rate = 0;
    Bench bench(warm);
    (void)work.run(bench);
  }
  Bench bench(options);
  print(work.run(bench), options);
  if (options.stay) bench.stay();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Measures a Kafka-compatible broker with requests of its protocol");
  app.require_subcommand(1);
  app.fallthrough();
  Options options;
  std::string codec = "none";
  add_options(app, options, codec);
  std::map<const CLI::App*, const Work*> works;
  for (const Work& work : kWorks) works[app.add_subcommand(work.name, work.what)] = &work;
  CLI::App* start = app.add_subcommand(
      "startup", "from exec to the first answer: -- COMMAND with {port} and {directory}");
  start->add_option("--runs", options.runs)->capture_default_str()->check(CLI::PositiveNumber);
  start->add_option("--prepare", options.prepare, "a shell command that makes {directory} ready");
  start->add_option("command", options.command)->required();
  bool partitions_given = false;
  try {
    app.parse(argc, argv);
    partitions_given = app.get_option("--partitions")->count() > 0;
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : kWrongUsage;
  }
  const auto* info = ackord::protocol::find_codec(codec);
  if (info == nullptr) {
    std::cerr << "ackord-bench: no codec " << codec << "\n";
    return kWrongUsage;
  }
  options.codec = info->codec;
  try {
    if (*start) {
      if (!partitions_given) options.partitions = 0;
      print(startup(options), options);
    } else {
      measure(*works.at(app.get_subcommands().front()), options);
    }
    return 0;
  } catch (const std::exception& problem) {
    std::cerr << "ackord-bench: " << problem.what() << "\n";
    return kFailed;
  }
}
