// GroupService: committed offsets.
#include <utility>

#include "broker/group/group_service_impl.h"

namespace ackord::group {

io::Task<Result<std::optional<uint64_t>>> GroupServiceImpl::begin_txn_offset_commit(
    GroupId group, log::ProducerStamp producer) {
  BeginTxnOffsetCommit op{producer, environment_.random.next()};
  return run(std::move(group), op);
}

io::Task<ErrorCode> GroupServiceImpl::txn_offset_commit(TxnOffsetCommit commit,
                                                        std::optional<uint64_t> guard,
                                                        CommitCheck check) {
  auto finding = runner_of(commit.commit.group);
  Result<Runner*> runner = co_await std::move(finding);
  if (!runner) co_return runner.error().code;
  auto running = io::on((*runner)->core().executor,
                        commit_here(**runner, std::move(commit), guard, std::move(check)));
  Result<Verdict> reply = co_await std::move(running);
  if (!reply) co_return reply.error().code;
  co_return reply->error;
}

// The log is looked at and decided on without a break in between.
io::Task<Result<Verdict>> GroupServiceImpl::commit_here(Runner& runner, TxnOffsetCommit commit,
                                                        std::optional<uint64_t> guard,
                                                        CommitCheck check) {
  const ErrorCode refused = check ? check() : ErrorCode::NONE;
  if (refused != ErrorCode::NONE) co_return error(refused);
  auto known = runner.partition().producer(commit.producer.id);
  TxnOffsetCommitOp op{std::move(commit), guard, std::move(known)};
  auto running = runner.run(std::move(op));
  Result<Verdict> reply = co_await std::move(running);
  co_return reply;
}

io::Task<ErrorCode> GroupServiceImpl::commit_offsets(OffsetsToCommit commit) {
  GroupId group = commit.group;
  CommitOffsets op{std::move(commit)};
  auto running = run(std::move(group), std::move(op));
  Result<Verdict> reply = co_await std::move(running);
  if (!reply) co_return reply.error().code;
  co_return reply->error;
}

io::Task<Result<FetchedOffsets>> GroupServiceImpl::fetch_offsets(OffsetsToFetch fetch) {
  GroupId group = fetch.group;
  FetchOffsets op{std::move(fetch)};
  auto running = run(std::move(group), std::move(op));
  Result<FetchOffsets::Reply> reply = co_await std::move(running);
  if (!reply) co_return reply.error();
  if (reply->error != ErrorCode::NONE) co_return error(reply->error);
  co_return std::move(reply->offsets);
}

io::Task<DeletedOffsets> GroupServiceImpl::delete_offsets(GroupId group,
                                                          std::vector<TopicPartition> partitions) {
  DeletedOffsets failed;
  failed.error = ErrorCode::INVALID_GROUP_ID;
  if (group.empty()) co_return failed;
  DeleteOffsets op{group, std::move(partitions)};
  auto running = run(std::move(group), std::move(op));
  Result<DeletedOffsets> reply = co_await std::move(running);
  if (reply) co_return std::move(*reply);
  failed.error = reply.error().code;
  co_return failed;
}

}  // namespace ackord::group
