// TcpStream: Stream on a TCP socket.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "broker/net/stream.h"

namespace ackord::net {

class TcpStream final : public Stream {
 public:
  // Takes over `descriptor`, a connected socket that does not block.
  TcpStream(boost::asio::io_context& context, int descriptor, bool ipv6);

  void start_read(std::span<std::byte> out, size_t* got, std::coroutine_handle<> caller) override;
  void stop_reading() override;
  ssize_t write_some(std::span<const iovec> pieces, bool more) override;
  ssize_t send_file(int file, uint64_t position, size_t size) override;
  bool sends_files() const override { return true; }
  void start_wait_writable(std::coroutine_handle<> caller) override;
  void close() override;

 private:
  boost::asio::ip::tcp::socket socket_;
};

}  // namespace ackord::net
