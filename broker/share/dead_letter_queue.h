// DeadLetterQueue: sees to it that records which became ARCHIVING get their dead letters and then
// become ARCHIVED (KIP-1191, semantics A.12).
//
// Order: ARCHIVING is durable (who calls accept() has waited for that) → letters are durable →
// ARCHIVED. A crash in between writes letters twice, never none: what is found ARCHIVING is taken
// up again. A letter that cannot be written is given up, with a line in the log; its record is
// ARCHIVED all the same. One share partition's letters are written one after the other, and what
// comes meanwhile goes out together. Threads: accept() on the core of the key's shard; work goes on
// there.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "broker/io/core.h"
#include "broker/share/archive_report.h"
#include "broker/share/dead_letter_writer.h"
#include "broker/share/state_shards.h"

namespace ackord::share {

class DeadLetterQueue {
 public:
  DeadLetterQueue(io::Environment& environment, log::LogService& log,
                  metadata::MetadataService& metadata, StateShards& shards, ArchiveReport& report)
      : environment_(environment),
        writer_(environment, log, metadata),
        shards_(shards),
        report_(report),
        boxes_(environment.cores.size()) {}

  // The ARCHIVING ones of `ranges`; those that are under way already are passed over.
  void accept(const SharePartitionKey& key, const std::vector<ArchivedRange>& ranges);

 private:
  struct Box {
    std::deque<ArchivedRange> waiting;
    OffsetSet under_way;  // waiting, or in the letters that are being written
    bool busy = false;
  };
  using Boxes = std::unordered_map<SharePartitionKey, Box>;

  Boxes& boxes_here() { return boxes_[static_cast<size_t>(environment_.here().index)]; }
  io::Task<void> empty_box(SharePartitionKey key);
  io::Task<void> write(SharePartitionKey key, std::vector<ArchivedRange> ranges);

  io::Environment& environment_;
  DeadLetterWriter writer_;
  StateShards& shards_;
  ArchiveReport& report_;
  std::vector<Boxes> boxes_;  // by core
};

}  // namespace ackord::share
