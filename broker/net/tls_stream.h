// TlsStream: Stream on a TCP socket that is encrypted (TlsContext).
//
// Its first read shakes hands, so nothing is to be written before it has brought something. Answers
// from files are copied: OpenSSL encrypts them in this process.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <optional>
#include <string>

#include "broker/net/openssl_ptr.h"
#include "broker/net/stream.h"

namespace ackord::net {

class TlsStream final : public Stream {
 public:
  struct Events {
    // Hands were shaken; with the subject of the peer's certificate, if it showed one. False: the
    // peer is not taken.
    std::function<bool(const std::optional<std::string>& subject)> secured;
    // They were not, and the stream ends.
    std::function<void(const std::string& why)> failed;
  };

  // Takes over `descriptor`, a connected socket that does not block.
  TlsStream(boost::asio::io_context& context, int descriptor, bool ipv6, SslPtr session,
            Events events);

  void start_read(std::span<std::byte> out, size_t* got, std::coroutine_handle<> caller) override;
  void stop_reading() override;
  ssize_t write_some(std::span<const iovec> pieces, bool more) override;
  ssize_t send_file(int file, uint64_t position, size_t size) override;
  bool sends_files() const override { return false; }
  void start_wait_writable(std::coroutine_handle<> caller) override;
  void close() override;

 private:
  struct Read {
    std::span<std::byte> out;
    size_t* got = nullptr;
    std::coroutine_handle<> caller;
  };

  void go_on();
  bool shake_hands();
  void wait_for(int ssl_error);
  void finish_read(size_t bytes);

  boost::asio::ip::tcp::socket socket_;
  SslPtr session_;
  Events events_;
  Read read_;
  bool secured_ = false;
  bool stopped_ = false;
  bool closed_ = false;
};

}  // namespace ackord::net
