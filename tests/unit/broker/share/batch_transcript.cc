// The coordinator's part of batch transactions (broker/share/batch_transactions.h), in transcripts.
#include <map>
#include <sstream>

#include "tests/support/transcripts.h"
#include "tests/unit/broker/share/shard_harness.h"
#include "tests/unit/broker/share/transcript.h"

namespace ackord::share {
namespace {

using test::Words;

constexpr TimeMs kBegin = 1000000;  // of the harness: times in the text count from it

std::string num(int64_t value) { return std::to_string(value); }

BatchTxnId id_of(const std::string& word) {
  const size_t slash = word.find('/');
  if (slash == std::string::npos) return {GroupId("g"), TransactionalId(word)};
  return {GroupId(word.substr(0, slash)), TransactionalId(word.substr(slash + 1))};
}
std::string name_of_id(const BatchTxnId& id) {
  return (id.group_id.sv() == "g" ? "" : id.group_id.str() + "/") + id.transaction_id.str();
}

std::vector<int32_t> partitions_of(const Words& words, size_t from) {
  std::vector<int32_t> out;
  for (size_t i = from; i < words.size(); ++i) out.push_back(std::stoi(words[i]));
  return out;
}
std::string partitions_text(const std::vector<int32_t>& partitions) {
  std::string out;
  for (const int32_t partition : partitions) out += " " + num(partition);
  return out.empty() ? "" : ", participants" + out;
}

BatchTxnClosing closing_of(const std::string& word) {
  if (word == "prepare") return BatchTxnClosing::PREPARE;
  return word == "abort" ? BatchTxnClosing::ABORT : BatchTxnClosing::TIMEOUT;
}

std::string value_text(const BatchTxnRecord::Value& value) {
  std::string out = std::string(name_of(value.state)) + " created " +
                    num(value.create_time_ms - kBegin) + " timeout " + num(value.timeout_ms);
  if (value.prepare_time_ms >= 0) out += " prepared " + num(value.prepare_time_ms - kBegin);
  out += " updated " + num(value.last_update_ms - kBegin) + " staged " + num(value.staged_records);
  if (value.abort_only) out += " abort-only";
  return out + partitions_text(value.state_partitions);
}

class BatchTranscript {
 public:
  std::string execute(const Words& words) {
    static const std::map<std::string, void (BatchTranscript::*)(const Words&)> kCommands = {
        {"begin", &BatchTranscript::begin},   {"enlist", &BatchTranscript::enlist},
        {"doom", &BatchTranscript::doom},     {"close", &BatchTranscript::close},
        {"decide", &BatchTranscript::decide}, {"give-up", &BatchTranscript::give_up},
        {"commit", &BatchTranscript::commit}, {"resolved", &BatchTranscript::resolved},
        {"list", &BatchTranscript::list},     {"live", &BatchTranscript::live},
        {"wait", &BatchTranscript::wait},     {"reload", &BatchTranscript::reload}};
    out_.clear();
    const auto command = kCommands.find(words.front());
    if (command == kCommands.end()) return "= unknown command\n";
    (this->*command->second)(words);
    // Memory is a function of the log.
    const ShareShard again = harness_.loaded();
    for (const char* group : {"g", "h"})
      EXPECT_EQ(listing(harness_.shard_view(), group), listing(again, group));
    return out_;
  }

 private:
  // begin b1 60000
  void begin(const Words& words) {
    say(harness_.run(BeginBatchTxn{id_of(words.at(1)), std::stoi(words.at(2))}));
  }
  // enlist b1 3 5
  void enlist(const Words& words) {
    say(harness_.run(EnlistBatchTxn{id_of(words.at(1)), partitions_of(words, 2)}));
  }
  void doom(const Words& words) {
    harness_.run(DoomBatchTxn{id_of(words.at(1))});
    say("ok");
  }
  // close b1 prepare 7: with token 7
  void close(const Words& words) {
    const auto reply = harness_.run(
        CloseBatchTxn{id_of(words.at(1)), closing_of(words.at(2)), std::stoull(words.at(3))});
    if (reply.closing)
      say("closing" + partitions_text(reply.result.participants));
    else
      say(reply.result);
  }
  // decide b1 prepare 7 12: the participants hold 12
  void decide(const Words& words) {
    say(harness_.run(DecideBatchTxn{id_of(words.at(1)), closing_of(words.at(2)),
                                    std::stoull(words.at(3)), std::stoll(words.at(4))}));
  }
  void give_up(const Words& words) {
    harness_.run(GiveUpClosingBatchTxn{id_of(words.at(1)), std::stoull(words.at(2))});
    say("ok");
  }
  void commit(const Words& words) { say(harness_.run(CommitBatchTxn{id_of(words.at(1))})); }
  void resolved(const Words& words) {
    harness_.run(BatchTxnResolved{id_of(words.at(1)), partitions_of(words, 2)});
    say("ok");
  }
  // list [g|h]
  void list(const Words& words) {
    out_ += listing(harness_.shard_view(), words.size() > 1 ? words[1] : "g");
  }
  void live(const Words&) { say(num(harness_.run(CountLiveBatchTxns{std::nullopt}).live)); }
  // wait 500: milliseconds; what is due then
  void wait(const Words& words) {
    harness_.wait(std::stoll(words.at(1)));
    std::string out = "time";
    for (const BatchTxnId& id : harness_.tick().timed_out)
      out += ", " + name_of_id(id) + " is overdue";
    say(out);
  }
  void reload(const Words&) {
    harness_.reload();
    std::string out = "loaded";
    for (const auto& decision : harness_.run(ResumeBatchTxns{}).decisions)
      out += ", to tell of the " + std::string(decision.commit ? "commit" : "abort") + " of " +
             name_of_id(decision.id) + ":" + partitions_text(decision.participants).substr(1);
    say(out);
  }

  static std::string listing(const ShareShard& shard, const std::string& group) {
    BatchTransactions::Changes none;
    std::string out;
    for (const auto& entry :
         shard.batch_transactions().decide(ListBatchTxns{GroupId(group), {}, ""}, {}, none))
      out += "| " + name_of_id(entry.id) + " " + value_text(entry.value) + "\n";
    return out;
  }

  void say(const std::string& text) {
    out_ += "= " + text + "\n";
    for (const ShareRecord& record : harness_.records()) {
      const auto& batch = std::get<BatchTxnRecord>(record);
      out_ += "+ " + name_of_id(batch.id) + " " +
              (batch.value ? value_text(*batch.value) : "forgotten") + "\n";
    }
  }
  void say(const PartitionError& error) {
    say(error.ok() ? "ok"
                   : std::string(ackord::name_of(error.error_code)) + ": " + error.error_message);
  }
  void say(const BatchTxnReply& reply) {
    if (reply.busy) return say("busy");
    std::string out;
    if (!reply.error.ok()) {
      out = std::string(ackord::name_of(reply.error.error_code)) + ": " + reply.error.error_message;
      if (reply.state) out += " " + std::string(name_of(*reply.state));
    } else {
      out = std::string(name_of(*reply.state));
    }
    if (reply.state) out += " staged " + num(reply.staged_records);
    say(out + partitions_text(reply.participants));
  }

  ShardHarness harness_;
  std::string out_;
};

}  // namespace

std::string run_batch_transcript(const std::string& text) {
  BatchTranscript transcript;
  return test::replay_transcript(
      text, [&transcript](const Words& words) { return transcript.execute(words); });
}

}  // namespace ackord::share
