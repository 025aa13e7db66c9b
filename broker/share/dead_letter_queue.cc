#include "broker/share/dead_letter_queue.h"

#include <algorithm>
#include <utility>

#include "broker/base/logging.h"

namespace ackord::share {
namespace {

// Of one share partition at a time; bounds what a crash makes again.
constexpr int64_t kMaxRecordsAtOnce = 10000;

// What of `range` is not in `known`.
std::vector<ArchivedRange> without(const ArchivedRange& range, const OffsetSet& known) {
  std::vector<ArchivedRange> out;
  Offset at = range.first_offset;
  for (auto taken = known.at_or_after(at);
       taken != known.ranges().end() && taken->first <= range.last_offset; ++taken) {
    if (taken->first > at) {
      out.push_back(range);
      out.back().first_offset = at;
      out.back().last_offset = taken->first - 1;
    }
    at = taken->second + 1;
  }
  if (at <= range.last_offset) {
    out.push_back(range);
    out.back().first_offset = at;
  }
  return out;
}

// From the front, ascending, so that the originals are read in one go.
std::vector<ArchivedRange> take(std::deque<ArchivedRange>& waiting) {
  std::vector<ArchivedRange> out;
  int64_t records = 0;
  while (!waiting.empty() && records < kMaxRecordsAtOnce) {
    ArchivedRange& front = waiting.front();
    out.push_back(front);
    const int64_t room = kMaxRecordsAtOnce - records;
    if (front.records() > room) {
      out.back().last_offset = front.first_offset + room - 1;
      front.first_offset += room;
    } else {
      waiting.pop_front();
    }
    records += out.back().records();
  }
  std::ranges::sort(out, {}, &ArchivedRange::first_offset);
  return out;
}

}  // namespace

void DeadLetterQueue::accept(const SharePartitionKey& key,
                             const std::vector<ArchivedRange>& ranges) {
  Boxes& boxes = boxes_here();
  for (const ArchivedRange& range : ranges) {
    if (range.state != RecordState::ARCHIVING) continue;
    Box& box = boxes[key];
    for (const ArchivedRange& fresh : without(range, box.under_way)) {
      box.under_way.add(fresh.first_offset, fresh.last_offset);
      box.waiting.push_back(fresh);
    }
    if (std::exchange(box.busy, true)) continue;
    io::spawn(environment_.here().executor, empty_box(key));
  }
}

io::Task<void> DeadLetterQueue::empty_box(SharePartitionKey key) {
  Boxes& boxes = boxes_here();
  while (!boxes.at(key).waiting.empty()) {
    auto writing = write(key, take(boxes.at(key).waiting));
    co_await std::move(writing);
  }
  boxes.erase(key);
}

io::Task<void> DeadLetterQueue::write(SharePartitionKey key, std::vector<ArchivedRange> ranges) {
  auto writing = writer_.write(key, ranges);
  const DeadLetterWriter::Written written = co_await std::move(writing);
  report_.letters(key, ranges, written);
  FinishLetters finish;
  finish.key = key;
  OffsetSet& under_way = boxes_here().at(key).under_way;
  for (const ArchivedRange& range : ranges) {
    finish.ranges.push_back({range.first_offset, range.last_offset});
    under_way.remove(range.first_offset, range.last_offset);
  }
  // It is decided before anything else runs here: what becomes ARCHIVING from now on is new.
  auto finishing = shards_.run(shards_.index_of(key), std::move(finish));
  const Result<FinishLetters::Reply> finished = co_await std::move(finishing);
  if (!finished) {
    base::log_warn(
        "records stay ARCHIVING until the broker starts again share-partition={} error={}",
        key.to_string(), finished.error().code);
  }
}

}  // namespace ackord::share
