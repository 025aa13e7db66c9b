#include <utility>

#include "protocol/generated/batch_txn_acknowledge_request.h"
#include "protocol/generated/batch_txn_acknowledge_response.h"
#include "protocol/generated/begin_batch_txn_request.h"
#include "protocol/generated/begin_batch_txn_response.h"
#include "protocol/generated/commit_batch_txn_request.h"
#include "protocol/generated/commit_batch_txn_response.h"
#include "protocol/generated/prepare_batch_txn_request.h"
#include "protocol/generated/prepare_batch_txn_response.h"
#include "tools/bench/share_member.h"
#include "tools/bench/works.h"

namespace ackord::bench {
namespace {

constexpr int32_t kTimeoutMs = 60000;

struct Checkpoints {
  Bench& bench;
  const Topic& topic;
  int64_t left = 0;     // records that are in no committed transaction yet
  int64_t untaken = 0;  // records that none has been handed yet
  int64_t transactions = 0;
  Histogram acknowledge;
  Histogram prepare;
  Histogram commit;
  Clock::time_point last;

  Task<> work(ShareMember& member, std::string prefix);

 private:
  template <class Response, class Request>
  Task<> decide(ShareMember& member, const std::string& id, Request request, const char* what);
  Task<> acknowledge_all(ShareMember& member, const std::string& id,
                         const std::vector<Acquired>& held);
};

template <class Response, class Request>
Task<> Checkpoints::decide(ShareMember& member, const std::string& id, Request request,
                           const char* what) {
  request.transaction_id = TransactionalId(id);
  request.group_id = GroupId(member.group());
  const auto answer = co_await member.wire().call<Response>(request);
  expect_none(answer.message.error_code, what);
}

Task<> Checkpoints::acknowledge_all(ShareMember& member, const std::string& id,
                                    const std::vector<Acquired>& held) {
  protocol::BatchTxnAcknowledgeRequest request;
  request.transaction_id = TransactionalId(id);
  request.group_id = GroupId(member.group());
  request.member_id = String(member.id());
  request.member_epoch = member.epoch();
  accept_all(request.topics, topic, held);
  const auto answer = co_await member.wire().call<protocol::BatchTxnAcknowledgeResponse>(request);
  expect_none(answer.message.error_code, "BatchTxnAcknowledge");
  expect_all_none(answer.message.responses, "BatchTxnAcknowledge");
}

Task<> Checkpoints::work(ShareMember& member, std::string prefix) {
  const int64_t wanted = std::max(bench.options().txn_records, bench.options().max_records);
  for (int64_t checkpoint = 0; untaken > 0; ++checkpoint) {
    const std::string id = prefix + "-" + std::to_string(checkpoint);
    protocol::BeginBatchTxnRequest begin;
    begin.timeout_ms = kTimeoutMs;
    co_await decide<protocol::BeginBatchTxnResponse>(member, id, begin, "BeginBatchTxn");
    int64_t taken = 0;
    while (untaken > 0 && taken < wanted) {
      co_await member.beat();
      const Polled polled = co_await member.poll({});
      if (polled.records == 0) continue;
      untaken -= polled.records;
      taken += polled.records;
      const Clock::time_point start = Clock::now();
      co_await acknowledge_all(member, id, polled.ranges);
      acknowledge.record(since_ns(start));
    }
    Clock::time_point start = Clock::now();
    co_await decide<protocol::PrepareBatchTxnResponse>(
        member, id, protocol::PrepareBatchTxnRequest(), "PrepareBatchTxn");
    prepare.record(since_ns(start));
    start = Clock::now();
    co_await decide<protocol::CommitBatchTxnResponse>(member, id, protocol::CommitBatchTxnRequest(),
                                                      "CommitBatchTxn");
    commit.record(since_ns(start));
    left -= taken;
    ++transactions;
    last = Clock::now();
  }
  co_await member.finish({});
}

}  // namespace

Report batch_txn(Bench& bench) {
  const Options& options = bench.options();
  const Topic topic = bench.create_topic(options.partitions);
  bench.fill(topic, options.records);
  const std::string group = bench.unique("bench-batch-txn");
  bench.configure_group(group, {{"share.auto.offset.reset", "earliest"}});
  const auto members = join_members(bench, topic, group);
  Checkpoints work{bench, topic, options.records, options.records, 0, {}, {}, {}, {}};
  std::vector<Task<>> tasks;
  for (size_t i = 0; i < members.size(); ++i)
    tasks.push_back(work.work(*members[i], group + "-" + std::to_string(i)));
  Report report;
  report.work = "batch-txn";
  bench.begin();
  bench.run(std::move(tasks));
  if (work.left > 0) throw BenchError(std::to_string(work.left) + " records are not final");
  report.count = options.records;
  report.latencies.emplace_back("acknowledge", std::move(work.acknowledge));
  report.latencies.emplace_back("prepare", std::move(work.prepare));
  report.latencies.emplace_back("commit", std::move(work.commit));
  report.numbers.emplace_back("transactions", static_cast<double>(work.transactions));
  bench.end(report, work.last);
  return report;
}

}  // namespace ackord::bench
