// Stream: the bytes of one connection. Plain TCP is in tcp_stream.h, TLS in tls_stream.h. One
// reader and one writer at a time, both on the stream's core.
#pragma once

#include <sys/uio.h>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ackord::net {

class Stream {
 public:
  virtual ~Stream() = default;

  // Resumes `caller` once `*got` bytes are in `out`; 0 is the end of the stream, an error, close()
  // or stop_reading(). `out` and `got` must live until then.
  virtual void start_read(std::span<std::byte> out, size_t* got,
                          std::coroutine_handle<> caller) = 0;
  // Ends a read that is in progress.
  virtual void stop_reading() = 0;

  // These write what fits: bytes written, 0 when nothing fits now, -1 when the stream is broken.
  // `more` says that the next write follows at once.
  virtual ssize_t write_some(std::span<const iovec> pieces, bool more) = 0;
  // -1 too when the file ends before `size`.
  virtual ssize_t send_file(int file, uint64_t position, size_t size) = 0;
  // Whether send_file() can be used at all.
  virtual bool sends_files() const = 0;
  // Resumes `caller` once something fits, or the stream is broken or closed.
  virtual void start_wait_writable(std::coroutine_handle<> caller) = 0;

  virtual void close() = 0;
};

// const size_t got = co_await read;  with  ReadSome read{stream, out};
struct ReadSome {
  Stream& stream;
  std::span<std::byte> out;
  size_t got = 0;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) { stream.start_read(out, &got, caller); }
  size_t await_resume() const noexcept { return got; }
};

struct WaitWritable {
  Stream& stream;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) { stream.start_wait_writable(caller); }
  void await_resume() const noexcept {}
};

}  // namespace ackord::net
