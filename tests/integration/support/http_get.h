// One request to a broker's HTTP listener.
#pragma once

#include <boost/asio.hpp>
#include <string>

namespace ackord::integration {

// The whole answer; empty when there is none.
inline std::string http_get(uint16_t port, const std::string& target) {
  using boost::asio::ip::tcp;
  boost::asio::io_context context;
  tcp::socket socket(context);
  boost::system::error_code failure;
  std::string answer;
  socket.connect({boost::asio::ip::make_address("127.0.0.1"), port}, failure);
  if (failure) return answer;
  const std::string request = "GET " + target + " HTTP/1.0\r\n\r\n";
  boost::asio::write(socket, boost::asio::buffer(request), failure);
  boost::asio::read(socket, boost::asio::dynamic_buffer(answer), failure);
  return answer;
}

}  // namespace ackord::integration
