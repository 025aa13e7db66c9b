#include "broker/log/offset_checkpoint.h"

#include <algorithm>
#include <memory>

#include "broker/log/log_names.h"

namespace ackord::log {
namespace {

// A value taken before another one may arrive after it. False when nothing changes.
bool raise(OffsetCheckpoint& offsets, const TopicPartition& partition, Offset offset) {
  const auto [known, added] = offsets.try_emplace(partition, offset);
  if (added) return true;
  if (known->second >= offset) return false;
  known->second = offset;
  return true;
}

}  // namespace

Result<void> OffsetCheckpointFile::load() {
  const std::string path = names::join(directory_, name_);
  auto text = read_text_file(files_, path);
  if (text.has_error()) return text.error();
  if (!*text) return {};
  auto parsed = parse_offsets(**text, path);
  if (parsed.has_error()) return parsed.error();
  offsets_ = std::move(*parsed);
  return {};
}

Result<void> OffsetCheckpointFile::replace(OffsetCheckpoint offsets) {
  offsets_ = std::move(offsets);
  return replace_file(files_, directory_, name_, format_offsets(offsets_));
}

io::Task<Result<void>> OffsetCheckpointFile::set(TopicPartition partition, Offset offset) {
  Edit edit = [partition, offset](OffsetCheckpoint& offsets) {
    return raise(offsets, partition, offset);
  };
  return io::on(home_, change(this, std::move(edit)));
}

io::Task<Result<void>> OffsetCheckpointFile::merge(OffsetCheckpoint more) {
  Edit edit = [more = std::move(more)](OffsetCheckpoint& offsets) {
    bool changed = false;
    for (const auto& [partition, offset] : more) changed |= raise(offsets, partition, offset);
    return changed;
  };
  return io::on(home_, change(this, std::move(edit)));
}

io::Task<Result<void>> OffsetCheckpointFile::erase(TopicPartition partition) {
  Edit edit = [partition](OffsetCheckpoint& offsets) { return offsets.erase(partition) != 0; };
  return io::on(home_, change(this, std::move(edit)));
}

io::Task<Result<void>> OffsetCheckpointFile::change(OffsetCheckpointFile* self, Edit edit) {
  // Without a change the answer still waits for those before it: they may be what it repeats.
  if (edit(self->offsets_)) ++self->changes_;
  const int64_t mine = self->changes_;
  if (!self->writing_ && self->written_.position() < mine) {
    self->writing_ = true;
    io::spawn(self->home_, write_loop(self));
  }
  auto reached = self->written_.reached(mine);
  auto result = co_await std::move(reached);
  co_return result;
}

io::Task<void> OffsetCheckpointFile::write_loop(OffsetCheckpointFile* self) {
  while (self->written_.position() < self->changes_ && !self->written_.failure()) {
    const int64_t covered = self->changes_;
    auto done = std::make_shared<Result<void>>();
    auto text = std::make_shared<std::string>(format_offsets(self->offsets_));
    std::function<void()> work = [self, done, text] {
      *done = replace_file(self->files_, self->directory_, self->name_, *text);
    };
    auto writing = self->files_.blocking(std::move(work));
    co_await std::move(writing);
    if (done->has_error()) {
      self->written_.fail(done->error());
    } else {
      self->written_.advance(covered);
    }
  }
  self->writing_ = false;
}

}  // namespace ackord::log
