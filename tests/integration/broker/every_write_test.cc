// A broker that dies at each step of what a transaction writes: of a batch transaction and of a
// producer's. What was decided is driven on without anybody who asks; what was not stays as it was;
// a request that was not answered is repeated, as clients do, and then all is as if nothing had
// happened.
#include "tests/integration/broker/every_write.h"

namespace ackord::integration {
namespace {

using Strings = std::vector<std::string>;

constexpr char kAvailable[] = "AVAILABLE x1";
constexpr char kStaged[] = "TX_PENDING ACCEPT x1";

class BatchTxnEveryWrite : public EveryWrite {
 protected:
  BatchTxn begun() {
    BatchTxn batch(broker_.port(), group_, "checkpoint-" + std::to_string(round_));
    require_none(batch.begin().error, "BeginBatchTxn");
    return batch;
  }
  BatchTxn staged() {
    BatchTxn batch = begun();
    require(batch.stage(member_, all()) == staged_ok(kPartitions), "BatchTxnAcknowledge");
    return batch;
  }
  BatchTxn prepared() {
    BatchTxn batch = staged();
    require_none(batch.prepare().error, "PrepareBatchTxn");
    return batch;
  }
  Moment moment_since(const std::map<std::string, int64_t>& before) const {
    const std::set<std::string> grown = grown_since(before, "__share_group_state-");
    return {grown.contains(coordinator()), grown.size() - grown.count(coordinator())};
  }
};

TEST_F(BatchTxnEveryWrite, OfBeginAndStage) {
  std::set<int64_t> counts;
  for_each_step([&](int64_t step) {
    take_records();
    BatchTxn batch(broker_.port(), group_, "checkpoint-" + std::to_string(round_));
    const bool survived = survives(step, [&] {
      require_none(batch.begin().error, "BeginBatchTxn");
      require(batch.stage(member_, all()) == staged_ok(kPartitions), "BatchTxnAcknowledge");
    });
    if (survived) {
      await_all(kStaged);
    } else {
      restart({}, {&batch});
      // Each partition's is there as a whole or not at all.
      int64_t staged = 0;
      for (int32_t partition = 0; partition < kPartitions; ++partition) {
        const std::string state = state_of(partition);
        if (state == kStaged) {
          staged += kPerRound;
        } else {
          EXPECT_EQ(state.find("TX_PENDING"), std::string::npos) << state;
        }
      }
      require_none(batch.begin().error, "BeginBatchTxn");
      counts.insert(staged);
      const BatchTxn::Answer prepared = batch.prepare();
      EXPECT_EQ(prepared.error, ErrorCode::NONE);
      EXPECT_EQ(prepared.staged_records, staged) << "what an engine compares";
    }
    EXPECT_EQ(batch.abort().error, ErrorCode::NONE);
    finish_round();
    return survived;
  });
  EXPECT_TRUE(counts.contains(0));
  EXPECT_TRUE(counts.contains(staged_records())) << "staged, and not answered";
  EXPECT_GT(counts.size(), 2u) << "killed when some were staged";
}

TEST_F(BatchTxnEveryWrite, OfPrepare) {
  std::set<std::string> found;
  for_each_step([&](int64_t step) {
    take_records();
    BatchTxn batch = staged();
    const bool survived =
        survives(step, [&] { require_none(batch.prepare().error, "PrepareBatchTxn"); });
    if (!survived) restart({}, {&batch});
    found.insert(batch.state());
    await_all(kStaged);
    const BatchTxn::Answer prepared = batch.prepare();
    EXPECT_EQ(prepared.error, ErrorCode::NONE);
    EXPECT_EQ(prepared.staged_records, staged_records());
    EXPECT_EQ(batch.commit().error, ErrorCode::NONE);
    await_all("");
    return survived;
  });
  EXPECT_EQ(found, (std::set<std::string>{"ONGOING", "PREPARE"}));
}

TEST_F(BatchTxnEveryWrite, OfCommit) {
  std::set<Moment> seen;
  for_each_step([&](int64_t step) {
    take_records();
    BatchTxn batch = prepared();
    const auto before = batches_on_disk();
    const bool survived =
        survives(step, [&] { require_none(batch.commit().error, "CommitBatchTxn"); });
    if (!survived) {
      const Moment moment = moment_since(before);
      seen.insert(moment);
      restart({}, {&batch});
      EXPECT_EQ(batch.state(), moment.decided ? "COMMITTED" : "PREPARE");
      await_all(moment.decided ? "" : kStaged);
      EXPECT_EQ(batch.commit().error, ErrorCode::NONE);
    }
    // When it is answered, there is nothing left to be driven on.
    for (int32_t partition = 0; partition < kPartitions; ++partition)
      EXPECT_EQ(state_of(partition), "");
    return survived;
  });
  expect_all_moments(seen, participants().size());
}

TEST_F(BatchTxnEveryWrite, OfAbort) {
  for (const bool of_prepared : {false, true}) {
    std::set<Moment> seen;
    for_each_step([&](int64_t step) {
      take_records();
      BatchTxn batch = of_prepared ? prepared() : staged();
      const auto before = batches_on_disk();
      const bool survived =
          survives(step, [&] { require_none(batch.abort().error, "AbortBatchTxn"); });
      if (!survived) {
        const Moment moment = moment_since(before);
        seen.insert(moment);
        restart({}, {&batch});
        const std::string undecided = of_prepared ? "PREPARE" : "ONGOING";
        EXPECT_EQ(batch.state(), moment.decided ? "ABORTED" : undecided);
        await_all(moment.decided ? kAvailable : kStaged);
        EXPECT_EQ(batch.abort().error, ErrorCode::NONE);
      }
      for (int32_t partition = 0; partition < kPartitions; ++partition)
        EXPECT_EQ(state_of(partition), kAvailable);
      finish_round();
      return survived;
    });
    expect_all_moments(seen, participants().size());
  }
}

// ---------------------------------------------------------------- a producer's transaction

struct Ending {
  const char* name;
  TxnVersion version;
  bool commit;
};

class ProducerTxnEveryWrite : public EveryWrite, public testing::WithParamInterface<Ending> {
 protected:
  TxnProducer producer() {
    TxnProducer txn(broker_.port(), "txn", GetParam().version);
    txn.init();
    return txn;
  }
  // One output in each partition.
  void write(TxnProducer& txn) {
    for (int32_t partition = 0; partition < output_.partitions; ++partition)
      require_none(txn.produce(output_, partition, {"out-" + std::to_string(round_)}), "Produce");
  }
  void expect_output(const Strings& outputs) {
    for (int32_t partition = 0; partition < output_.partitions; ++partition) {
      EXPECT_EQ(read_values(client_, output_, partition, Isolation::kReadCommitted), outputs);
    }
  }
};

TEST_P(ProducerTxnEveryWrite, OfTheStage) {
  Strings outputs;
  TxnProducer txn = producer();
  for_each_step([&](int64_t step) {
    take_records();
    write(txn);
    const auto request = txn.stage_request(member_, all());
    const bool survived = survives(step, [&] {
      require(txn.stage(request) == staged_ok(kPartitions), "TxnShareAcknowledge");
    });
    bool complete = survived;
    if (!survived) {
      restart({&txn}, {});
      const Staged again = txn.stage(request);
      complete = again == staged_ok(kPartitions);
      // What is not there cannot be staged any more: nobody holds it. Then only an abort is left.
      if (!complete) {
        EXPECT_EQ(txn.end(true), ErrorCode::TRANSACTION_ABORTABLE);
      }
    }
    const bool commit = complete && GetParam().commit;
    txn.end_for_sure(commit);
    await_transaction_state(client_, "txn", commit ? "CompleteCommit" : "CompleteAbort");
    if (commit) outputs.push_back("out-" + std::to_string(round_));
    expect_output(outputs);
    if (commit) {
      await_all("");
    } else {
      finish_round();
    }
    return survived;
  });
}

TEST_P(ProducerTxnEveryWrite, OfTheEnd) {
  const bool commit = GetParam().commit;
  const std::string completed = commit ? "CompleteCommit" : "CompleteAbort";
  Strings outputs;
  std::set<Moment> seen;
  std::set<size_t> data_told;
  TxnProducer txn = producer();
  for_each_step([&](int64_t step) {
    take_records();
    write(txn);
    EXPECT_EQ(txn.stage(member_, all()), staged_ok(kPartitions));
    const auto before = batches_on_disk();
    bool answered = false;
    const bool survived = survives(step, [&] {
      txn.end_for_sure(commit);
      answered = true;
      await_transaction_state(client_, "txn", completed);
    });
    if (!survived) {
      const bool decided = !grown_since(before, "__transaction_state-").empty();
      seen.insert({decided, grown_since(before, "__share_group_state-").size()});
      data_told.insert(grown_since(before, output_.name + "-").size());
      restart({&txn}, {});
      if (decided) {
        await_transaction_state(client_, "txn", completed);
      } else {
        EXPECT_EQ(transaction_state(client_, "txn"), "Ongoing");
        await_all(kStaged);
        expect_output(outputs);
      }
      if (!answered) {
        txn.end_for_sure(commit);
        await_transaction_state(client_, "txn", completed);
      }
    }
    if (commit) outputs.push_back("out-" + std::to_string(round_));
    expect_output(outputs);
    for (int32_t partition = 0; partition < kPartitions; ++partition)
      EXPECT_EQ(state_of(partition), commit ? "" : kAvailable);
    if (!commit) finish_round();
    return survived;
  });
  expect_all_moments(seen, holders().size());
  EXPECT_EQ(data_told, (std::set<size_t>{0, 1, 2})) << "of the partitions of the output";
}

INSTANTIATE_TEST_SUITE_P(Every, ProducerTxnEveryWrite,
                         testing::Values(Ending{"Commit1", TxnVersion::k1, true},
                                         Ending{"Commit2", TxnVersion::k2, true},
                                         Ending{"Abort1", TxnVersion::k1, false},
                                         Ending{"Abort2", TxnVersion::k2, false}),
                         [](const testing::TestParamInfo<Ending>& info) {
                           return info.param.name;
                         });

}  // namespace
}  // namespace ackord::integration
