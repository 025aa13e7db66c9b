// The contract of a coordinator shard: a pure state machine over one partition of a state topic.
//
//   decide      (const) looks at the state and an operation, and says what is to be logged, which
//               soft state changes, and what is answered. It changes nothing.
//   apply       changes hard state: from a record that has been appended (live) or read (load).
//               Hard state is a function of the log. A record's apply drops the soft state that it
//               overrides.
//   apply_soft  changes soft state: locks, sessions, tokens. Gone after a restart, never logged.
//
// Pure: no Asio, threads, mutexes, files, clocks, randomness. Time, ids and random numbers come in
// with the operation. Only the runtime (runtime.h) calls these, in order, on the shard's core.
//
// A shard class X has:
//   using Record = std::variant<…>;   one alternative per record type: key and value together;
//                                     value absent = tombstone
//   using Effect = std::variant<…>;   soft changes (std::variant<std::monostate> without any)
//   using TickReply = …;              what a timer leaves to do (an empty struct when nothing)
//   static log::EncodedRecord encode(const Record&);
//   static Result<std::optional<Record>> decode(std::span<const std::byte> key,
//                                               std::optional<std::span<const std::byte>> value);
//                                     nullopt: a type that is not ours; skipped
//   static std::string unserved_name(std::span<const std::byte> key,
//                                    std::optional<std::span<const std::byte>> value);
//                                     optional: what the log line at the load calls such a record;
//                                     empty when nothing is lost by skipping it
//   void apply(const Record&, const RecordContext&);
//   void apply_end_marker(const log::EndMarker&, const RecordContext&);
//   void apply_soft(const Effect&);
//   std::optional<int64_t> next_deadline() const;       steady ms of the earliest timer
//   Outcome<X, Op::Reply> decide(const Op&, io::Now) const;    for each of its operations
//   Outcome<X, TickReply> decide(const Tick&, io::Now) const;  everything that is due
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "broker/io/clock.h"
#include "broker/log/types.h"

namespace ackord::coordinator {

// Where a record stands in the log, and the transaction its batch belongs to.
struct RecordContext {
  Offset offset = 0;
  TimeMs timestamp_ms = 0;
  std::optional<log::ProducerStamp> transaction;
};

// What one decision appends as one batch: records, transactional or not; or an end marker alone.
template <class Record>
struct Batch {
  std::vector<Record> records;
  std::optional<log::ProducerStamp> transaction;
  std::optional<log::EndMarker> marker;
};

template <class Shard, class Reply>
struct Outcome {
  std::vector<Batch<typename Shard::Record>> batches;
  std::vector<typename Shard::Effect> effects;  // applied after all batches
  Reply reply{};

  // The common case: one plain batch of these records (none: no batch).
  static Outcome of(std::vector<typename Shard::Record> records, Reply reply) {
    Outcome outcome;
    if (!records.empty())
      outcome.batches.push_back({std::move(records), std::nullopt, std::nullopt});
    outcome.reply = std::move(reply);
    return outcome;
  }
  static Outcome answer(Reply reply) { return of({}, std::move(reply)); }
};

// The operation that runs when next_deadline() has come.
struct Tick {};

}  // namespace ackord::coordinator
