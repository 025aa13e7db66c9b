// The compactions of LocalPartition: what is worth it is decided here, the work is a pool thread's
// (compaction.h), and finished segments are swapped in here, between two steps of it.
#include <algorithm>

#include "broker/base/logging.h"
#include "broker/log/compaction_plan.h"
#include "broker/log/local_partition.h"
#include "broker/log/log_names.h"
#include "broker/log/segment_swap.h"

namespace ackord::log {
namespace {

// What a pool thread reads before others get their turn.
constexpr uint64_t kStepBytes = 4 << 20;
constexpr int64_t kStepsPerSecond = 4;

}  // namespace

bool LocalPartition::cleaning_stops() const {
  return closed_ || refusal().has_value() || !log_->config().compact;
}

void LocalPartition::forget_loaded(const std::vector<SegmentPtr>& segments) {
  for (const SegmentPtr& segment : segments) std::erase(loaded_, segment);
}

io::Task<std::optional<int64_t>> LocalPartition::clean(Self self, CleanerLimits limits,
                                                       io::Clock* clock) {
  const int64_t mine = ++self->cleanings_;
  auto cleaning = clean_once(self, limits, clock);
  const std::optional<int64_t> again = co_await std::move(cleaning);
  self->cleanings_done_.advance(mine);
  co_return again;
}

io::Task<std::optional<int64_t>> LocalPartition::clean_once(Self self, CleanerLimits limits,
                                                            io::Clock* clock) {
  std::optional<int64_t> again;
  if (self->cleaning_stops() || self->uncleanable_) co_return again;
  const PartitionLog& log = *self->log_;
  auto learning = learn_ages(self);
  auto learnt = co_await std::move(learning);
  if (learnt.has_error() || self->cleaning_stops()) co_return again;
  const io::Now began = clock->now();
  const TimeMs now_ms = began.wall_ms;
  const CompactionPlan plan = plan_compaction(log, self->cleaned_up_to_, now_ms);
  again = plan.again_in_ms;
  if (plan.held_back) again = std::min(again.value_or(limits.backoff_ms), limits.backoff_ms);
  if (!plan.due) co_return again;
  CompactionInput input;
  input.directory = log.directory();
  input.segments = plan.segments;
  input.aborted = log.aborted_below(plan.round_end);
  input.last_batches = log.producers().last_batches();
  input.first_dirty = plan.first_dirty;
  input.high_watermark = log.high_watermark();
  input.round_end = plan.round_end;
  input.segment_bytes = log.config().segment_bytes;
  input.segment_index_bytes = log.config().segment_index_bytes;
  input.index_interval_bytes = log.config().index_interval_bytes;
  input.delete_retention_ms = log.config().delete_retention_ms;
  input.now_ms = now_ms;
  input.secret = limits.secret;
  input.max_keys = limits.max_keys;
  auto pass = std::make_shared<Compaction>(self->directory_.files(), std::move(input));
  auto running = run_pass(self, pass, limits.bytes_per_second, clock);
  auto ended = co_await std::move(running);
  if (ended.has_error() && ended.error().code == ErrorCode::KAFKA_STORAGE_ERROR) {
    if (!self->removed_) self->directory_.fail(ended.error());
    co_return std::nullopt;
  }
  if (ended.has_error()) {
    self->uncleanable_ = true;
    base::log_error("partition is not compacted any more partition={} why=\"{}\"",
                    names::folder_name(log.name()), ended.error().message);
    co_return std::nullopt;
  }
  if (!*ended) co_return limits.backoff_ms;
  self->cleaned_up_to_ = pass->end();
  auto setting = self->directory_.set_cleaned(log.name(), pass->end());
  auto set = co_await std::move(setting);
  if (set.has_error() && !self->removed_) self->directory_.fail(set.error());
  base::log_info("log compacted partition={} from={} to={} read={} written={} elapsed_ms={}",
                 names::folder_name(log.name()), plan.first_dirty, pass->end(), pass->bytes_read(),
                 pass->bytes_written(), clock->now().steady_ms - began.steady_ms);
  // What did not fit into the keys' memory follows at once.
  if (pass->end() < plan.round_end) again = 0;
  co_return again;
}

// Reads the first header of dirty segments from before this start.
io::Task<Result<void>> LocalPartition::learn_ages(Self self) {
  const auto unknown = segments_of_unknown_age(*self->log_, self->cleaned_up_to_);
  for (const SegmentPtr& segment : unknown) {
    protocol::HeaderBytes bytes;
    auto reading = segment->file()->read(bytes, 0);
    auto got = co_await std::move(reading);
    if (got.has_error()) co_return got.error();
    const auto header = protocol::parse_header(std::span(bytes).first(*got));
    if (header.has_value()) segment->restore_first_timestamp(header->max_timestamp);
  }
  co_return Result<void>();
}

// False when it was given up: the partition goes away, or is not what it was.
io::Task<Result<bool>> LocalPartition::run_pass(Self self, std::shared_ptr<Compaction> pass,
                                                uint64_t bytes_per_second, io::Clock* clock) {
  io::FileSystem& files = self->directory_.files();
  const uint64_t chunk = std::clamp<uint64_t>(bytes_per_second / kStepsPerSecond, 1, kStepBytes);
  auto state = std::make_shared<Result<bool>>(true);
  bool whole = true;
  while (whole && state->has_value() && **state) {
    const int64_t began = clock->now().steady_ms;
    std::function<void()> work = [pass, state, chunk] { *state = pass->step(chunk); };
    auto stepping = files.blocking(std::move(work));
    co_await std::move(stepping);
    whole = !self->cleaning_stops();
    if (state->has_error() || !whole) break;
    if (auto group = pass->take_group()) {
      // A start takes a gap between segments for a loss, unless it finds the partition there.
      auto noting = self->directory_.set_cleaned(self->log_->name(), self->cleaned_up_to_);
      auto noted = co_await std::move(noting);
      if (noted.has_error()) co_return noted.error();
      auto swapping = swap_group(self, std::move(*group));
      auto swapped = co_await std::move(swapping);
      if (swapped.has_error()) co_return swapped.error();
      whole = *swapped;
    }
    const auto pause = static_cast<int64_t>(chunk * 1000 / bytes_per_second);
    if (!**state || pause == 0) continue;
    auto sleep = io::sleep_until(*clock, began + pause);
    co_await sleep;
  }
  if (whole && state->has_value()) co_return true;
  auto discarded = std::make_shared<Result<void>>();
  std::function<void()> work = [pass, discarded] { *discarded = pass->discard(); };
  auto discarding = files.blocking(std::move(work));
  co_await std::move(discarding);
  if (state->has_error()) co_return state->error();
  if (discarded->has_error() && !self->removed_) co_return discarded->error();
  co_return false;
}

// Until the list of segments has changed, readers go on with the old ones, whose files are open.
io::Task<Result<bool>> LocalPartition::swap_group(Self self, Compaction::Group group) {
  if (group.unchanged) co_return true;
  io::FileSystem& files = self->directory_.files();
  const bool there = self->log_->has_segments(group.old);
  self->swapping_ = there;
  if (there) {
    for (const SegmentPtr& segment : group.old) segment->retire();
  }
  const std::string folder = self->log_->directory();
  auto shared = std::make_shared<const Compaction::Group>(std::move(group));
  auto deleted = std::make_shared<Result<std::vector<std::string>>>();
  std::function<void()> work = [&files, folder, shared, deleted, there] {
    if (there) {
      *deleted = swap_segments(files, folder, shared->old, *shared->cleaned);
    } else if (auto done = discard_cleaned(files, *shared->cleaned); done.has_error()) {
      *deleted = done.error();
    }
  };
  auto swapping = files.blocking(std::move(work));
  co_await std::move(swapping);
  self->swapping_ = false;
  if (self->removed_ || !there) co_return false;
  if (deleted->has_error()) co_return deleted->error();
  self->forget_loaded(shared->old);
  self->log_->replace_segments(shared->old, shared->cleaned);
  shared->cleaned->drop_indexes();
  self->directory_.remove_later(std::move(**deleted), self->log_->config().file_delete_delay_ms);
  // What was raised meanwhile.
  auto dropping = delete_dropped(self);
  co_await std::move(dropping);
  co_return true;
}

}  // namespace ackord::log
