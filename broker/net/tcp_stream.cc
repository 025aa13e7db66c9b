#include "broker/net/tcp_stream.h"

#include <sys/sendfile.h>
#include <sys/socket.h>

#include <boost/asio/buffer.hpp>
#include <cerrno>

namespace ackord::net {
namespace {

ssize_t outcome_of_write(ssize_t wrote) {
  if (wrote > 0) return wrote;
  if (wrote < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return 0;
  return -1;
}

}  // namespace

TcpStream::TcpStream(boost::asio::io_context& context, int descriptor, bool ipv6)
    : socket_(context) {
  boost::system::error_code failure;
  const auto protocol = ipv6 ? boost::asio::ip::tcp::v6() : boost::asio::ip::tcp::v4();
  socket_.assign(protocol, descriptor, failure);
  socket_.native_non_blocking(true, failure);
  // Answers are gathered before they are written, so waiting for more of them only delays.
  socket_.set_option(boost::asio::ip::tcp::no_delay(true), failure);
}

void TcpStream::start_read(std::span<std::byte> out, size_t* got, std::coroutine_handle<> caller) {
  socket_.async_read_some(boost::asio::buffer(out.data(), out.size()),
                          [got, caller](const boost::system::error_code& failure, size_t bytes) {
                            *got = failure ? 0 : bytes;
                            caller.resume();
                          });
}

void TcpStream::stop_reading() {
  boost::system::error_code failure;
  socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_receive, failure);
}

ssize_t TcpStream::write_some(std::span<const iovec> pieces, bool more) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (more ? MSG_MORE : 0);
  return outcome_of_write(::sendmsg(socket_.native_handle(), &message, flags));
}

ssize_t TcpStream::send_file(int file, uint64_t position, size_t size) {
  off_t offset = static_cast<off_t>(position);
  return outcome_of_write(::sendfile(socket_.native_handle(), file, &offset, size));
}

void TcpStream::start_wait_writable(std::coroutine_handle<> caller) {
  socket_.async_wait(boost::asio::ip::tcp::socket::wait_write,
                     [caller](const boost::system::error_code&) { caller.resume(); });
}

void TcpStream::close() {
  boost::system::error_code failure;
  socket_.close(failure);
}

}  // namespace ackord::net
