// FakeSink: answers by the first byte of a request:
//   e<text>     the request itself
//   r<ms> text  releases the order, then as w
//   w<ms> text  the request itself, after so many milliseconds
//   s<ms> text  the request itself, after keeping the core busy for so many milliseconds
//   p           releases the order, waits until the peer has gone, then the request itself
//   P           the same without releasing
//   t<ms>       the request itself, and the connection is throttled for so many milliseconds
//   n           no answer           c  closes the connection
//   b<size>     that many bytes in a shared buffer, between two owned pieces
//   f<position> <size>   so many bytes of `file`, between two owned pieces
#pragma once

#include <atomic>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "broker/io/core.h"
#include "broker/io/signal.h"
#include "broker/net/request_sink.h"

namespace ackord::net {

class FakeSink final : public RequestSink {
 public:
  explicit FakeSink(io::Environment& environment) : environment_(environment) {}

  io::Task<api::Answer> handle(api::Call call) override {
    started_.fetch_add(1);
    const std::string text(reinterpret_cast<const char*>(call.payload.data()), call.payload.size());
    {
      const std::lock_guard lock(mutex_);
      if (text.size() < 100) order_.push_back(text);
      hosts_.push_back(call.client->host);
      principals_.push_back(call.client->principal.str());
    }
    const io::Core core = environment_.here();
    const auto running = std::make_shared<Running>(running_);
    api::Answer answer = answer_to(text);
    if (text[0] == 'r' || text[0] == 'p') call.release_order();
    if (text[0] == 'r' || text[0] == 'w') {
      io::SleepUntil later(core.clock, core.clock.now().steady_ms + std::atoi(text.c_str() + 1));
      co_await later;
    }
    if (text[0] == 's') {
      const int64_t until_ms = core.clock.now().steady_ms + std::atoi(text.c_str() + 1);
      while (core.clock.now().steady_ms < until_ms) {
      }
    }
    while ((text[0] == 'p' || text[0] == 'P') && !call.client->gone) {
      const auto wakeup = io::Wakeup::make(core.executor, core.clock);
      call.client->on_gone.subscribe(wakeup);
      co_await wakeup->wait_until(core.clock.now().steady_ms + 60000);
    }
    ended_.fetch_add(1);
    co_return answer;
  }

  void connection_closed(api::Client&) override { closed_.fetch_add(1); }

  std::vector<std::string> order() {
    const std::lock_guard lock(mutex_);
    return order_;
  }
  std::vector<std::string> hosts() {
    const std::lock_guard lock(mutex_);
    return hosts_;
  }
  std::vector<std::string> principals() {
    const std::lock_guard lock(mutex_);
    return principals_;
  }
  int started() const { return started_; }
  int ended() const { return ended_; }
  int running() const { return running_; }
  int closed() const { return closed_; }

  std::shared_ptr<const ByteSource> file;

 private:
  // Counts handlers whose frames live.
  struct Running {
    std::atomic<int>& count;
    explicit Running(std::atomic<int>& c) : count(c) { ++count; }
    ~Running() { --count; }
  };

  static std::vector<std::byte> bytes_of(const std::string& text) {
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    return {data, data + text.size()};
  }

  api::Answer answer_to(const std::string& text) {
    api::Answer answer;
    answer.kind = api::Answer::Kind::kSend;
    if (text[0] == 't') answer.throttle_ms = std::atoi(text.c_str() + 1);
    if (text[0] == 'n') answer.kind = api::Answer::Kind::kNothing;
    if (text[0] == 'c') answer.kind = api::Answer::Kind::kClose;
    auto& pieces = answer.bytes.pieces;
    if (text[0] != 'b' && text[0] != 'f') {
      pieces.emplace_back(bytes_of(text));
      return answer;
    }
    std::istringstream numbers(text.substr(1));
    uint64_t position = 0;
    uint64_t size = 0;
    if (text[0] == 'f') numbers >> position;
    numbers >> size;
    pieces.emplace_back(bytes_of("<"));
    if (text[0] == 'b') {
      pieces.emplace_back(std::make_shared<const std::vector<std::byte>>(size, std::byte{'b'}));
    } else {
      pieces.emplace_back(FileRange{file, position, size});
    }
    pieces.emplace_back(bytes_of(">"));
    return answer;
  }

  io::Environment& environment_;
  std::mutex mutex_;
  std::vector<std::string> order_;
  std::vector<std::string> hosts_;
  std::vector<std::string> principals_;
  std::atomic<int> started_ = 0;
  std::atomic<int> ended_ = 0;
  std::atomic<int> running_ = 0;
  std::atomic<int> closed_ = 0;
};

}  // namespace ackord::net
