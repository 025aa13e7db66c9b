#include "tests/unit/broker/share/transcript.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "tests/support/transcripts.h"
#include "tests/unit/broker/share/shard_harness.h"

namespace ackord::share {

namespace {

using test::Words;

std::string num(int64_t value) { return std::to_string(value); }

std::string range_text(Offset first, Offset last) {
  return first == last ? num(first) : num(first) + "-" + num(last);
}

OffsetRange range_of(const std::string& text) {
  const size_t dash = text.find('-', 1);
  if (dash == std::string::npos) return {std::stoll(text), std::stoll(text)};
  return {std::stoll(text.substr(0, dash)), std::stoll(text.substr(dash + 1))};
}

bool is_range(const std::string& word) { return !word.empty() && std::isdigit(word.front()); }

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) out.push_back(part);
  return out;
}

const char* kTypes[] = {"gap", "accept", "release", "reject", "renew"};

int8_t type_of(const std::string& word) {
  for (int8_t i = 0; i < 5; ++i) {
    if (word == kTypes[i]) return i;
  }
  return static_cast<int8_t>(std::stoi(word));
}

std::string type_text(int8_t type) { return type >= 0 && type < 5 ? kTypes[type] : num(type); }

// "p7e3": producer 7 in epoch 3. Every producer p has the transactional id "tx-p".
log::ProducerStamp stamp_of(const std::string& word) {
  const size_t e = word.find('e');
  return {ProducerId(std::stoll(word.substr(1, e - 1))),
          static_cast<int16_t>(std::stoi(word.substr(e + 1)))};
}
std::string stamp_text(ProducerId id, int16_t epoch) {
  return "p" + num(id.value) + "e" + num(epoch);
}

class Transcript {
 public:
  std::string run(const std::string& text) {
    return test::replay_transcript(text, [this](const Words& words) {
      out_.clear();
      execute(words);
      return out_;
    });
  }

 private:
  void execute(const Words& words) {
    static const std::map<std::string, void (Transcript::*)(const Words&)> kCommands = {
        {"acquire", &Transcript::acquire},
        {"ack", &Transcript::ack},
        {"init", &Transcript::init},
        {"activate", &Transcript::activate},
        {"next", &Transcript::next},
        {"guard", &Transcript::guard},
        {"stage", &Transcript::stage},
        {"staged", &Transcript::staged},
        {"marker", &Transcript::marker},
        {"foreign-marker", &Transcript::foreign_marker},
        {"part", &Transcript::part},
        {"resolve", &Transcript::resolve},
        {"pending", &Transcript::pending},
        {"expire", &Transcript::expire},
        {"wait", &Transcript::expire},
        {"reload", &Transcript::reload},
        {"release", &Transcript::release},
        {"close", &Transcript::close},
        {"free", &Transcript::free},
        {"idle", &Transcript::idle},
        {"resume", &Transcript::resume},
        {"lettered", &Transcript::lettered},
        {"delete", &Transcript::remove},
        {"topic-deleted", &Transcript::remove_topic},
        {"read", &Transcript::read},
        {"summary", &Transcript::summary},
        {"write", &Transcript::write},
        {"cold", &Transcript::cold},
        {"show", &Transcript::show},
        {"key", &Transcript::use_key},
        {"snapshot-every", &Transcript::snapshot_every},
        {"set", &Transcript::set},
        {"producers-expire", &Transcript::producers_expire}};
    const auto command = kCommands.find(words.front());
    if (command == kCommands.end()) {
      say("unknown command");
      return;
    }
    (this->*command->second)(words);
    const std::string woken = wakes();
    if (!woken.empty()) out_ += "! " + woken + "\n";
    show_archived();
    const ShareShard again = harness_.loaded();
    for (int32_t p = 0; p < 26; ++p) {
      const SharePartition* live = harness_.shard().find(key_of(p));
      const SharePartition* replayed = again.find(key_of(p));
      EXPECT_EQ(live == nullptr, replayed == nullptr);
      if (live == nullptr || replayed == nullptr) continue;
      EXPECT_EQ(hard_text(*live), hard_text(*replayed));
    }
  }

  // What the command gave up; only after "set archived 1".
  void show_archived() {
    const std::vector<Archived> archived = harness_.shard().take_archived();
    if (setting("archived", 0) == 0) return;
    for (const Archived& one : archived) {
      for (const ArchivedRange& range : one.ranges) {
        out_ += "~ " + name_of_key(one.key) + " " +
                range_text(range.first_offset, range.last_offset) + " x" +
                num(range.delivery_count) + " " + std::string(name_of(range.reason)) +
                (range.state == RecordState::ARCHIVING ? ", for a letter" : "") + "\n";
      }
    }
  }

  // ---- commands: state topic

  void use_key(const Words& words) { key_ = partition_of(words.at(1)); }
  void snapshot_every(const Words& words) { harness_ = ShardHarness(std::stoi(words.at(1))); }
  void producers_expire(const Words&) { harness_.forget_producers(); }
  void set(const Words& words) { settings_[words.at(1)] = std::stoll(words.at(2)); }

  // init START [STATE-EPOCH [keep]]: state that is there stays
  void init(const Words& words) {
    Initialize op{key_of(key_), words.size() > 2 ? std::stoi(words[2]) : 0,
                  std::stoll(words.at(1))};
    op.only_if_absent = words.back() == "keep";
    answer(harness_.run(op));
  }
  void activate(const Words& words) {
    Activate op{key_of(key_), 0, words.size() > 1 ? std::stoll(words[1]) : -1};
    const auto reply = harness_.run(op);
    answer(reply.error, "start " + num(reply.start_offset));
  }
  void remove(const Words&) { answer(harness_.run(Delete{key_of(key_)})); }
  void remove_topic(const Words&) {
    answer({}, num(harness_.run(DeleteTopic{topic()}).deleted) + " deleted");
  }
  void cold(const Words&) {
    answer({}, num(harness_.run(SnapshotCold{}).snapshots) + " snapshots");
  }
  void read(const Words& words) {
    const auto reply = harness_.run(Read{key_of(key_), words.size() > 1 ? std::stoi(words[1]) : 0});
    answer(reply.error, "epoch " + num(reply.state_epoch) + " start " + num(reply.start_offset) +
                            batches_text(reply.state_batches, reply.owners));
  }
  void summary(const Words&) {
    const auto reply = harness_.run(Summary{key_of(key_)});
    answer(reply.error, "epoch " + num(reply.state_epoch) + " start " + num(reply.start_offset) +
                            " done " + num(reply.delivery_complete_count) + " staged " +
                            num(reply.staged_records));
  }
  // write START FIRST-LAST STATE xCOUNT …
  void write(const Words& words) {
    Write op{key_of(key_),
             static_cast<int32_t>(setting("state-epoch", 0)),
             0,
             std::stoll(words.at(1)),
             0,
             {}};
    for (size_t i = 2; i + 2 < words.size(); i += 3) {
      const OffsetRange range = range_of(words[i]);
      op.state_batches.push_back({range.first_offset, range.last_offset,
                                  static_cast<RecordState>(std::stoi(words[i + 1])),
                                  static_cast<int16_t>(std::stoi(words[i + 2].substr(1)))});
    }
    answer(harness_.run(op));
  }
  void reload(const Words&) {
    harness_.reload();
    harness_.shard().take_wakes();
    say("loaded");
  }

  // ---- commands: records in flight

  void next(const Words&) {
    const auto reply = harness_.run(NextFetch{key_of(key_), settings_["log-start"],
                                              static_cast<int32_t>(setting("locks", 2000))});
    answer({}, reply.inactive ? "inactive"
               : reply.offset ? "fetch " + num(*reply.offset)
                              : "at the limit");
  }
  // acquire MEMBER 0-9[,10-19…] [max N] [size N] [exact] [aborted 3-4]: the ranges are the log
  // batches that were read
  void acquire(const Words& words) {
    if (harness_.run(NextFetch{key_of(key_), settings_["log-start"], 0}).inactive) {
      harness_.run(Activate{key_of(key_), 0, 0});
    }
    const auto next = harness_.run(NextFetch{key_of(key_), settings_["log-start"],
                                             static_cast<int32_t>(setting("locks", 2000))});
    if (!next.offset) return answer(next.error, "at the limit");
    Acquire op{key_of(key_), {words.at(1), 1}, {}};
    for (const std::string& batch : split(words.at(2), ',')) {
      const OffsetRange range = range_of(batch);
      if (range.last_offset >= *next.offset)
        op.request.batches.push_back({range.first_offset, range.last_offset});
    }
    op.request.fetch_offset = *next.offset;
    op.request.log_start_offset = settings_["log-start"];
    op.request.max_record_locks = static_cast<int32_t>(setting("locks", 2000));
    op.request.limit = limit();
    op.request.lock_duration_ms = static_cast<int32_t>(setting("lock-ms", 30000));
    for (size_t i = 3; i < words.size(); ++i) {
      if (words[i] == "max") op.request.max_records = std::stoi(words.at(++i));
      if (words[i] == "size") op.request.batch_size = std::stoi(words.at(++i));
      if (words[i] == "exact") op.request.mode = ShareAcquireMode::RECORD_LIMIT;
      if (words[i] == "aborted") op.request.aborted.push_back(range_of(words.at(++i)));
    }
    const auto reply = harness_.run(op);
    std::string got;
    for (const AcquiredRecords& r : reply.acquired) {
      got += (got.empty() ? "" : ", ") + range_text(r.first_offset, r.last_offset) + " x" +
             num(r.delivery_count);
    }
    answer(reply.error, got.empty() ? "nothing" : got);
  }
  void ack(const Words& words) {
    Acknowledge op;
    op.member_id = words.at(1);
    Acknowledge::Partition partition{key_of(key_), batches_of(words, 2)};
    partition.limit = limit();
    partition.renew_enabled = setting("renew", 1) != 0;
    partition.tolerate_repeats = setting("tolerate", 0) != 0;
    op.partitions.push_back(std::move(partition));
    answer(harness_.run(op).at(0));
  }
  // part MEMBER: as release, but the session is closed in words
  void part(const Words& words) {
    ReleaseMember op{{words.at(1), kEverySession}, {key_of(key_)}, limit(), true};
    answer({}, num(harness_.run(op).released_records) + " released");
  }
  void release(const Words& words) {
    ReleaseMember op{{words.at(1), kEverySession}, {key_of(key_)}, limit()};
    answer({}, num(harness_.run(op).released_records) + " released");
  }
  // free 0-4 [6 …] [of MEMBER]
  void free(const Words& words) {
    ReleaseRanges op{key_of(key_), {}, std::nullopt, limit()};
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "of") {
        op.member_id = words.at(++i);
      } else {
        op.ranges.push_back(range_of(words[i]));
      }
    }
    const auto reply = harness_.run(op);
    answer(reply.error, num(reply.released_records) + " released");
  }
  void idle(const Words&) {
    harness_.run(DropSoft{group(), kEverySession});
    say("ok");
  }
  void resume(const Words&) {
    answer({}, num(harness_.run(ResumeLetters{}).waiting_records) + " waiting");
  }
  // lettered 0-3 [5 …]: the letters are written
  void lettered(const Words& words) {
    FinishLetters op{key_of(key_), {}};
    for (size_t i = 1; i < words.size(); ++i) op.ranges.push_back(range_of(words[i]));
    answer({}, num(harness_.run(op).finished_records) + " finished");
  }
  void expire(const Words& words) {
    const std::string& text = words.at(1);
    const int64_t unit = text.ends_with("ms") ? 1 : 1000;
    harness_.wait(std::stoll(text) * unit);
    const auto reply = harness_.tick();
    answer({}, num(reply.expired_records) + " expired");
  }

  // ---- commands: transactions

  OwnerId owner_id(const std::string& word) {
    if (word.front() == 'b') return {{}, group(), TransactionalId(word)};
    return {stamp_of(word).id, {}, {}};
  }
  Owner owner(const std::string& word) {
    if (word.front() == 'b') return {{}, -1, TransactionalId(word), 0};
    const log::ProducerStamp stamp = stamp_of(word);
    return {stamp.id, stamp.epoch, TransactionalId("tx-" + num(stamp.id.value)), 0};
  }
  void guard(const Words& words) {
    guards_[words.at(1)] = harness_.run(TakeGuard{owner_id(words.at(1)), ++token_});
    say("token");
  }
  // stage OWNER MEMBER 0-4 accept [5 reject …] [/ b 0-3 accept …] [dlq]
  void stage(const Words& words) {
    Stage op;
    op.owner = owner(words.at(1));
    const auto held = guards_.find(words[1]);
    if (held != guards_.end()) op.guard = held->second;
    op.member_id = words.at(2);
    if (!op.owner.is_batch()) op.producer = harness_.producer(op.owner.producer_id);
    for (const auto& [partition, range] : sections(words, 3)) {
      Stage::Partition asked{key_of(partition), batches_of(range, 0)};
      asked.dlq = words.back() == "dlq";
      asked.max_staged_records = static_cast<int32_t>(setting("max-staged", 200000));
      op.partitions.push_back(std::move(asked));
    }
    for (const auto& reply : harness_.run(op)) {
      out_ += "= " + error_text(reply.error) + (reply.dooms ? " (dooms)" : "") + "\n";
    }
    records();
  }
  void staged(const Words& words) {
    IsStagedBy op{owner(words.at(1)), {}};
    for (const auto& [partition, range] : sections(words, 2)) {
      op.partitions.push_back({key_of(partition), batches_of(range, 0)});
    }
    say(harness_.run(op).staged ? "yes" : "no");
  }
  // marker p7e4 tv2 commit [c5]: coordinator epoch 5
  Marker marker_of(const Words& words) const {
    Marker op;
    op.marker.producer = stamp_of(words.at(1));
    op.marker.transaction_version = static_cast<int8_t>(words.at(2).back() - '0');
    op.marker.commit = words.at(3) == "commit";
    op.producer = harness_.producer(op.marker.producer.id);
    return op;
  }
  void marker(const Words& words) {
    Marker op = marker_of(words);
    if (words.size() > 4) op.marker.coordinator_epoch = std::stoi(words[4].substr(1));
    const auto reply = harness_.run(op);
    answer(reply.error, num(reply.resolved_records) + " resolved");
  }
  // foreign-marker p7e4 tv2 commit [listed]: from the wire; whether an open transaction lists the
  // state partition
  void foreign_marker(const Words& words) {
    Marker op = marker_of(words);
    Marker::FromTheWire from_the_wire;
    from_the_wire.watched = harness_.run(WatchProducer{op.marker.producer.id, ++token_});
    from_the_wire.listed = words.back() == "listed";
    op.from_the_wire = from_the_wire;
    const auto reply = harness_.run(op);
    answer(reply.error, num(reply.resolved_records) + " resolved");
  }

  // The participant's part of a batch transaction: close b1, resolve b1 commit, pending b1
  static BatchTxnId batch_id(const std::string& word) { return {group(), TransactionalId(word)}; }
  void close(const Words& words) {
    const auto reply = harness_.run(CloseBatchTxnHere{batch_id(words.at(1))});
    answer({}, num(reply.staged_records) + " staged");
  }
  void resolve(const Words& words) {
    const auto reply =
        harness_.run(ResolveBatchTxnHere{batch_id(words.at(1)), words.at(2) == "commit"});
    answer({}, num(reply.resolved_records) + " resolved");
  }
  void pending(const Words& words) {
    const auto reply = harness_.run(DescribeBatchTxnHere{batch_id(words.at(1))});
    std::string text = num(reply.staged_records) + " staged";
    for (const auto& partition : reply.partitions) {
      for (const auto& range : partition.ranges) {
        text += ", " + name_of_key(partition.key) + " " +
                range_text(range.offsets.first_offset, range.offsets.last_offset) + " " +
                type_text(range.acknowledge_type);
      }
    }
    answer({}, text);
  }

  // ---- output

  void show(const Words&) {
    const auto reply = harness_.run(Describe{key_of(key_), 1000});
    if (!reply.initialized) {
      out_ += "| not initialized\n";
      return;
    }
    const SharePartition& partition = *harness_.shard().find(key_of(key_));
    out_ += "| start " + num(reply.start_offset) + " end " + num(reply.end_offset) + " in flight " +
            num(partition.in_flight()) + (partition.active() ? "" : " inactive") + "\n";
    for (const InFlightRange& r : reply.ranges) {
      out_ += "| " + range_text(r.first_offset, r.last_offset) + " " +
              std::string(name_of(r.state)) + " x" + num(r.delivery_count);
      if (r.member_id) out_ += " " + *r.member_id;
      if (r.available_in_ms >= 0) out_ += " in " + num(r.available_in_ms) + " ms";
      if (r.lock_expires_in_ms >= 0) out_ += " lock " + num(r.lock_expires_in_ms) + " ms";
      if (r.owner) {
        out_ += " " + owner_text(*r.owner) + " " + type_text(r.acknowledge_type) + " for " +
                num(r.staged_for_ms) + " ms";
      }
      out_ += "\n";
    }
  }
  void say(const std::string& text) { out_ += "= " + text + "\n"; }
  static std::string error_text(const PartitionError& error) {
    return error.ok() ? "ok"
                      : std::string(ackord::name_of(error.error_code)) + ": " + error.error_message;
  }
  void answer(const PartitionError& error, const std::string& text = "ok") {
    say(error.ok() ? text : error_text(error));
    records();
  }
  static std::string owner_text(const Owner& owner) {
    return owner.is_batch() ? owner.transaction_id->str()
                            : stamp_text(owner.producer_id, owner.producer_epoch);
  }
  static std::string batches_text(const std::vector<StateBatch>& batches,
                                  const std::vector<Owner>& owners) {
    std::string out;
    for (const StateBatch& batch : batches) {
      out += (out.empty() ? " | " : ", ") + range_text(batch.first_offset, batch.last_offset) +
             " " + std::string(name_of(batch.delivery_state)) + " x" + num(batch.delivery_count);
      if (batch.owner_index < 0) continue;
      const Owner& owner = owners.at(static_cast<size_t>(batch.owner_index));
      out += " " + owner_text(owner) + " " + type_text(batch.staged_ack_type) + ">" +
             std::string(name_of(static_cast<RecordState>(batch.staged_delivery_state))) + " at " +
             num(owner.staged_timestamp_ms - 1000000);
    }
    return out;
  }
  void records() {
    for (const auto& batch : harness_.written()) {
      if (batch.marker) {
        out_ += "+ marker " + stamp_text(batch.marker->producer.id, batch.marker->producer.epoch) +
                (batch.marker->commit ? " commit\n" : " abort\n");
      }
      for (const ShareRecord& record : batch.records) {
        out_ += "+ ";
        if (batch.transaction)
          out_ += "[" + stamp_text(batch.transaction->id, batch.transaction->epoch) + "] ";
        out_ += record_text(record) + "\n";
      }
    }
  }
  static std::string record_text(const ShareRecord& record) {
    if (const auto* update = std::get_if<ShareUpdate>(&record)) {
      return "update " + name_of_key(update->key) + " of " + num(update->snapshot_epoch) +
             " start " + num(update->start_offset) + " done " +
             num(update->delivery_complete_count) +
             batches_text(update->state_batches, update->owners);
    }
    const auto& snapshot = std::get<ShareSnapshot>(record);
    if (!snapshot.value) return "tombstone " + name_of_key(snapshot.key);
    return "snapshot " + name_of_key(snapshot.key) + " " + num(snapshot.value->snapshot_epoch) +
           " epoch " + num(snapshot.value->state_epoch) + " start " +
           num(snapshot.value->start_offset) + " done " +
           num(snapshot.value->delivery_complete_count) +
           batches_text(snapshot.value->state_batches, snapshot.value->owners);
  }
  std::string wakes() {
    std::string out;
    for (const SharePartitionKey& key : harness_.shard().take_wakes()) {
      out += (out.empty() ? "" : " ") + name_of_key(key);
    }
    return out;
  }

  // ---- words

  static GroupId group() { return GroupId("g"); }
  static Uuid topic() {
    Uuid id;
    id.bytes[15] = 1;
    return id;
  }
  static SharePartitionKey key_of(int32_t partition) { return {group(), topic(), partition}; }
  static std::string name_of_key(const SharePartitionKey& key) {
    return std::string(1, static_cast<char>('a' + key.partition));
  }
  static int32_t partition_of(const std::string& word) { return word.front() - 'a'; }
  int64_t setting(const std::string& name, int64_t otherwise) {
    const auto at = settings_.find(name);
    return at == settings_.end() ? otherwise : at->second;
  }
  DeliveryLimit limit() {
    return {static_cast<int16_t>(setting("limit", 5)),
            setting("dlq", 0) != 0,
            {setting("backoff-ms", 0), 2, setting("max-backoff-ms", 300000)}};
  }

  // "0-4 accept 5-6 accept,reject": types by comma are one per offset.
  static std::vector<AcknowledgementBatch> batches_of(const Words& words, size_t from) {
    std::vector<AcknowledgementBatch> out;
    for (size_t i = from; i + 1 < words.size() && is_range(words[i]); i += 2) {
      const OffsetRange range = range_of(words[i]);
      AcknowledgementBatch batch{range.first_offset, range.last_offset, {}};
      for (const std::string& type : split(words[i + 1], ','))
        batch.acknowledge_types.push_back(type_of(type));
      out.push_back(std::move(batch));
    }
    return out;
  }
  // The ranges of each partition: "0-4 accept / b 0-3 accept".
  std::vector<std::pair<int32_t, Words>> sections(const Words& words, size_t from) const {
    std::vector<std::pair<int32_t, Words>> out{{key_, {}}};
    for (size_t i = from; i < words.size(); ++i) {
      if (words[i] == "dlq") continue;
      if (words[i] == "/") {
        out.emplace_back(partition_of(words.at(++i)), Words());
      } else {
        out.back().second.push_back(words[i]);
      }
    }
    return out;
  }

  ShardHarness harness_;
  int32_t key_ = 0;
  uint64_t token_ = 0;
  std::map<std::string, Guard> guards_;
  std::map<std::string, int64_t> settings_;
  std::string out_;
};

}  // namespace

std::string run_transcript(const std::string& text) { return Transcript().run(text); }

}  // namespace ackord::share
