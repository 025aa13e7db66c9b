// Every file of tests/data/transcripts/txn: what a transaction coordinator makes of share
// acknowledgements (docs/PROTOCOL.md 1.3).
//   = the reply      + the record written      * the marker that each partition is to get
// Producers are p7e3 (producer 7 in epoch 3), s3 is the state partition 3, t0 the output's
// partition 0; times count from the beginning.
#include "tests/support/transcripts.h"

#include <map>

#include "shard_test_base.h"

namespace ackord::txn {
namespace {

using test::Words;

std::string num(int64_t value) { return std::to_string(value); }

log::ProducerStamp stamp_of(const std::string& word) {
  const size_t e = word.find('e');
  return stamp(std::stoll(word.substr(1, e - 1)),
               static_cast<int16_t>(std::stoi(word.substr(e + 1))));
}
std::string stamp_text(log::ProducerStamp producer) {
  return "p" + num(producer.id.value) + "e" + num(producer.epoch);
}
TopicPartition partition_of(const std::string& word) {
  return tp(word.front() == 's' ? "__share_group_state" : "t", std::stoi(word.substr(1)));
}
std::string partitions_text(const std::vector<TopicPartition>& partitions) {
  std::string out;
  for (const TopicPartition& one : partitions)
    out += (one.topic.sv() == "t" ? " t" : " s") + num(one.partition);
  return out;
}
ClientTransactionVersion version_of(const std::string& word) { return word == "v0" ? kV0 : kV2; }

class TxnTranscript : public ShardTest, public testing::WithParamInterface<std::string> {
 protected:
  std::string execute(const Words& words) {
    static const std::map<std::string, void (TxnTranscript::*)(const Words&)> kCommands = {
        {"init", &TxnTranscript::init_producer},
        {"add", &TxnTranscript::add_partitions},
        {"enlist", &TxnTranscript::enlist_here},
        {"doom", &TxnTranscript::doom_it},
        {"end", &TxnTranscript::end_it},
        {"complete", &TxnTranscript::complete_it},
        {"wait", &TxnTranscript::wait},
        {"reload", &TxnTranscript::reload},
        {"set", &TxnTranscript::set},
        {"show", &TxnTranscript::show}};
    out_.clear();
    written.clear();
    const auto command = kCommands.find(words.front());
    if (command == kCommands.end()) return "= unknown command\n";
    (this->*command->second)(words);
    return out_;
  }

 private:
  // set version 0: transaction.version; set 2pc 1: it may be used
  void set(const Words& words) {
    if (words.at(1) == "version") transaction_version = static_cast<int16_t>(std::stoi(words[2]));
    if (words.at(1) == "2pc") settings.two_phase_commit = words.at(2) == "1";
    restart();
  }
  // init [p7e3] [2pc] [keep]: a producer id that is needed is 7, then 8, …
  void init_producer(const Words& words) {
    InitProducerId op = init();
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i].front() == 'p') op.expected = stamp_of(words[i]);
      op.enable_2pc = op.enable_2pc || words[i] == "2pc";
      op.keep_prepared = op.keep_prepared || words[i] == "keep";
    }
    auto reply = run(op);
    if (reply.needs_producer_id) {
      op.fresh = ProducerId(next_id_++);
      reply = run(op);
    }
    std::string text = stamp_text(reply.producer);
    if (reply.ongoing.id.value >= 0) text += ", kept " + stamp_text(reply.ongoing);
    answer(reply.error, text);
    told(reply.prepared);
  }
  // add p7e3 t0 [v0]
  void add_partitions(const Words& words) {
    const auto version = version_of(words.back());
    answer(run(add(stamp_of(words.at(1)), {partition_of(words.at(2))}, version)).error, "ok");
  }
  // enlist p7e3 s3 [s4 …] [start 10]
  void enlist_here(const Words& words) {
    Enlist op = enlist(stamp_of(words.at(1)), {});
    for (size_t i = 2; i < words.size(); ++i) {
      if (words[i] == "start")
        op.start = kWall + std::stoll(words.at(++i));
      else
        op.partitions.push_back(partition_of(words[i]));
    }
    const EnlistReply reply = run(op);
    answer(reply.error, "start " + num(reply.start_time_ms - kWall));
  }
  // doom p7e3 [start 10]
  void doom_it(const Words& words) {
    Doom op = doom(stamp_of(words.at(1)));
    if (words.size() > 3) op.start = kWall + std::stoll(words[3]);
    answer(run(op).error, "ok");
  }
  // end p7e3 commit [v0]
  void end_it(const Words& words) {
    const bool commit = words.at(2) == "commit";
    auto reply = run(end(stamp_of(words.at(1)), commit, version_of(words.back())));
    const bool has_next = reply.next.id.value >= 0;
    answer(reply.error, has_next ? "next " + stamp_text(reply.next) : "ok");
    told(reply.prepared);
  }
  // complete p7e3: all markers are answered
  void complete_it(const Words& words) {
    const bool was_waiting = run(complete(stamp_of(words.at(1))));
    answer(ErrorCode::NONE, was_waiting ? "ok" : "nothing was waiting for it");
  }
  // wait 60000: milliseconds; what is overdue is aborted
  void wait(const Words& words) {
    pass(std::stoll(words.at(1)));
    const auto deadline = shard.next_deadline();
    TxnShard::TickReply due;
    if (deadline && *deadline <= now.steady_ms) due = run(coordinator::Tick{});
    if (due.empty()) return answer(ErrorCode::NONE, "time");
    for (const TimedOut& one : due) {
      AbortTimedOut op;
      op.who = one.who;
      op.start_ms = one.start_ms;
      const auto reply = run(op);
      answer(ErrorCode::NONE, stamp_text(one.who.producer) + " is overdue");
      told(reply.prepared);
    }
  }
  void reload(const Words&) {
    restart();
    answer(ErrorCode::NONE, "loaded");
    for (const PreparedTransaction& one : shard.prepared()) told(one);
  }
  void show(const Words&) {
    const Transaction* known = shard.find(id);
    out_ += "| " + (known == nullptr ? "nothing" : text_of(*known)) + "\n";
  }

  static std::string text_of(const Transaction& t) {
    std::string out = std::string(name_of(t.state)) + " " + stamp_text(t.producer);
    if (t.next_producer_id.value >= 0) out += " then " + stamp_text(t.next_producer());
    if (t.start_ms >= 0) out += " start " + num(t.start_ms - kWall);
    if (t.two_phase()) out += " 2pc";
    if (t.abort_only) out += " abort-only";
    return out + (t.partitions.empty() ? "" : ":") + partitions_text(t.partitions);
  }
  void answer(ErrorCode error, const std::string& text) {
    out_ += "= " + (error == ErrorCode::NONE ? text : std::string(ackord::name_of(error))) + "\n";
    for (const TransactionRecord& record : written)
      out_ += "+ v" + num(record.version) + " " + text_of(*record.transaction) + "\n";
  }
  void told(const std::optional<PreparedTransaction>& prepared) {
    if (!prepared) return;
    out_ += "* " + stamp_text(prepared->marker.producer) + " tv" +
            num(prepared->marker.transaction_version) +
            (prepared->marker.commit ? " commit to" : " abort to") +
            partitions_text(prepared->partitions) + "\n";
  }

  int64_t next_id_ = 7;
  std::string out_;
};

TEST_P(TxnTranscript, SaysTheSame) {
  test::check_transcript("txn", GetParam(), [this](const std::string& text) {
    return test::replay_transcript(text, [this](const Words& words) { return execute(words); });
  });
}

INSTANTIATE_TEST_SUITE_P(All, TxnTranscript, testing::ValuesIn(test::transcripts_of("txn")),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ackord::txn
