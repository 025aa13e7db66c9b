// Wire: one connection to the broker under test that keeps many requests on the way. Calls of
// several coroutines may overlap; requests go out in the order of the calls, and answers come in
// it. Record data is sent from where it lies.
//
// Errors: BenchError, from each call once the connection has failed. One thread, its io_context's.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "client/connection.h"
#include "protocol/wire/header.h"
#include "protocol/wire/output_chain.h"
#include "protocol/wire/writer.h"

namespace ackord::bench {

namespace asio = boost::asio;
template <class T = void>
using Task = asio::awaitable<T>;
using Clock = std::chrono::steady_clock;

class BenchError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline int64_t since_ns(Clock::time_point start) {
  return std::chrono::nanoseconds(Clock::now() - start).count();
}

// The bytes of one answer, without its length. Move-only; not zeroed before it is filled.
class Frame {
 public:
  Frame() = default;
  explicit Frame(size_t size)
      : bytes_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}
  std::span<std::byte> bytes() { return {bytes_.get(), size_}; }
  bool empty() const { return size_ == 0; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t size_ = 0;
};

// A decoded message and the bytes that its fields borrow from.
template <class Message>
struct Answer {
  Frame frame;
  Message message;
};

// The broker's address and what it said it can do: the same for all connections.
struct Target {
  asio::ip::tcp::endpoint address;
  client::BrokerAbilities abilities;

  // The highest version that both sides have. BenchError without one.
  int16_t version(int16_t api_key, int16_t min, int16_t max, const std::string& name) const;
};

class Wire : public std::enable_shared_from_this<Wire> {
 public:
  static Task<std::shared_ptr<Wire>> open(const Target& target);
  ~Wire();

  template <class Response, class Request>
  Task<Answer<Response>> call(const Request& request) {
    const int16_t version = target_.version(Request::kApiKey, Request::kMinVersion,
                                            Request::kMaxVersion, std::string(Request::kName));
    protocol::Writer out;
    begin(out, Request::kApiKey, version);
    request.encode(out, version);
    auto exchanging = exchange(out.finish());
    Frame frame = co_await std::move(exchanging);
    Answer<Response> answer;
    answer.frame = std::move(frame);
    protocol::Reader in(answer.frame.bytes());
    auto header = protocol::read_response_header(in, Response::kApiKey, version);
    if (!header) throw BenchError(header.error().message);
    auto message = Response::decode(in, version);
    if (!message) throw BenchError(message.error().message);
    answer.message = std::move(*message);
    co_return answer;
  }

  void close();

 private:
  Wire(const Target& target, asio::ip::tcp::socket socket)
      : target_(target), socket_(std::move(socket)) {}

  void begin(protocol::Writer& out, int16_t api_key, int16_t version);
  Task<Frame> exchange(protocol::OutputChain body);
  void write_more();
  static Task<void> read_answers(std::shared_ptr<Wire> self);
  Task<void> read_all();
  void fail(const std::string& reason);

  struct Outgoing {
    std::array<std::byte, 4> length;
    protocol::OutputChain body;
  };

  const Target& target_;
  asio::ip::tcp::socket socket_;
  std::deque<Outgoing> outgoing_;
  size_t written_ = 0;  // bytes of the first of them
  bool writing_ = false;
  std::deque<std::function<void(Frame)>> waiting_;
  std::string failure_;
  int32_t next_correlation_id_ = 0;
};

// Runs all tasks on one thread until each has ended. The first exception of any ends them all, and
// is thrown on.
void run(asio::io_context& context, std::vector<Task<>> tasks);

// Opens a connection, and appends it to `wires`.
Task<> open_into(const Target& target, std::vector<std::shared_ptr<Wire>>& wires);

// Asks the broker what it can do. BenchError when it cannot be reached.
Target find_target(const std::string& bootstrap);

}  // namespace ackord::bench
