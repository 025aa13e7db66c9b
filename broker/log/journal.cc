#include "broker/log/journal.h"

#include <algorithm>
#include <utility>

#include "broker/base/logging.h"
#include "broker/log/log_names.h"

namespace ackord::log {
namespace {

// Above it, copying costs more than an fdatasync of the log's own file.
constexpr uint64_t kMostOfALog = uint64_t{64} << 10;
constexpr uint64_t kMostOfARound = uint64_t{1} << 20;
// A log may take no more than this part of a file at once.
constexpr uint64_t kPart = 4;

}  // namespace

Journal::Journal(io::FileSystem& files, io::Executor& executor, std::string directory,
                 std::string name_prefix, uint64_t file_bytes)
    : files_(files),
      executor_(executor),
      directory_(std::move(directory)),
      name_prefix_(std::move(name_prefix)),
      file_bytes_(file_bytes / io::kBlock * io::kBlock) {}

bool Journal::takes(uint64_t size) {
  if (state_ == State::kNone) {
    state_ = file_bytes_ == 0 ? State::kUnusable : State::kPreparing;
    if (state_ == State::kPreparing) io::spawn(executor_, prepare(this));
  }
  return state_ == State::kReady && size <= std::min(kMostOfALog, file_bytes_ / kPart);
}

io::Task<void> Journal::prepare(Journal* self) {
  auto done = std::make_shared<Result<void>>();
  auto made = std::make_shared<std::array<std::shared_ptr<io::File>, 2>>();
  std::function<void()> work = [self, done, made] {
    for (size_t i = 0; i < made->size() && done->has_value(); ++i) {
      const std::string name =
          self->name_prefix_ + std::to_string(i) + std::string(names::kJournal);
      auto file =
          self->files_.make_block_file(names::join(self->directory_, name), self->file_bytes_);
      if (file.has_error()) {
        *done = file.error();
      } else {
        (*made)[i] = std::move(*file);
      }
    }
    if (done->has_value()) *done = self->files_.sync_directory_now(self->directory_);
  };
  auto working = self->files_.blocking(std::move(work));
  co_await std::move(working);
  if (done->has_error()) {
    base::log_warn("no journal: every log syncs its own file why=\"{}\"", done->error().message);
    self->state_ = State::kUnusable;
    co_return;
  }
  for (size_t i = 0; i < made->size(); ++i) self->spaces_[i].file = std::move((*made)[i]);
  self->spaces_[self->current_].generation = ++self->last_generation_;
  self->state_ = State::kReady;
}

io::Task<Result<void>> Journal::write(Entry entry) { return enqueue(this, std::move(entry)); }

io::Task<Result<void>> Journal::enqueue(Journal* self, Entry entry) {
  self->queue_.push_back(std::move(entry));
  const int64_t ticket = ++self->taken_;
  if (!self->running_) {
    self->running_ = true;
    io::spawn(self->executor_, run(self));
  }
  auto reaching = self->written_.reached(ticket);
  auto reached = co_await std::move(reaching);
  co_return reached;
}

// What comes while a round is on its way to the disk waits for the next one, and shares it.
io::Task<void> Journal::run(Journal* self) {
  while (!self->queue_.empty() && !self->written_.failure()) {
    std::vector<Entry> entries = self->take_round();
    const auto count = static_cast<int64_t>(entries.size());
    auto writing = write_round(self, std::move(entries));
    auto written = co_await std::move(writing);
    if (written.has_error()) {
      self->written_.fail(written.error());
    } else {
      self->written_.advance(self->written_.position() + count);
    }
  }
  self->running_ = false;
}

std::vector<Journal::Entry> Journal::take_round() {
  std::vector<Entry> entries;
  uint64_t size = 0;
  const uint64_t most = std::min(kMostOfARound, file_bytes_);
  while (!queue_.empty()) {
    size += queue_.front().size + kJournalEntryHeader;
    if (!entries.empty() && size + kRoundHeader > most) break;
    entries.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return entries;
}

bool Journal::make_room(uint64_t size) {
  if (spaces_[current_].position + size <= file_bytes_) return true;
  const size_t other = 1 - current_;
  if (spaces_[other].needed || size > file_bytes_) return false;
  spaces_[current_].needed = true;
  io::spawn(executor_, reclaim(this, current_));
  current_ = other;
  spaces_[current_].position = 0;
  spaces_[current_].rounds = 0;
  spaces_[current_].generation = ++last_generation_;
  return true;
}

io::Task<void> Journal::reclaim(Journal* self, size_t index) {
  // A log that has entries in the other file too is synced for both.
  const auto logs = std::exchange(self->spaces_[index].logs, {});
  bool synced = true;
  for (const auto& [name, log] : logs) {
    auto syncing = log->sync_files();
    const bool done = co_await std::move(syncing);
    synced = synced && done;
  }
  if (synced) self->spaces_[index].needed = false;
}

io::Task<Result<void>> Journal::write_round(Journal* self, std::vector<Entry> entries) {
  self->builder_.clear();
  for (const Entry& entry : entries) {
    const auto room = self->builder_.add(entry.topic_id, entry.partition, entry.size);
    auto got = entry.file->pread(room, entry.position);
    if (got.has_error()) co_return got.error();
    if (*got != room.size()) {
      co_return error(ErrorCode::KAFKA_STORAGE_ERROR,
                      entry.file->path() + " is shorter than what was written to it");
    }
  }
  if (!self->make_room(self->builder_.padded_size())) {
    auto syncing = sync_each(std::move(entries));
    auto synced = co_await std::move(syncing);
    co_return synced;
  }
  Space& space = self->spaces_[self->current_];
  for (const Entry& entry : entries) {
    space.logs.insert_or_assign({entry.topic_id, entry.partition}, entry.log);
  }
  const auto bytes = self->builder_.finish(space.generation, space.rounds++);
  const uint64_t position = std::exchange(space.position, space.position + bytes.size());
  auto writing = space.file->write_durably(bytes, position);
  auto written = co_await std::move(writing);
  co_return written;
}

// The logs that have filled both files are still being synced: these do not wait for them.
io::Task<Result<void>> Journal::sync_each(std::vector<Entry> entries) {
  for (const Entry& entry : entries) {
    auto syncing = entry.file->datasync();
    auto synced = co_await std::move(syncing);
    if (synced.has_error()) co_return synced;
  }
  co_return Result<void>();
}

}  // namespace ackord::log
