#include "tools/bench/bench.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <random>

#include "client/admin.h"
#include "protocol/generated/delete_topics_request.h"
#include "protocol/generated/delete_topics_response.h"
#include "protocol/generated/list_offsets_request.h"
#include "protocol/generated/list_offsets_response.h"
#include "protocol/record_batch/batch_builder.h"
#include "tools/bench/produce_work.h"

namespace ackord::bench {
namespace {

constexpr client::Millis kAdminLimit{60000};
constexpr int kFillBatch = 1000;
constexpr int64_t kLatest = -1;  // ListOffsets
// Just below 1 MiB, the largest batch that a topic takes by default.
constexpr int kPrefillRecord = 8000;
constexpr int kPrefillBatch = 128;

client::Deadline soon() { return client::Deadline::in(kAdminLimit); }

// Text that a codec can shrink about by half, as log lines can.
std::string make_payload(size_t size) {
  std::mt19937 random(20);
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>('a' + random() % 16);
  return text;
}

}  // namespace

void expect_none(ErrorCode code, const char* what) {
  if (code != ErrorCode::NONE)
    throw BenchError(std::string(what) + ": " + std::string(name_of(code)));
}

Bench::Bench(const Options& options)
    : options_(options),
      target_(find_target(options.bootstrap)),
      payload_(make_payload(static_cast<size_t>(options.record_size))) {
  client::ClientConfig config;
  config.bootstrap_servers = options.bootstrap;
  config.client_id = "ackord-bench";
  auto cluster = client::Cluster::create(std::move(config));
  if (!cluster) throw BenchError(cluster.error().message);
  cluster_ = std::move(*cluster);
}

Bench::~Bench() {
  if (topics_.empty()) return;
  protocol::DeleteTopicsRequest request;
  request.timeout_ms = static_cast<int32_t>(kAdminLimit.count());
  for (const TopicName& name : topics_) request.topics.emplace_back().name = name;
  if (auto broker = cluster_->any_broker(soon()))
    (void)(*broker)->call<protocol::DeleteTopicsResponse>(request, soon());
}

std::string Bench::unique(const std::string& prefix) const {
  return prefix + "-" + std::to_string(getpid()) + "-" +
         std::to_string(Clock::now().time_since_epoch().count());
}

Topic Bench::create_topic(int32_t partitions) {
  const bool own = options_.topic.empty();
  Topic topic{TopicName(own ? unique("bench") : options_.topic), {}, partitions};
  if (auto made = client::create_topic(*cluster_, topic.name, partitions, 1, soon()); !made)
    throw BenchError("the topic: " + made.error().message);
  if (own) topics_.push_back(topic.name);
  client::Backoff backoff(cluster_->config());
  const client::Deadline deadline = soon();
  while (true) {
    const auto refreshed = cluster_->refresh(std::span(&topic.name, 1), deadline);
    const client::Topic* found = refreshed ? cluster_->topic(topic.name) : nullptr;
    if (found != nullptr && found->partitions.size() == static_cast<size_t>(partitions) &&
        std::ranges::all_of(found->partitions,
                            [](const auto& one) { return one.leader.value >= 0; }) &&
        find_end(topic, deadline)) {
      topic.id = found->id;
      return topic;
    }
    if (!backoff.sleep(deadline)) throw BenchError("the topic has no leaders");
  }
}

// Metadata may name a leader before that one knows.
bool Bench::find_end(Topic& topic, const client::Deadline& deadline) {
  protocol::ListOffsetsRequest request;
  auto& part = request.topics.emplace_back();
  part.name = topic.name;
  for (int32_t i = 0; i < topic.partitions; ++i) {
    auto& asked = part.partitions.emplace_back();
    asked.partition_index = i;
    asked.timestamp = kLatest;
  }
  auto broker = cluster_->any_broker(deadline);
  if (!broker) return false;
  const auto answer = (*broker)->call<protocol::ListOffsetsResponse>(request, deadline);
  if (!answer) return false;
  const auto& found = answer->message.topics.at(0).partitions;
  topic.end = found.at(0).offset;
  return std::ranges::all_of(found,
                             [](const auto& one) { return one.error_code == ErrorCode::NONE; });
}

void Bench::configure_group(const std::string& group,
                            const std::vector<std::pair<std::string, std::string>>& configs) {
  if (auto set = client::set_group_configs(*cluster_, GroupId(group), configs, soon()); !set)
    throw BenchError("the group's configs: " + set.error().message);
}

std::vector<std::shared_ptr<Wire>> Bench::connect(int count) {
  std::vector<std::shared_ptr<Wire>> wires;
  std::vector<Task<>> opening;
  for (int i = 0; i < count; ++i) opening.push_back(open_into(target_, wires));
  run(std::move(opening));
  return wires;
}

void Bench::fill(const Topic& topic, int64_t records) {
  ProduceWork work(*this, topic,
                   std::min<int64_t>(kFillBatch, std::max<int64_t>(1, records / active(topic))),
                   records);
  work.run(1, 4, 0);
}

Offset Bench::prefill(const Topic& topic) {
  const int64_t batches = (options_.prefill_mb << 20) / (kPrefillRecord * kPrefillBatch);
  const int64_t each = (batches + active(topic) - 1) / active(topic);
  if (each == 0) return 0;
  ProduceWork work(*this, topic, batch(kPrefillBatch, make_payload(kPrefillRecord)), kPrefillBatch,
                   each * active(topic) * kPrefillBatch);
  work.run(1, 4, 0);
  return each * kPrefillBatch;
}

void Bench::stay() {
  asio::posix::stream_descriptor input(context_, STDIN_FILENO);
  std::array<char, 256> ignored{};
  std::function<void()> read = [&] {
    input.async_read_some(asio::buffer(ignored), [&](boost::system::error_code ended, size_t) {
      ended ? context_.stop() : read();
    });
  };
  read();
  std::exception_ptr failure;
  for (Task<>& task : staying_) {
    asio::co_spawn(context_, std::move(task), [&](std::exception_ptr problem) {
      if (problem && !failure) failure = problem;
      if (failure) context_.stop();
    });
  }
  context_.restart();
  context_.run();
  input.release();
  if (failure) std::rethrow_exception(failure);
}

std::vector<std::byte> Bench::batch(int records, const std::string& payload) const {
  protocol::BatchOptions options;
  options.codec = options_.codec;
  protocol::BatchBuilder builder(options);
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  for (int i = 0; i < records; ++i)
    builder.add(now, std::nullopt, std::as_bytes(std::span(payload)));
  return builder.build();
}

void Bench::begin() {
  if (options_.pid != 0) before_ = read_stats(options_.pid);
  began_ = Clock::now();
}

void Bench::end(Report& report, Clock::time_point at) const {
  report.seconds = std::chrono::duration<double>(at - began_).count();
  if (options_.pid == 0) return;
  const ProcessStats after = read_stats(options_.pid);
  report.broker =
      BrokerUse{after.cpu_s - before_.cpu_s, after.context_switches - before_.context_switches,
                after.rss_bytes, after.peak_rss_bytes};
}

Task<Clock::time_point> Pacer::next() {
  const Clock::time_point now = Clock::now();
  if (rate_ <= 0) co_return now;
  if (given_ == 0) start_ = now;
  const auto due = start_ + std::chrono::nanoseconds(
                                static_cast<int64_t>(static_cast<double>(given_++) * 1e9 / rate_));
  if (due > now) {
    asio::steady_timer timer(timer_context_, due);
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_return due;
}

}  // namespace ackord::bench
