#include "tools/conform/kit/kit.h"

#include <atomic>
#include <random>

#include "protocol/generated/messages.h"

namespace ackord::conform {
namespace {

constexpr Millis kCleanUpLimit{10000};

// Tells the names of one run from those of another on the same broker.
const std::string& run_name() {
  static const std::string name = [] {
    std::random_device device;
    return fmt::format("{:06x}", device() & 0xffffff);
  }();
  return name;
}

}  // namespace

int64_t now_ms() {
  return std::chrono::duration_cast<Millis>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Kit::Kit(const Broker& broker, int16_t version, client::Deadline end)
    : broker_(broker), version_(version), end_(end) {}

Kit::~Kit() {
  if (topics_.empty()) return;
  try {
    Exchange unused;
    Connection connection(broker_, client::Deadline::in(kCleanUpLimit), unused);
    json::array names;
    for (const std::string& topic : topics_) names.emplace_back(topic);
    connection.ask("DeleteTopics", 5, {{"topicNames", names}, {"timeoutMs", 5000}});
  } catch (const std::exception&) {
    // Only tidiness: the topics have names of their own.
  }
}

int16_t Kit::newest(std::string_view api) const {
  const auto versions = broker_.versions(api);
  const auto ours = protocol::find_message(std::string(api) + "Request");
  if (!versions || ours == nullptr)
    throw Failure(fmt::format("the broker does not advertise {}", api));
  return std::min(versions->max, ours->max_version);
}

void Kit::needs(std::string_view api, int16_t version) const {
  const auto versions = broker_.versions(api);
  if (!versions || !versions->has(version))
    throw Skip(fmt::format("the broker does not advertise {} v{}", api, version));
}

Connection& Kit::first() {
  if (first_ == nullptr) first_ = &connect();
  return *first_;
}

Connection& Kit::connect() { return connections_.emplace_back(broker_, end_, exchange_); }

std::string Kit::name(std::string_view what) {
  static std::atomic<int> counter{0};
  return fmt::format("conform-{}-{}-{}", run_name(), what, counter++);
}

}  // namespace ackord::conform
