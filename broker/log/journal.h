// Journal: makes small appends of many logs durable with one write (group commit over logs).
//
// An fdatasync of a growing file is two writes and two flushes of the disk, for each file; a block
// written over in a file that has its size is one. So a log whose unsynced end is small hands it to
// the journal of its core, and goes on; its own file is synced later, when the journal's space is
// needed again. After a crash the journal gives back what the log's file has lost
// (journal_replay.h). A log that has much to sync, or finds no room here, syncs its own file.
//
// Two files take turns. One that is full is free again once every log with an entry in it has been
// synced up to there. They are made when the journal is first asked for, and removed by a clean
// stop.
//
// One core. Borrows everything; lives as long as the logs. Errors: KAFKA_STORAGE_ERROR when a write
// fails, from then on.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/io/executor.h"
#include "broker/io/file_system.h"
#include "broker/io/position_gate.h"
#include "broker/log/journal_format.h"

namespace ackord::log {

// A log with entries in a journal.
class Journaled {
 public:
  virtual ~Journaled() = default;
  // True: all that the log has appended so far stands in its own synced files, or the log is gone.
  // False: the disk has failed, and what the journal has of it is still needed.
  virtual io::Task<bool> sync_files() = 0;
};

class Journal {
 public:
  // Its files are `name_prefix` with a number and names::kJournal behind it.
  Journal(io::FileSystem& files, io::Executor& executor, std::string directory,
          std::string name_prefix, uint64_t file_bytes);

  // Whether write() may be called for so many bytes. The first call begins to make the files.
  bool takes(uint64_t size);

  struct Entry {
    Uuid topic_id;
    int32_t partition = 0;
    // Where the bytes, whole batches, stand: written, not synced.
    std::shared_ptr<io::File> file;
    uint64_t position = 0;
    uint64_t size = 0;
    std::shared_ptr<Journaled> log;
  };
  // The bytes are durable when it ends.
  io::Task<Result<void>> write(Entry entry);

 private:
  enum class State { kNone, kPreparing, kReady, kUnusable };
  struct Space {
    std::shared_ptr<io::File> file;
    uint64_t position = 0;
    uint64_t generation = 0;
    uint32_t rounds = 0;
    bool needed = false;  // full, and not all of its logs are synced
    std::map<std::pair<Uuid, int32_t>, std::shared_ptr<Journaled>> logs;
  };

  static io::Task<void> prepare(Journal* self);
  static io::Task<Result<void>> enqueue(Journal* self, Entry entry);
  static io::Task<void> run(Journal* self);
  static io::Task<Result<void>> write_round(Journal* self, std::vector<Entry> entries);
  static io::Task<Result<void>> sync_each(std::vector<Entry> entries);
  static io::Task<void> reclaim(Journal* self, size_t index);
  // The entries of the next round, taken from the queue.
  std::vector<Entry> take_round();
  // Makes the current file one with room for so many bytes.
  bool make_room(uint64_t size);

  io::FileSystem& files_;
  io::Executor& executor_;
  std::string directory_;
  std::string name_prefix_;
  uint64_t file_bytes_;
  State state_ = State::kNone;
  std::array<Space, 2> spaces_;
  size_t current_ = 0;
  uint64_t last_generation_ = 0;
  RoundBuilder builder_;
  std::deque<Entry> queue_;
  bool running_ = false;
  int64_t taken_ = 0;
  io::PositionGate written_{0};
};

}  // namespace ackord::log
