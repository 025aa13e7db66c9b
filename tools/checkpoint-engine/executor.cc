#include "tools/checkpoint-engine/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace ackord::engine {
namespace {

using client::Millis;

constexpr Millis kTimeout{15000};
constexpr Millis kPoll{50};
constexpr Millis kIdle{1000};
constexpr Millis kLeave{5000};

// The engine's work, in the place of something useful.
std::string result_of(std::string value) {
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return value;
}

}  // namespace

Executor::Executor(const ExecutorOptions& options, Channel channel)
    : channel_(std::move(channel)),
      stage_timeout_(std::min(kTimeout, Millis(options.transaction_timeout_ms))) {
  client::ShareConsumerConfig config;
  config.client.bootstrap_servers = options.bootstrap;
  config.client.client_id = "checkpoint-engine";
  config.client.request_timeout = config.client.connection_timeout =
      Millis(options.request_timeout_ms);
  config.group = GroupId(options.group);
  config.mode = client::AcknowledgementMode::kTransactional;
  auto transactions = client::BatchTransactionExecutor::create(config.client);
  if (!transactions) throw std::runtime_error(transactions.error().message);
  transactions_ = std::move(*transactions);
  auto consumer = client::ShareConsumer::create(std::move(config), kTimeout);
  if (!consumer) throw std::runtime_error(consumer.error().message);
  consumer_ = std::move(*consumer);
  consumer_->subscribe({TopicName(options.topic)});
}

void Executor::run() {
  while (!channel_.closed()) {
    const bool takes = working_ && failure_.empty();
    if (takes) take();
    const auto message = channel_.receive(takes ? Millis(0) : kIdle);
    if (!message) continue;
    const std::string what(message->at("do").as_string());
    if (what == "work") {
      id_ = std::string(message->at("id").as_string());
      working_ = true;
      failure_.clear();
      results_.clear();
    } else if (what == "checkpoint") {
      checkpoint();
    } else if (what == "ended") {
      transactions_->ended(id_, message->at("committed").as_bool());
    }
  }
  // The job's next start need not wait until the group finds out that this member is gone. What is
  // staged stays so.
  (void)consumer_->close(kLeave);
}

void Executor::take() {
  auto records = consumer_->poll(kPoll);
  if (!records) {
    failure_ = records.error().message;
    return;
  }
  for (const client::ShareRecord& record : *records) {
    auto decided = consumer_->acknowledge(record);
    if (!decided) {
      failure_ = decided.error().message;
      return;
    }
    results_.push_back(
        {fmt::format("{}-{}@{}", record.topic.sv(), record.source.partition, record.offset),
         result_of(record.value.value_or(""))});
  }
}

void Executor::checkpoint() {
  // What is taken after this belongs to the next one: its verdicts would go there without its
  // results.
  working_ = false;
  // Whatever has been decided is handed over, failed or not: what stays would join the next one.
  auto verdicts = consumer_->acknowledgements_for_transaction();
  if (!verdicts) {
    failure_ = verdicts.error().message;
  } else {
    auto staged = transactions_->acknowledge(id_, *verdicts, consumer_->share_group_metadata(),
                                             stage_timeout_);
    if (!staged && failure_.empty()) failure_ = staged.error().message;
  }
  const auto report = transactions_->report(id_);
  if (!report && failure_.empty()) failure_ = report.error().message;
  if (!failure_.empty()) {
    channel_.send({{"error", failure_}});
    return;
  }
  boost::json::array results;
  for (const Result& result : results_)
    results.push_back(boost::json::array{result.input, result.value});
  channel_.send({{"staged", *report->to_text()}, {"results", std::move(results)}});
}

}  // namespace ackord::engine
