// LocalShareService: the delivery state, as the share coordinator's RPCs and the group coordinator
// ask for it (semantics A.6).
#include <type_traits>
#include <utility>

#include "broker/share/local_share_service.h"

namespace ackord::share {
namespace {

template <class Reply>
Reply refused(ErrorCode code, std::string why) {
  PartitionError error{code, std::move(why)};
  if constexpr (std::is_same_v<Reply, PartitionError>) {
    return error;
  } else {
    Reply reply;
    reply.error = std::move(error);
    return reply;
  }
}

// What Kafka looks for in the stored state before it asks for the topic.
template <class Op>
constexpr bool kStateComesFirst = std::is_same_v<Op, Read> || std::is_same_v<Op, Write>;

}  // namespace

template <class Op>
io::Task<typename Op::Reply> LocalShareService::run_on_state(Op op) {
  using Reply = typename Op::Reply;
  if (op.key.partition < 0)
    co_return refused<Reply>(ErrorCode::INVALID_REQUEST, "The partition is negative.");
  auto ensuring = shards_.ensure();
  const Result<void> ready = co_await std::move(ensuring);
  if (!ready) co_return refused<Reply>(ready.error().code, ready.error().message);
  const int32_t index = shards_.index_of(op.key);
  auto running =
      io::on(shards_.runner(index).core().executor, run_on_state_here<Op>(index, std::move(op)));
  Result<Reply> reply = co_await std::move(running);
  if (!reply) co_return refused<Reply>(reply.error().code, reply.error().message);
  co_return std::move(*reply);
}

// The topic is looked up on the shard's core, at the moment of the decision: a topic that goes
// takes with it all that was decided before.
template <class Op>
io::Task<Result<typename Op::Reply>> LocalShareService::run_on_state_here(int32_t index, Op op) {
  using Reply = typename Op::Reply;
  if (!source_of({op.key.topic_id, op.key.partition})) {
    if (kStateComesFirst<Op>)
      co_return refused<Reply>(ErrorCode::INVALID_REQUEST,
                               "The share partition was never initialized.");
    co_return refused<Reply>(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION,
                             "There is no such topic or partition.");
  }
  auto running = shards_.runner(index).run(std::move(op));
  Result<Reply> reply = co_await std::move(running);
  co_return reply;
}

io::Task<PartitionError> LocalShareService::initialize_state(Initialize op) {
  return run_on_state(std::move(op));
}

io::Task<Read::Reply> LocalShareService::read_state(Read op) { return run_on_state(std::move(op)); }

io::Task<PartitionError> LocalShareService::write_state(Write op) {
  return run_on_state(std::move(op));
}

io::Task<PartitionError> LocalShareService::delete_state(Delete op) {
  return run_on_state(std::move(op));
}

io::Task<Summary::Reply> LocalShareService::summarize_state(Summary op) {
  return run_on_state(std::move(op));
}

}  // namespace ackord::share
