#include "broker/net/answer_writer.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <utility>

namespace ackord::net {
namespace {

constexpr size_t kPiecesAtOnce = 256;      // the system's limit for one sendmsg is 1024
constexpr size_t kChunk = 512 * 1024;      // of a file, looked at and sent at a time
constexpr size_t kCopy = 64 * 1024;        // of a file, in memory while a peer takes it
constexpr size_t kProbeStep = 128 * 1024;  // the kernel's usual read-ahead window

bool is_cached(int file, uint64_t position) {
  std::byte probe;
  iovec one{&probe, 1};
  // A file system that does not know the flag keeps its files in memory, or cannot be helped.
  return ::preadv2(file, &one, 1, static_cast<off_t>(position), RWF_NOWAIT) >= 0 || errno != EAGAIN;
}

bool is_chunk_cached(int file, uint64_t position, size_t size) {
  for (size_t at = 0; at < size; at += kProbeStep) {
    if (!is_cached(file, position + at)) return false;
  }
  return is_cached(file, position + size - 1);
}

void read_into_cache(int file, uint64_t position, size_t size) {
  const auto scratch = std::make_unique_for_overwrite<std::byte[]>(kProbeStep);
  for (size_t at = 0; at < size; at += kProbeStep) {
    // An error shows up again when the chunk is sent.
    const auto got = ::pread(file, scratch.get(), std::min(kProbeStep, size - at),
                             static_cast<off_t>(position + at));
    if (got <= 0) return;
  }
}

// False when some of it would have to come from the disk.
bool read_cached(const FileRange& range, uint64_t from, std::span<std::byte> out) {
  const int file = range.source->native_handle();
  if (file < 0) return false;
  iovec all{out.data(), out.size()};
  const ssize_t got =
      ::preadv2(file, &all, 1, static_cast<off_t>(range.position + from), RWF_NOWAIT);
  return got == static_cast<ssize_t>(out.size());
}

}  // namespace

SizePrefix size_prefix(uint64_t size) {
  return SizePrefix{std::byte(size >> 24), std::byte(size >> 16), std::byte(size >> 8),
                    std::byte(size)};
}

void AnswerWriter::add(const SizePrefix& prefix, const protocol::OutputChain& answer) {
  parts_.push_back(Part{{const_cast<std::byte*>(prefix.data()), prefix.size()}, nullptr});
  for (const auto& piece : answer.pieces) {
    if (const auto* range = std::get_if<FileRange>(&piece)) {
      if (range->size > 0) parts_.push_back(Part{{}, range});
      continue;
    }
    const auto bytes = protocol::piece_bytes(piece);
    if (!bytes.empty()) {
      parts_.push_back(Part{{const_cast<std::byte*>(bytes.data()), bytes.size()}, nullptr});
    }
  }
}

io::Task<bool> AnswerWriter::send() {
  bool good = true;
  for (size_t at = 0; good && at < parts_.size();) {
    if (parts_[at].range != nullptr) {
      good = co_await send_range(parts_[at].range);
      ++at;
      continue;
    }
    size_t end = at;
    while (end < parts_.size() && parts_[end].range == nullptr && end - at < kPiecesAtOnce) ++end;
    good = co_await send_memory(at, end, end < parts_.size());
    at = end;
  }
  parts_.clear();
  co_return good;
}

io::Task<bool> AnswerWriter::send_memory(size_t first, size_t last, bool more) {
  gathered_.clear();
  for (size_t i = first; i < last; ++i) gathered_.push_back(parts_[i].memory);
  std::span<iovec> rest(gathered_);
  while (!rest.empty()) {
    const ssize_t wrote = stream_.write_some(rest, more);
    if (wrote < 0) co_return false;
    if (wrote == 0) {
      co_await wait_writable();
      continue;
    }
    size_t left = static_cast<size_t>(wrote);
    while (!rest.empty() && left >= rest.front().iov_len) {
      left -= rest.front().iov_len;
      rest = rest.subspan(1);
    }
    if (left > 0) {
      rest.front().iov_base = static_cast<std::byte*>(rest.front().iov_base) + left;
      rest.front().iov_len -= left;
    }
  }
  co_return true;
}

io::Task<void> AnswerWriter::wait_writable() {
  WaitWritable writable{stream_};
  co_await writable;
  on_progress_();
}

io::Task<bool> AnswerWriter::send_range(const FileRange* range) {
  const int file = range->source->native_handle();
  if (file < 0 || !stream_.sends_files()) {
    const bool copied = co_await send_copied(range);
    co_return copied;
  }
  for (uint64_t sent = 0; sent < range->size;) {
    const size_t chunk = static_cast<size_t>(std::min<uint64_t>(kChunk, range->size - sent));
    const uint64_t position = range->position + sent;
    if (!is_chunk_cached(file, position, chunk)) {
      std::function<void()> work = [file, position, chunk] {
        read_into_cache(file, position, chunk);
      };
      co_await files_.blocking(std::move(work));
    }
    for (size_t done = 0; done < chunk;) {
      const ssize_t wrote = stream_.send_file(file, position + done, chunk - done);
      if (wrote < 0) co_return false;
      if (wrote == 0) {
        co_await wait_writable();
        continue;
      }
      done += static_cast<size_t>(wrote);
    }
    sent += chunk;
  }
  co_return true;
}

io::Task<bool> AnswerWriter::send_copied(const FileRange* range) {
  std::vector<std::byte> copy;
  for (uint64_t sent = 0; sent < range->size;) {
    copy.resize(static_cast<size_t>(std::min<uint64_t>(kCopy, range->size - sent)));
    bool read = read_cached(*range, sent, copy);
    if (!read) {
      std::function<void()> work = [range, sent, &copy, &read] {
        read = range->source->read_at(range->position + sent, copy);
      };
      co_await files_.blocking(std::move(work));
    }
    if (!read) co_return false;
    iovec rest{copy.data(), copy.size()};
    while (rest.iov_len > 0) {
      const ssize_t wrote = stream_.write_some(std::span(&rest, 1), false);
      if (wrote < 0) co_return false;
      if (wrote == 0) {
        co_await wait_writable();
        continue;
      }
      rest.iov_base = static_cast<std::byte*>(rest.iov_base) + wrote;
      rest.iov_len -= static_cast<size_t>(wrote);
    }
    sent += copy.size();
  }
  co_return true;
}

}  // namespace ackord::net
