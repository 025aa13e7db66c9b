#include "broker/net/tls_stream.h"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "broker/base/assert.h"
#include "broker/net/tls_names.h"

namespace ackord::net {
namespace {

constexpr size_t kRecord = 16384;             // the most that TLS encrypts at once
constexpr size_t kReadAtOnce = 16 * kRecord;  // then it is others' turn

// The bytes of the next record: the first piece itself where it is long, else what the pieces hold
// together. After a write that did not fit OpenSSL wants the same bytes again, and gets them: they
// depend on nothing but the pieces.
std::span<const std::byte> next_record(std::span<const iovec> pieces) {
  const iovec& first = pieces.front();
  if (pieces.size() == 1 || first.iov_len >= kRecord)
    return {static_cast<const std::byte*>(first.iov_base), std::min(first.iov_len, kRecord)};
  thread_local std::array<std::byte, kRecord> gathered;
  size_t size = 0;
  for (const iovec& piece : pieces) {
    const size_t count = std::min(piece.iov_len, kRecord - size);
    std::memcpy(gathered.data() + size, piece.iov_base, count);
    size += count;
    if (size == kRecord) break;
  }
  return {gathered.data(), size};
}

std::string why_failed(int ssl_error, int system_error) {
  if (ssl_error == SSL_ERROR_SSL) return take_openssl_error();
  ERR_clear_error();
  if (ssl_error == SSL_ERROR_SYSCALL && system_error != 0)
    return std::generic_category().message(system_error);
  return "the peer went";
}

}  // namespace

TlsStream::TlsStream(boost::asio::io_context& context, int descriptor, bool ipv6, SslPtr session,
                     Events events)
    : socket_(context), session_(std::move(session)), events_(std::move(events)) {
  ACKORD_ASSERT(session_ != nullptr, "out of memory");
  boost::system::error_code failure;
  const auto protocol = ipv6 ? boost::asio::ip::tcp::v6() : boost::asio::ip::tcp::v4();
  socket_.assign(protocol, descriptor, failure);
  socket_.native_non_blocking(true, failure);
  socket_.set_option(boost::asio::ip::tcp::no_delay(true), failure);
  SSL_set_fd(session_.get(), descriptor);
  SSL_set_accept_state(session_.get());
}

void TlsStream::start_read(std::span<std::byte> out, size_t* got, std::coroutine_handle<> caller) {
  read_ = {out, got, caller};
  if (closed_ || stopped_ || SSL_has_pending(session_.get()) == 1) {
    boost::asio::post(socket_.get_executor(), [this] { go_on(); });
    return;
  }
  wait_for(SSL_ERROR_WANT_READ);
}

// The reader that waits keeps the stream alive.
void TlsStream::wait_for(int ssl_error) {
  const auto what = ssl_error == SSL_ERROR_WANT_WRITE ? boost::asio::ip::tcp::socket::wait_write
                                                      : boost::asio::ip::tcp::socket::wait_read;
  socket_.async_wait(what, [this](const boost::system::error_code&) { go_on(); });
}

void TlsStream::go_on() {
  if (closed_ || stopped_) return finish_read(0);
  if (!secured_ && !shake_hands()) return;
  const size_t most = std::min(read_.out.size(), kReadAtOnce);
  size_t total = 0;
  int result = 1;
  ERR_clear_error();
  while (total < most) {
    size_t got = 0;
    result = SSL_read_ex(session_.get(), read_.out.data() + total, most - total, &got);
    if (result != 1) break;
    total += got;
  }
  if (total > 0) return finish_read(total);
  const int reason = SSL_get_error(session_.get(), result);
  if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) return wait_for(reason);
  ERR_clear_error();
  finish_read(0);
}

// False when it is not over, or has failed.
bool TlsStream::shake_hands() {
  ERR_clear_error();
  errno = 0;
  const int result = SSL_do_handshake(session_.get());
  const int system_error = errno;
  if (result != 1) {
    const int reason = SSL_get_error(session_.get(), result);
    if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE) {
      wait_for(reason);
      return false;
    }
    events_.failed(why_failed(reason, system_error));
    finish_read(0);
    return false;
  }
  secured_ = true;
  std::optional<std::string> subject;
  if (const X509* peer = SSL_get0_peer_certificate(session_.get()))
    subject = distinguished_name(peer);
  if (events_.secured(subject)) return true;
  finish_read(0);
  return false;
}

void TlsStream::finish_read(size_t bytes) {
  const Read read = std::exchange(read_, {});
  *read.got = bytes;
  read.caller.resume();
}

// The socket goes on: an end of it within TLS is an attack, after which OpenSSL writes nothing.
void TlsStream::stop_reading() {
  stopped_ = true;
  boost::system::error_code failure;
  socket_.cancel(failure);
}

ssize_t TlsStream::write_some(std::span<const iovec> pieces, bool /*more*/) {
  if (closed_ || !secured_) return -1;
  const auto record = next_record(pieces);
  size_t wrote = 0;
  ERR_clear_error();
  const int result = SSL_write_ex(session_.get(), record.data(), record.size(), &wrote);
  if (result == 1) return static_cast<ssize_t>(wrote);
  const int reason = SSL_get_error(session_.get(), result);
  ERR_clear_error();
  return reason == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

ssize_t TlsStream::send_file(int /*file*/, uint64_t /*position*/, size_t /*size*/) { return -1; }

void TlsStream::start_wait_writable(std::coroutine_handle<> caller) {
  socket_.async_wait(boost::asio::ip::tcp::socket::wait_write,
                     [caller](const boost::system::error_code&) { caller.resume(); });
}

void TlsStream::close() {
  if (std::exchange(closed_, true)) return;
  // Tells the peer that nothing was cut off; whether that still fits does not matter.
  if (secured_) SSL_shutdown(session_.get());
  ERR_clear_error();
  boost::system::error_code failure;
  socket_.close(failure);
}

}  // namespace ackord::net
