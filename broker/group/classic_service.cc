// GroupService: classic groups. Joins and syncs wait until a decision, their own or a later one,
// answers them.
#include <fmt/format.h>

#include <limits>
#include <utility>

#include "broker/group/group_service_impl.h"

namespace ackord::group {
namespace {

// Who waits is answered by a decision, or has gone.
constexpr int64_t kNoDeadline = std::numeric_limits<int64_t>::max() / 2;

// As Java writes a UUID, which is how Kafka's member ids end.
std::string text_of(const Uuid& id) {
  std::string text;
  for (size_t i = 0; i < id.bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", id.bytes[i]);
  }
  return text;
}

const GroupId& group_of(const JoinClassicGroup& op) { return op.join.group; }
const GroupId& group_of(const SyncClassicGroup& op) { return op.sync.who.group; }

}  // namespace

ClassicWaits& GroupServiceImpl::waits_of(const Runner& runner) {
  return classic_waits_[static_cast<size_t>(runner.core().index)];
}

template <class Op>
io::Task<Result<Ticket>> GroupServiceImpl::ask_here(Runner& runner, Op op,
                                                    std::shared_ptr<ClassicWait> wait) {
  ClassicWaits& waits = waits_of(runner);
  const Ticket ticket = waits.open(std::move(wait));
  op.ticket = ticket;
  op.consumers.emplace(ConsumerContext{topics_here(), consumer_limits_of(group_of(op).sv())});
  auto running = runner.run(std::move(op));
  Result<ClassicAnswers> answers = co_await std::move(running);
  if (!answers) {
    // What the shard cannot do now it cannot do for those who wait either.
    waits.fail(answers.error().code);
    co_return answers.error();
  }
  waits.deliver(std::move(*answers));
  co_return ticket;
}

io::Task<bool> GroupServiceImpl::forget_here(Runner& runner, Ticket ticket) {
  waits_of(runner).close(ticket);
  co_return true;
}

template <class Op>
io::Task<Result<std::optional<ClassicAnswer>>> GroupServiceImpl::ask_and_wait(GroupId group, Op op,
                                                                              Caller caller) {
  auto finding = runner_of(std::move(group));
  Result<Runner*> runner = co_await std::move(finding);
  if (!runner) co_return runner.error();
  const auto wait = std::make_shared<ClassicWait>(environment_.here());
  io::Executor& there = (*runner)->core().executor;
  auto asking = io::on(there, ask_here(**runner, std::move(op), wait));
  Result<Ticket> ticket = co_await std::move(asking);
  if (!ticket) co_return ticket.error();
  while (!wait->answer && wait->error == ErrorCode::NONE) {
    if (caller.gone != nullptr && *caller.gone) {
      auto forgetting = io::on(there, forget_here(**runner, *ticket));
      (void)co_await std::move(forgetting);
      co_return std::optional<ClassicAnswer>();
    }
    if (caller.on_gone != nullptr) caller.on_gone->subscribe(wait->wakeup);
    auto waiting = wait->wakeup->wait_until(kNoDeadline);
    (void)co_await std::move(waiting);
  }
  if (!wait->answer) co_return error(wait->error);
  co_return std::move(wait->answer);
}

io::Task<ClassicJoinReply> GroupServiceImpl::join_classic_group(ClassicJoin join, Caller caller) {
  ClassicJoinReply failed;
  failed.member = join.member;
  GroupId group = join.group;
  JoinClassicGroup op{std::move(join), 0, text_of(environment_.random.uuid())};
  auto asking = ask_and_wait(std::move(group), std::move(op), caller);
  Result<std::optional<ClassicAnswer>> answer = co_await std::move(asking);
  if (answer && *answer) co_return std::get<ClassicJoinReply>(std::move((*answer)->reply));
  // Nobody reads what is answered to one who has gone.
  failed.error = answer ? ErrorCode::REQUEST_TIMED_OUT : answer.error().code;
  co_return failed;
}

io::Task<ClassicSyncReply> GroupServiceImpl::sync_classic_group(ClassicSync sync, Caller caller) {
  ClassicSyncReply failed;
  GroupId group = sync.who.group;
  SyncClassicGroup op{std::move(sync), 0};
  auto asking = ask_and_wait(std::move(group), std::move(op), caller);
  Result<std::optional<ClassicAnswer>> answer = co_await std::move(asking);
  if (answer && *answer) co_return std::get<ClassicSyncReply>(std::move((*answer)->reply));
  failed.error = answer ? ErrorCode::REQUEST_TIMED_OUT : answer.error().code;
  co_return failed;
}

io::Task<ErrorCode> GroupServiceImpl::classic_heartbeat(ClassicMemberName who) {
  GroupId group = who.group;
  BeatClassicMember op{std::move(who)};
  auto running = run(std::move(group), std::move(op));
  Result<Verdict> reply = co_await std::move(running);
  if (!reply) co_return reply.error().code;
  co_return reply->error;
}

io::Task<Result<std::vector<ErrorCode>>> GroupServiceImpl::leave_classic_group(ClassicLeave leave) {
  auto finding = runner_of(leave.group);
  Result<Runner*> runner = co_await std::move(finding);
  if (!runner) co_return runner.error();
  auto leaving = io::on((*runner)->core().executor, leave_here(**runner, std::move(leave)));
  Result<std::vector<ErrorCode>> errors = co_await std::move(leaving);
  co_return errors;
}

io::Task<Result<std::vector<ErrorCode>>> GroupServiceImpl::leave_here(Runner& runner,
                                                                      ClassicLeave leave) {
  ConsumerContext consumers{topics_here(), consumer_limits_of(leave.group.sv())};
  LeaveClassicGroup op{std::move(leave), std::move(consumers)};
  auto running = runner.run(std::move(op));
  Result<LeaveClassicGroup::Reply> left = co_await std::move(running);
  if (!left) {
    waits_of(runner).fail(left.error().code);
    co_return left.error();
  }
  waits_of(runner).deliver(std::move(left->answers));
  co_return std::move(left->errors);
}

}  // namespace ackord::group
