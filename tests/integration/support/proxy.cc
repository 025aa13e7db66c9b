#include "tests/integration/support/proxy.h"

#include <algorithm>
#include <array>
#include <boost/asio.hpp>
#include <future>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/record_batch/big_endian.h"
#include "tests/integration/support/broker_process.h"

namespace ackord::integration {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Failure = boost::system::error_code;
using Bytes = std::vector<std::byte>;

constexpr auto kNoThrow = asio::as_tuple(asio::use_awaitable);
constexpr size_t kLengthSize = sizeof(int32_t);
// More than any frame of a test; beyond it the stream is no stream of frames.
constexpr uint32_t kMostBytes = 256u << 20;

size_t index_of(Way way) { return static_cast<size_t>(way); }

struct Frame {
  Bytes bytes;         // with its length
  bool whole = false;  // else the sender has ended within it, or before
};

asio::awaitable<Frame> read_frame(tcp::socket& from) {
  Frame frame;
  frame.bytes.resize(kLengthSize);
  auto [no_length, got] = co_await asio::async_read(from, asio::buffer(frame.bytes), kNoThrow);
  if (no_length) {
    frame.bytes.resize(got);
    co_return frame;
  }
  const auto size = protocol::load_big<uint32_t>(frame.bytes.data());
  if (size > kMostBytes) co_return frame;
  frame.bytes.resize(kLengthSize + size);
  auto [no_body, filled] = co_await asio::async_read(
      from, asio::buffer(frame.bytes.data() + kLengthSize, size), kNoThrow);
  frame.bytes.resize(kLengthSize + filled);
  frame.whole = !no_body;
  co_return frame;
}

// One client's connection and the broker's that belongs to it. By direction: whether something
// waits and whether it is a frame (it may be the end), whether all is lost, whether the sender has
// ended.
struct Link {
  explicit Link(tcp::socket accepted)
      : client(std::move(accepted)),
        broker(client.get_executor()),
        wakeups{asio::steady_timer(client.get_executor()),
                asio::steady_timer(client.get_executor())} {}

  tcp::socket& from(Way way) { return way == Way::kRequests ? client : broker; }
  tcp::socket& to(Way way) { return way == Way::kRequests ? broker : client; }
  void cut() {
    Failure ignored;
    client.close(ignored);
    broker.close(ignored);
    for (asio::steady_timer& wakeup : wakeups) wakeup.cancel();
  }
  // The API of a frame that passes.
  int16_t api_of(Way way, const Bytes& bytes) {
    constexpr size_t kCorrelationIdAt = 2 * sizeof(int16_t);
    const std::byte* body = bytes.data() + kLengthSize;
    const size_t size = bytes.size() - kLengthSize;
    if (way == Way::kRequests) {
      if (size < kCorrelationIdAt + sizeof(int32_t)) return kAnyApi;
      const auto api_key = protocol::load_big<int16_t>(body);
      asked[protocol::load_big<int32_t>(body + kCorrelationIdAt)] = api_key;
      return api_key;
    }
    if (size < sizeof(int32_t)) return kAnyApi;
    const auto request = asked.extract(protocol::load_big<int32_t>(body));
    return request.empty() ? kAnyApi : request.mapped();
  }

  tcp::socket client;
  tcp::socket broker;
  std::array<asio::steady_timer, 2> wakeups;
  std::array<bool, 2> on_hold{};
  std::array<bool, 2> waits{};
  std::array<bool, 2> frame_waits{};
  std::array<bool, 2> lost{};
  std::array<bool, 2> ended{};
  std::map<int32_t, int16_t> asked;  // API by correlation id, unanswered
};

const char* name_of(Harm harm) {
  switch (harm) {
    case Harm::kCutBefore: return "cut before";
    case Harm::kCutInside: return "cut inside";
    case Harm::kCutAfter: return "cut after";
    case Harm::kVanish: return "vanishes";
    case Harm::kDelay: return "late";
    case Harm::kHold: return "held";
  }
  return "?";
}

}  // namespace

// All of it on the thread of the context.
class Proxy::Network {
 public:
  explicit Network(uint16_t upstream) : upstream_(upstream), placeholder_(context_) {
    port_ = free_port();
    // A socket that does not listen keeps the port while the network refuses.
    placeholder_.open(tcp::v4());
    placeholder_.set_option(tcp::socket::reuse_address(true));
    placeholder_.bind(address(port_));
    listen();
    thread_ = std::thread([this] { context_.run(); });
  }
  ~Network() {
    context_.stop();
    thread_.join();
  }

  uint16_t port() const { return port_; }

  template <class Work>
  auto run(Work work) {
    std::packaged_task<decltype(work())()> task(std::move(work));
    auto result = task.get_future();
    asio::post(context_, [&task] { task(); });
    return result.get();
  }

  void listen() {
    acceptor_.emplace(context_);
    acceptor_->open(tcp::v4());
    acceptor_->set_option(tcp::acceptor::reuse_address(true));
    acceptor_->bind(address(port_));
    acceptor_->listen();
    asio::co_spawn(context_, accept(), asio::detached);
  }
  void refuse(bool refuses) {
    if (refuses == !acceptor_.has_value()) return;
    if (refuses) {
      acceptor_.reset();
    } else {
      listen();
    }
  }
  void wake_all() {
    for_each_link([](Link& link) {
      for (asio::steady_timer& wakeup : link.wakeups) wakeup.cancel();
    });
  }
  void heal(Meanwhile meanwhile) {
    for (const Way way : {Way::kRequests, Way::kAnswers}) {
      const bool was_silent = std::exchange(silent_[index_of(way)], false);
      if (!was_silent || meanwhile == Meanwhile::kArrives) continue;
      for_each_link([way](Link& link) {
        if (link.waits[index_of(way)]) link.lost[index_of(way)] = true;
      });
    }
    wake_all();
  }
  void release() {
    for_each_link([](Link& link) { link.on_hold = {}; });
    wake_all();
  }
  void cut_all() {
    for_each_link([](Link& link) { link.cut(); });
  }
  int waiting() {
    int count = 0;
    for_each_link([&count](Link& link) {
      count += static_cast<int>(link.frame_waits[0]) + static_cast<int>(link.frame_waits[1]);
    });
    return count;
  }

  std::vector<Fault> faults;
  Weather weather;
  std::mt19937_64 random;
  std::array<std::map<int16_t, int>, 2> passed;
  std::vector<std::string> story;
  int taken = 0;
  void silence(Way way) { silent_[index_of(way)] = true; }

 private:
  using SharedLink = std::shared_ptr<Link>;

  static tcp::endpoint address(uint16_t port) { return {asio::ip::address_v4::loopback(), port}; }
  template <class Each>
  void for_each_link(Each each) {
    std::erase_if(links_, [](const std::weak_ptr<Link>& link) { return link.expired(); });
    for (const std::weak_ptr<Link>& weak : links_) {
      if (const SharedLink link = weak.lock()) each(*link);
    }
  }

  asio::awaitable<void> accept() {
    while (acceptor_) {
      auto [failure, accepted] = co_await acceptor_->async_accept(kNoThrow);
      if (failure == asio::error::operation_aborted) co_return;
      if (failure) continue;
      ++taken;
      asio::co_spawn(context_, serve(std::make_shared<Link>(std::move(accepted))), asio::detached);
    }
  }

  asio::awaitable<void> serve(SharedLink link) {
    auto [failure] = co_await link->broker.async_connect(address(upstream_), kNoThrow);
    if (failure) co_return;
    Failure ignored;
    link->client.set_option(tcp::no_delay(true), ignored);
    link->broker.set_option(tcp::no_delay(true), ignored);
    links_.push_back(link);
    asio::co_spawn(context_, pump(link, Way::kAnswers), asio::detached);
    asio::co_spawn(context_, pump(link, Way::kRequests), asio::detached);
  }

  // Until nothing keeps the frame, or the end, back any more.
  asio::awaitable<void> wait_for_leave(SharedLink link, Way way, bool frame) {
    const size_t at = index_of(way);
    while ((silent_[at] || link->on_hold[at]) && !link->lost[at] && link->to(way).is_open()) {
      link->waits[at] = true;
      link->frame_waits[at] = frame;
      link->wakeups[at].expires_at(asio::steady_timer::time_point::max());
      (void)co_await link->wakeups[at].async_wait(kNoThrow);
    }
    link->waits[at] = link->frame_waits[at] = false;
  }

  asio::awaitable<void> pump(SharedLink link, Way way) {
    const size_t at = index_of(way);
    bool whole = true;
    while (whole) {
      Frame frame = co_await read_frame(link->from(way));
      whole = frame.whole;
      // An end is a part of the stream, too: it arrives after what was sent before it.
      co_await wait_for_leave(link, way, whole);
      if (link->lost[at]) continue;
      const int16_t api_key = whole ? link->api_of(way, frame.bytes) : kAnyApi;
      const std::optional<Fault> fault = whole ? judge(way, api_key) : std::nullopt;
      if (fault && fault->harm == Harm::kHold) {
        link->on_hold[at] = true;
        co_await wait_for_leave(link, way, whole);
        if (link->lost[at]) continue;
      }
      if (fault && fault->harm == Harm::kDelay) {
        asio::steady_timer timer(context_, fault->delay);
        (void)co_await timer.async_wait(kNoThrow);
      }
      if (fault && fault->harm == Harm::kVanish) {
        link->lost[at] = true;
        continue;
      }
      if (fault && fault->harm == Harm::kCutBefore) {
        link->cut();
        break;
      }
      const bool half = fault && fault->harm == Harm::kCutInside;
      const size_t size = half ? frame.bytes.size() / 2 : frame.bytes.size();
      auto [failure, written] = co_await asio::async_write(
          link->to(way), asio::buffer(frame.bytes.data(), size), kNoThrow);
      if (half || (fault && fault->harm == Harm::kCutAfter)) {
        link->cut();
        break;
      }
      if (failure) {
        // The receiver has gone; the other direction tells the sender.
        link->lost[at] = true;
      } else if (whole) {
        ++passed[at][api_key];
      }
    }
    end(*link, way);
  }

  void end(Link& link, Way way) {
    link.ended[index_of(way)] = true;
    Failure ignored;
    if (!link.lost[index_of(way)]) link.to(way).shutdown(tcp::socket::shutdown_send, ignored);
    if (link.ended[0] && link.ended[1]) link.cut();
  }

  std::optional<Fault> judge(Way way, int16_t api_key) {
    for (auto fault = faults.begin(); fault != faults.end(); ++fault) {
      if (fault->way != way || (fault->api_key != kAnyApi && fault->api_key != api_key)) continue;
      if (fault->spared > 0) {
        --fault->spared;
        continue;
      }
      const Fault struck = *fault;
      if (--fault->times == 0) faults.erase(fault);
      note(way, api_key, struck.harm);
      return struck;
    }
    return cast_dice(way, api_key);
  }

  std::optional<Fault> cast_dice(Way way, int16_t api_key) {
    const std::array<std::pair<Harm, double>, 5> chances{{{Harm::kCutBefore, weather.cut_before},
                                                          {Harm::kCutInside, weather.cut_inside},
                                                          {Harm::kCutAfter, weather.cut_after},
                                                          {Harm::kVanish, weather.vanish},
                                                          {Harm::kDelay, weather.delay}}};
    double drawn = std::uniform_real_distribution<double>()(random);
    for (const auto& [harm, chance] : chances) {
      drawn -= chance;
      if (drawn >= 0) continue;
      Fault fault{way, harm, api_key};
      std::uniform_int_distribution<int64_t> time(
          1, std::max<int64_t>(1, weather.longest_delay.count()));
      if (harm == Harm::kDelay) fault.delay = Millis(time(random));
      note(way, api_key, harm);
      return fault;
    }
    return std::nullopt;
  }

  void note(Way way, int16_t api_key, Harm harm) {
    story.push_back((way == Way::kRequests ? "request " : "answer ") + std::to_string(api_key) +
                    ": " + name_of(harm));
  }

  const uint16_t upstream_;
  uint16_t port_ = 0;
  std::array<bool, 2> silent_{};
  std::vector<std::weak_ptr<Link>> links_;
  asio::io_context context_{1};
  // There are times with neither a listener nor a connection.
  asio::executor_work_guard<asio::io_context::executor_type> stays_{context_.get_executor()};
  tcp::socket placeholder_;
  std::optional<tcp::acceptor> acceptor_;
  std::thread thread_;
};

Proxy::Proxy(uint16_t upstream) : network_(std::make_unique<Network>(upstream)) {}
Proxy::~Proxy() = default;

uint16_t Proxy::port() const { return network_->port(); }

void Proxy::inject(const Fault& fault) {
  network_->run([&] { network_->faults.push_back(fault); });
}

void Proxy::set_weather(uint64_t seed, const Weather& weather) {
  network_->run([&] {
    network_->random.seed(seed);
    network_->weather = weather;
  });
}

void Proxy::clear() {
  network_->run([&] {
    network_->faults.clear();
    network_->weather = {};
  });
}

void Proxy::release() {
  network_->run([&] { network_->release(); });
}

void Proxy::partition(std::initializer_list<Way> ways) {
  network_->run([&] {
    for (const Way way : ways) network_->silence(way);
  });
}

void Proxy::heal(Meanwhile meanwhile) {
  network_->run([&] { network_->heal(meanwhile); });
}

void Proxy::cut_all() {
  network_->run([&] { network_->cut_all(); });
}

void Proxy::refuse(bool refuses) {
  network_->run([&] { network_->refuse(refuses); });
}

int Proxy::passed(Way way, int16_t api_key) const {
  return network_->run([&] {
    const auto& counts = network_->passed[index_of(way)];
    const auto found = counts.find(api_key);
    return found == counts.end() ? 0 : found->second;
  });
}

int Proxy::struck() const {
  return network_->run([&] { return static_cast<int>(network_->story.size()); });
}

int Proxy::waiting() const {
  return network_->run([&] { return network_->waiting(); });
}

int Proxy::taken() const {
  return network_->run([&] { return network_->taken; });
}

std::string Proxy::story() const {
  return network_->run([&] {
    std::string text;
    for (const std::string& line : network_->story) text += line + "\n";
    return text;
  });
}

}  // namespace ackord::integration
