// The ways to make small writes to many logs durable that docs/ARCHITECTURE.md, "Durability by
// measurement", compares. Each models what the broker does: a loop thread writes, pool threads
// sync, a write is acknowledged when what it rests on is on the disk.
//
// Threads: one loop thread makes and calls everything here. Errors: std::system_error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ackord::bench {

using ClientId = uint32_t;

class Durability {
 public:
  virtual ~Durability() = default;

  // Appends to the log with this index on behalf of a client that has no other write under way.
  virtual void write(ClientId client, size_t log, std::span<const std::byte> bytes) = 0;
  // Adds the clients whose writes have become durable; waits for one at least.
  virtual void await(std::vector<ClientId>& done) = 0;
  // System calls that synced something.
  virtual uint64_t syncs() const = 0;
};

struct Layout {
  std::string directory;  // exists; files in it are replaced
  size_t logs = 0;
  size_t pool_threads = 0;
};

// files          one fdatasync in flight per file, which serves all that came before it began
// files-zeroed   the same on files with zeros ahead of the records: a sync need not commit a new
//                size to the file system's journal
// syncfs         one syncfs in flight, for all files together
// journal        one journal for all logs: append and fdatasync there, copies to the files, which
//                are synced before the journal is written over
// journal-zeroed the same, on a journal that was written with zeros once
std::vector<std::string_view> ways();
std::unique_ptr<Durability> make_durability(std::string_view way, const Layout& layout);

}  // namespace ackord::bench
