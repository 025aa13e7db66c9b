// GroupService: what administrators ask of share groups.
#include <algorithm>
#include <utility>

#include "broker/base/logging.h"
#include "broker/group/group_service_impl.h"

namespace ackord::group {

io::Task<DescribedShareGroup> GroupServiceImpl::describe_share_group(GroupId group) {
  DescribeShareMembers op{group};
  auto running = run(std::move(group), std::move(op));
  Result<DescribedShareGroup> reply = co_await std::move(running);
  if (reply) co_return std::move(*reply);
  DescribedShareGroup failed;
  failed.error = reply.error().code;
  failed.message = reply.error().message;
  co_return failed;
}

io::Task<AlteredShareOffsets> GroupServiceImpl::alter_share_offsets(
    GroupId group, std::vector<ShareOffset> offsets) {
  AlteredShareOffsets out;
  BeginAlterShareOffsets begin{group, offsets};
  auto beginning = run(group, std::move(begin));
  Result<BeginAlterShareOffsets::Reply> begun = co_await std::move(beginning);
  if (!begun) {
    out.error = begun.error().code;
    out.message = begun.error().message;
    co_return out;
  }
  out.error = begun->error;
  out.message = begun->message;
  if (out.error != ErrorCode::NONE || offsets.empty()) co_return out;
  std::vector<io::Task<ErrorCode>> calls;
  for (const ShareOffset& offset : offsets)
    calls.push_back(states_.replace(group, offset.partition.topic_id, offset.partition.partition,
                                    begun->state_epoch, offset.start_offset));
  auto all = io::when_all(std::move(calls));
  out.partitions = co_await std::move(all);
  EndAlterShareOffsets end;
  end.group = group;
  for (size_t i = 0; i < offsets.size(); ++i)
    end.results.emplace_back(offsets[i].partition, out.partitions[i] == ErrorCode::NONE);
  auto ending = run(std::move(group), std::move(end));
  const Result<EndAlterShareOffsets::Reply> ended = co_await std::move(ending);
  if (!ended) {
    out.error = ended.error().code;
    out.message = ended.error().message;
  }
  co_return out;
}

io::Task<DeletedShareOffsets> GroupServiceImpl::delete_share_offsets(GroupId group,
                                                                     std::vector<Uuid> topics) {
  DeletedShareOffsets out;
  BeginDeleteShareOffsets begin{group, topics};
  auto beginning = run(group, std::move(begin));
  Result<BeginDeleteShareOffsets::Reply> begun = co_await std::move(beginning);
  if (!begun) {
    out.error = begun.error().code;
    out.message = begun.error().message;
    co_return out;
  }
  out.error = begun->error;
  out.message = begun->message;
  if (out.error != ErrorCode::NONE) co_return out;
  std::vector<Uuid> held;
  for (const ShareGroupTopic& topic : begun->states) held.push_back(topic.topic_id);
  EndDeleteShareOffsets end;
  end.group = group;
  if (!held.empty()) {
    auto removing = remove_states(group, std::move(begun->states), end.kept);
    const ErrorCode failure = co_await std::move(removing);
    for (const Uuid& topic : topics) {
      const bool kept = std::ranges::any_of(
          end.kept, [&](const ShareGroupTopic& one) { return one.topic_id == topic; });
      out.topics.push_back(kept ? failure : ErrorCode::NONE);
    }
    auto ending = run(std::move(group), std::move(end));
    const Result<EndDeleteShareOffsets::Reply> ended = co_await std::move(ending);
    if (!ended) {
      out.error = ended.error().code;
      out.message = ended.error().message;
      co_return out;
    }
  }
  out.topics.resize(topics.size());
  for (size_t i = 0; i < topics.size(); ++i) {
    if (std::ranges::find(held, topics[i]) == held.end())
      out.topics[i] = ErrorCode::UNKNOWN_TOPIC_OR_PARTITION;
  }
  co_return out;
}

}  // namespace ackord::group
