#include "tools/bench/wire.h"

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/this_coro.hpp>
#include <cstring>
#include <utility>

#include "client/config.h"
#include "client/deadline.h"
#include "protocol/generated/request_header.h"
#include "protocol/record_batch/big_endian.h"

namespace ackord::bench {
namespace {

constexpr size_t kReadBuffer = 128 << 10;
constexpr size_t kMostPieces = 64;  // of one writev
constexpr uint32_t kMaxAnswer = 1u << 30;
constexpr client::Millis kOpenLimit{10000};

}  // namespace

int16_t Target::version(int16_t api_key, int16_t min, int16_t max, const std::string& name) const {
  const auto found = abilities.apis.find(api_key);
  const int16_t best =
      found == abilities.apis.end() ? int16_t{-1} : std::min(max, found->second.max);
  if (best < min || best < found->second.min)
    throw BenchError("the broker has no version in common of " + name);
  return best;
}

Task<std::shared_ptr<Wire>> Wire::open(const Target& target) {
  asio::ip::tcp::socket socket(co_await asio::this_coro::executor);
  co_await socket.async_connect(target.address, asio::use_awaitable);
  socket.set_option(asio::ip::tcp::no_delay(true));
  socket.non_blocking(true);
  std::shared_ptr<Wire> wire(new Wire(target, std::move(socket)));
  asio::co_spawn(wire->socket_.get_executor(), read_answers(wire), [](std::exception_ptr) {});
  co_return wire;
}

Wire::~Wire() = default;

void Wire::close() { fail("closed"); }

void Wire::fail(const std::string& reason) {
  if (!failure_.empty()) return;
  failure_ = reason;
  boost::system::error_code ignored;
  socket_.close(ignored);
  outgoing_.clear();
  auto waiting = std::exchange(waiting_, {});
  for (auto& resume : waiting) resume(Frame());
}

void Wire::begin(protocol::Writer& out, int16_t api_key, int16_t version) {
  protocol::RequestHeader header;
  header.request_api_key = api_key;
  header.request_api_version = version;
  header.correlation_id = next_correlation_id_++;
  header.client_id = String("ackord-bench");
  protocol::write_request_header(out, header);
}

Task<Frame> Wire::exchange(protocol::OutputChain body) {
  if (!failure_.empty()) throw BenchError(failure_);
  Outgoing out{{}, std::move(body)};
  const auto size = static_cast<uint32_t>(out.body.size());
  for (int i = 0; i < 4; ++i) out.length[i] = static_cast<std::byte>(size >> (24 - 8 * i));
  outgoing_.push_back(std::move(out));
  auto self = shared_from_this();
  auto waiting = asio::async_initiate<const asio::use_awaitable_t<>, void(Frame)>(
      [this](auto handler) {
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        waiting_.push_back([shared](Frame answer) { (*shared)(std::move(answer)); });
        if (!writing_) write_more();
      },
      asio::use_awaitable);
  Frame frame = co_await std::move(waiting);
  if (frame.empty()) throw BenchError(failure_);
  co_return frame;
}

// Tries at once, and waits for the socket only when it is full.
void Wire::write_more() {
  while (!outgoing_.empty()) {
    std::array<asio::const_buffer, kMostPieces> buffers;
    size_t count = 0;
    size_t skip = written_;
    size_t total = 0;
    const auto add = [&](std::span<const std::byte> bytes) {
      if (skip >= bytes.size()) {
        skip -= bytes.size();
        return;
      }
      bytes = bytes.subspan(std::exchange(skip, 0));
      buffers[count++] = asio::const_buffer(bytes.data(), bytes.size());
      total += bytes.size();
    };
    for (const Outgoing& out : outgoing_) {
      if (count + out.body.pieces.size() + 1 > kMostPieces) break;
      add(out.length);
      for (const auto& piece : out.body.pieces) add(protocol::piece_bytes(piece));
    }
    boost::system::error_code problem;
    size_t sent = socket_.write_some(std::span(buffers.data(), count), problem);
    if (problem && problem != asio::error::would_block) return fail(problem.message());
    const bool full = sent < total;
    sent += written_;
    while (!outgoing_.empty() && sent >= 4 + outgoing_.front().body.size()) {
      sent -= 4 + outgoing_.front().body.size();
      outgoing_.pop_front();
    }
    written_ = sent;
    if (!full) continue;
    writing_ = true;
    socket_.async_wait(asio::ip::tcp::socket::wait_write,
                       [self = shared_from_this()](boost::system::error_code failed) {
                         self->writing_ = false;
                         if (failed) return self->fail(failed.message());
                         self->write_more();
                       });
    return;
  }
}

Task<void> Wire::read_answers(std::shared_ptr<Wire> self) {
  try {
    auto reading = self->read_all();
    co_await std::move(reading);
  } catch (const boost::system::system_error& problem) {
    self->fail("the connection ended: " + problem.code().message());
  } catch (const std::exception& problem) {
    self->fail(problem.what());
  }
}

Task<void> Wire::read_all() {
  std::vector<std::byte> buffer(kReadBuffer);
  size_t from = 0;
  size_t to = 0;
  while (true) {
    while (to - from >= 4) {
      const auto size = protocol::load_big<uint32_t>(buffer.data() + from);
      if (size < 4 || size > kMaxAnswer || waiting_.empty())
        throw BenchError("an answer that none has asked for");
      const size_t present = std::min<size_t>(size, to - from - 4);
      if (present < size && size + 4 <= buffer.size()) break;
      Frame frame(size);
      std::memcpy(frame.bytes().data(), buffer.data() + from + 4, present);
      from += 4 + present;
      if (present < size) {
        const auto rest = frame.bytes().subspan(present);
        co_await asio::async_read(socket_, asio::buffer(rest.data(), rest.size()),
                                  asio::use_awaitable);
      }
      auto resume = std::move(waiting_.front());
      waiting_.pop_front();
      resume(std::move(frame));
    }
    std::memmove(buffer.data(), buffer.data() + from, to - from);
    to -= std::exchange(from, 0);
    to += co_await socket_.async_read_some(asio::buffer(buffer.data() + to, buffer.size() - to),
                                           asio::use_awaitable);
  }
}

void run(asio::io_context& context, std::vector<Task<>> tasks) {
  std::exception_ptr failure;
  size_t running = tasks.size();
  for (Task<>& task : tasks) {
    asio::co_spawn(context, std::move(task), [&](std::exception_ptr problem) {
      if (problem && !failure) failure = problem;
      if (--running == 0 || failure) context.stop();
    });
  }
  context.restart();
  context.run();
  if (failure) std::rethrow_exception(failure);
}

Task<> open_into(const Target& target, std::vector<std::shared_ptr<Wire>>& wires) {
  auto opening = Wire::open(target);
  auto wire = co_await std::move(opening);
  wires.push_back(std::move(wire));
}

Target find_target(const std::string& bootstrap) {
  const auto endpoints = client::parse_endpoints(bootstrap);
  if (!endpoints) throw BenchError(endpoints.error().message);
  client::ClientConfig config;
  const auto connection =
      client::Connection::open(endpoints->front(), config, client::Deadline::in(kOpenLimit));
  if (!connection) throw BenchError(connection.error().message);
  Target target;
  target.abilities = (*connection)->abilities();
  asio::io_context context;
  asio::ip::tcp::resolver resolver(context);
  const auto found =
      resolver.resolve(endpoints->front().host, std::to_string(endpoints->front().port));
  for (const auto& entry : found) {
    asio::ip::tcp::socket socket(context);
    boost::system::error_code problem;
    socket.connect(entry.endpoint(), problem);
    target.address = entry.endpoint();
    if (!problem) break;
  }
  return target;
}

}  // namespace ackord::bench
