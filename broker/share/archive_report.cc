#include "broker/share/archive_report.h"

#include <utility>

#include "broker/base/logging.h"

namespace ackord::share {
namespace {

constexpr int64_t kLinesPerSecond = 50;

// There was something to lose.
bool is_loss(ArchiveReason reason) {
  return reason == ArchiveReason::kRejected || reason == ArchiveReason::kDeliveryLimit ||
         reason == ArchiveReason::kLeftTheLog;
}

}  // namespace

ArchiveCounters& ArchiveCounters::operator+=(const ArchiveCounters& other) {
  for (size_t i = 0; i < kReasons; ++i) archived[i] += other.archived[i];
  letters += other.letters;
  letters_given_up += other.letters_given_up;
  return *this;
}

bool ArchiveReport::take_line() {
  OfCore& core = here();
  const int64_t second = environment_.here().clock.now().steady_ms / 1000;
  if (second != core.second) {
    core.second = second;
    core.lines = 0;
    const int64_t held_back = std::exchange(core.held_back, 0);
    if (held_back > 0)
      base::log_warn("more records were archived than is logged ranges={}", held_back);
  }
  if (++core.lines <= kLinesPerSecond) return true;
  ++core.held_back;
  return false;
}

std::string ArchiveReport::name_of_topic(const Uuid& id) const {
  const auto topic = metadata_.image().topic(id);
  return topic ? topic->name.str() : id.to_string();
}

void ArchiveReport::archived(const Archived& archived) {
  const SharePartitionKey& key = archived.key;
  ArchiveCounters& counters = here().counters[{key.group_id, key.topic_id}];
  for (const ArchivedRange& range : archived.ranges) {
    if (range.reason == ArchiveReason::kUnknown) continue;  // was counted when it happened
    counters.archived[static_cast<size_t>(range.reason)] += range.records();
    const bool loss = is_loss(range.reason);
    if (loss && !take_line()) continue;
    const std::string text = fmt::format(
        "records archived group={} partition={}-{} offsets={}-{} reason={} "
        "delivery-count={} dead-letter={}",
        base::printable(key.group_id.sv()), name_of_topic(key.topic_id), key.partition,
        range.first_offset, range.last_offset, name_of(range.reason), range.delivery_count,
        range.state == RecordState::ARCHIVING);
    if (loss) {
      base::log_info("{}", text);
    } else {
      base::log_debug("{}", text);
    }
  }
}

void ArchiveReport::letters(const SharePartitionKey& key, const std::vector<ArchivedRange>& ranges,
                            const DeadLetterWriter::Written& written) {
  ArchiveCounters& counters = here().counters[{key.group_id, key.topic_id}];
  counters.letters += written.letters;
  int64_t left = written.letters;
  for (const ArchivedRange& range : ranges) {
    const int64_t done = std::min(left, range.records());
    left -= done;
    if (done < range.records()) {
      counters.letters_given_up += range.records() - done;
      if (!take_line()) continue;
      base::log_warn(
          "dead letters given up group={} partition={}-{} offsets={}-{} reason={} "
          "delivery-count={} error={} why={}",
          base::printable(key.group_id.sv()), name_of_topic(key.topic_id), key.partition,
          range.first_offset + done, range.last_offset, name_of(range.reason), range.delivery_count,
          written.error.error_code, base::printable(written.error.error_message));
    }
    if (done == 0 || !take_line()) continue;
    base::log_info(
        "records dead-lettered group={} partition={}-{} offsets={}-{} reason={} "
        "delivery-count={} queue={}-{}",
        base::printable(key.group_id.sv()), name_of_topic(key.topic_id), key.partition,
        range.first_offset, range.first_offset + done - 1, name_of(range.reason),
        range.delivery_count, written.queue.topic, written.queue.partition);
  }
}

io::Task<ArchiveReport::ByTopic> ArchiveReport::counters() {
  ByTopic& counters = here().counters;
  std::erase_if(counters,
                [this](const auto& one) { return !metadata_.image().topic(one.first.second); });
  co_return counters;
}

}  // namespace ackord::share
