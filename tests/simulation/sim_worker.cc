#include "tests/simulation/sim_worker.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tests/simulation/record_texts.h"

namespace ackord::simulation {
namespace {

constexpr int32_t kTransactionTimeoutMs = 20000;
// Longer than the shortest record lock (15 s) and the transaction's timeout together.
constexpr int64_t kLongSleepMs = 40000;

std::string list(const std::vector<SourceRecord>& records) {
  std::string text;
  for (const SourceRecord& record : records) text += " " + record.text();
  return text;
}

std::string epoch_text(ProducerId id, int16_t epoch) {
  return "p" + std::to_string(id.value) + "e" + std::to_string(epoch);
}

}  // namespace

SimWorker::SimWorker(World& world, Options options, Uuid lines)
    : world_(world),
      random_(world.scheduler.random),
      options_(std::move(options)),
      lines_(lines),
      connection_(world.network, options_.name),
      member_(random_.uuid().to_string()) {}

io::Task<void> SimWorker::think(int64_t up_to_ms) {
  const int64_t until = world_.clock.now().steady_ms +
                        static_cast<int64_t>(random_.below(static_cast<uint64_t>(up_to_ms)));
  io::SleepUntil sleep(world_.clock, until);
  co_await sleep;
}

io::Task<void> SimWorker::run(const bool& stop) {
  while (!stop) {
    if (!producer_ready_ && !options_.plain) {
      auto initialising = init_producer();
      const bool ready = co_await std::move(initialising);
      if (!ready) {
        auto thinking = think(500);
        co_await std::move(thinking);
        continue;
      }
    }
    auto beating = heartbeat();
    const bool member = co_await std::move(beating);
    if (!member) {
      auto thinking = think(500);
      co_await std::move(thinking);
      continue;
    }
    auto fetching = fetch();
    Records records = co_await std::move(fetching);
    if (records.empty()) {
      auto thinking = think(300);
      co_await std::move(thinking);
      continue;
    }
    if (options_.plain) {
      auto acknowledging = acknowledge_plainly(std::move(records));
      co_await std::move(acknowledging);
      continue;
    }
    auto working = transaction(std::move(records));
    const Step step = co_await std::move(working);
    if (step == Step::kFenced) {
      ++world_.ledger.fenced;
      // Replaced by another: a zombie goes. One that was only timed out comes back with a new
      // epoch.
      if (has_slept_) co_return;
      producer_ready_ = false;
    }
  }
}

// Releasing raises delivery counts, so it does little, with long pauses.
io::Task<void> SimWorker::acknowledge_plainly(Records records) {
  protocol::ShareAcknowledgeRequest request;
  request.group_id = GroupId(kGroup);
  request.member_id = String(member_);
  request.share_session_epoch = session_epoch_;
  auto& topic = request.topics.emplace_back();
  topic.topic_id = lines_;
  std::map<int32_t, Records> rejected;
  for (const SourceRecord& record : records) {
    if (topic.partitions.empty() || topic.partitions.back().partition_index != record.partition)
      topic.partitions.emplace_back().partition_index = record.partition;
    auto& batch = topic.partitions.back().acknowledgement_batches.emplace_back();
    batch.first_offset = batch.last_offset = record.offset;
    batch.acknowledge_types.push_back(is_rejected(record) ? 3 : 2);
    if (is_rejected(record)) rejected[record.partition].push_back(record);
  }
  auto calling =
      connection_.call<protocol::ShareAcknowledgeRequest, protocol::ShareAcknowledgeResponse>(
          std::move(request), 2);
  const auto response = co_await std::move(calling);
  if (!response || response->error_code != ErrorCode::NONE) {
    session_epoch_ = 0;
  } else {
    ++session_epoch_;
    for (const auto& one : response->responses) {
      for (const auto& partition : one.partitions) {
        if (partition.error_code != ErrorCode::NONE) continue;
        world_.ledger.settled(rejected[partition.partition_index]);
        note("rejected" + list(rejected[partition.partition_index]));
      }
    }
  }
  auto thinking = think(15000);
  co_await std::move(thinking);
}

io::Task<bool> SimWorker::init_producer() {
  protocol::InitProducerIdRequest request;
  request.transactional_id = TransactionalId(options_.transactional_id);
  request.transaction_timeout_ms = kTransactionTimeoutMs;
  auto calling =
      connection_.call<protocol::InitProducerIdRequest, protocol::InitProducerIdResponse>(
          std::move(request), 5);
  const auto response = co_await std::move(calling);
  if (!response || response->error_code != ErrorCode::NONE) co_return false;
  producer_id_ = response->producer_id;
  producer_epoch_ = response->producer_epoch;
  sequences_.clear();
  producer_ready_ = true;
  note("is " + epoch_text(producer_id_, producer_epoch_));
  co_return true;
}

io::Task<bool> SimWorker::heartbeat() {
  protocol::ShareGroupHeartbeatRequest request;
  request.group_id = GroupId(kGroup);
  request.member_id = String(member_);
  request.member_epoch = member_epoch_;
  if (member_epoch_ == 0)
    request.subscribed_topic_names = std::vector<TopicName>{TopicName(kLines)};
  auto calling =
      connection_.call<protocol::ShareGroupHeartbeatRequest, protocol::ShareGroupHeartbeatResponse>(
          std::move(request), 1);
  const auto response = co_await std::move(calling);
  if (!response) co_return false;
  if (response->error_code != ErrorCode::NONE) {
    if (response->error_code == ErrorCode::UNKNOWN_MEMBER_ID ||
        response->error_code == ErrorCode::FENCED_MEMBER_EPOCH) {
      member_epoch_ = 0;
    }
    co_return false;
  }
  member_epoch_ = response->member_epoch;
  co_return true;
}

io::Task<std::vector<SourceRecord>> SimWorker::fetch() {
  protocol::ShareFetchRequest request;
  request.group_id = GroupId(kGroup);
  request.member_id = String(member_);
  request.share_session_epoch = session_epoch_;
  request.max_wait_ms = 200;
  request.min_bytes = 1;
  request.max_bytes = 1 << 20;
  request.max_records = static_cast<int32_t>(1 + random_.below(6));
  request.batch_size = request.max_records;
  request.share_acquire_mode = static_cast<int8_t>(random_.below(2));
  if (session_epoch_ == 0) {
    protocol::ShareFetchRequest::FetchTopic topic;
    topic.topic_id = lines_;
    for (int32_t i = 0; i < kPartitions; ++i) topic.partitions.emplace_back().partition_index = i;
    request.topics.push_back(std::move(topic));
  }
  auto calling = connection_.call<protocol::ShareFetchRequest, protocol::ShareFetchResponse>(
      std::move(request), 2);
  const auto response = co_await std::move(calling);
  std::vector<SourceRecord> records;
  std::string fetched;
  if (!response || response->error_code != ErrorCode::NONE) {
    note(std::string("fetch: ") +
         (response ? std::string(name_of(response->error_code)) : "no answer"));
    session_epoch_ = 0;
    co_return records;
  }
  session_epoch_ = session_epoch_ == INT32_MAX ? 1 : session_epoch_ + 1;
  for (const auto& topic : response->responses) {
    for (const auto& partition : topic.partitions) {
      std::map<int64_t, std::string> texts;
      if (partition.records.size() != 0) texts = texts_of(partition.records.bytes());
      for (const auto& range : partition.acquired_records) {
        for (int64_t offset = range.first_offset; offset <= range.last_offset; ++offset) {
          const SourceRecord record{partition.partition_index, offset};
          world_.ledger.delivered(record, texts[offset], range.delivery_count, options_.name);
          records.push_back(record);
          fetched += " " + record.text() + "(" + std::to_string(range.delivery_count) + ")";
        }
      }
    }
  }
  if (!records.empty()) note("fetched" + fetched);
  co_return records;
}

io::Task<SimWorker::Step> SimWorker::transaction(Records records) {
  // One that it has not made up its mind about stays acquired, and out of the transaction.
  if (records.size() > 1 && random_.chance(0.2)) records.pop_back();
  // Under version 2 the epoch names the transaction, so that the stage itself may begin it.
  const bool lazy = options_.transaction_version_2 && random_.chance(0.4);
  careless_ = random_.chance(0.5);
  stage_is_first_ = lazy && !options_.has_twin;
  start_ms_ = -1;
  Step step = Step::kDone;
  if (!lazy) {
    auto beginning = begin();
    step = co_await std::move(beginning);
  }
  if (step == Step::kDone && random_.chance(0.15)) {
    auto racing = stage_and_abort(records);
    co_return co_await std::move(racing);
  }
  if (step == Step::kDone) {
    auto working = work(records);
    step = co_await std::move(working);
  }
  if (step != Step::kFenced && options_.sleeps_once && !has_slept_ && random_.chance(0.4)) {
    has_slept_ = asleep_ = true;
    io::SleepUntil sleep(world_.clock, world_.clock.now().steady_ms + kLongSleepMs);
    co_await sleep;
    asleep_ = false;
  }
  if (step == Step::kFenced) co_return step;
  const bool refused = step == Step::kRefused;
  const bool commit = (step == Step::kDone && !random_.chance(0.2)) || (refused && careless_);
  auto ending = end(commit);
  step = co_await std::move(ending);
  if (step == Step::kDone) {
    if (refused)
      world_.ledger.finding("all or nothing: " + options_.name +
                            " has committed, and a stage had failed for good");
    ++world_.ledger.commits;
    world_.ledger.settled(records);
  } else if (step == Step::kAbort) {
    ++world_.ledger.aborts;
  }
  co_return step;
}

// A part of the records after the other, now and then.
io::Task<SimWorker::Step> SimWorker::work(const Records& records) {
  const bool outputs_first = random_.chance(0.5);
  const size_t split = random_.chance(0.3) ? random_.below(records.size()) : 0;
  Records parts[2] = {{records.begin(), records.begin() + static_cast<ptrdiff_t>(split)},
                      {records.begin() + static_cast<ptrdiff_t>(split), records.end()}};
  Step step = Step::kDone;
  for (Records& part : parts) {
    if (part.empty()) continue;
    auto working = work_on(std::move(part), outputs_first);
    const Step done = co_await std::move(working);
    if (done == Step::kFenced || done == Step::kAbort) co_return done;
    if (done == Step::kRefused) step = done;
    if (step == Step::kRefused && !careless_) co_return step;
    if (random_.chance(0.05)) {
      note("drops its session");
      connection_.drop();
      session_epoch_ = 0;
    }
    if (random_.chance(0.08)) {
      auto thinking = think_too_long(records);
      const Step after = co_await std::move(thinking);
      if (after != Step::kDone) co_return after;
    }
  }
  co_return step;
}

io::Task<SimWorker::Step> SimWorker::work_on(Records records, bool outputs_first) {
  Step step = Step::kDone;
  if (outputs_first) {
    auto producing = produce_all(records);
    step = co_await std::move(producing);
    if (step != Step::kDone) co_return step;
  }
  auto staging = stage(records);
  step = co_await std::move(staging);
  const bool go_on = step == Step::kDone || (step == Step::kRefused && careless_);
  if (outputs_first || !go_on) co_return step;
  auto producing = produce_all(records);
  const Step produced = co_await std::move(producing);
  co_return produced == Step::kDone ? step : produced;
}

// The locks end meanwhile; and then it may be handed the same records again.
io::Task<SimWorker::Step> SimWorker::think_too_long(const Records& held) {
  auto thinking = think(25000);
  co_await std::move(thinking);
  auto fetching = fetch();
  const Records more = co_await std::move(fetching);
  const std::set<SourceRecord> known(held.begin(), held.end());
  for (const SourceRecord& record : more) {
    // The rule of the protocol's part 3: a second copy within the transaction leaves only abort.
    if (known.contains(record)) co_return Step::kAbort;
  }
  // The others stay acquired until their locks end: this transaction does not take them.
  co_return Step::kDone;
}

// It gives the stage up before its answer, as after a timeout, and aborts.
io::Task<SimWorker::Step> SimWorker::stage_and_abort(const Records& records) {
  note("stages and does not wait:" + list(records));
  io::spawn(world_.clients,
            send_later(stage_request(records), static_cast<int64_t>(random_.below(3))));
  auto thinking = think(4);
  co_await std::move(thinking);
  auto ending = end(false);
  const Step step = co_await std::move(ending);
  if (step == Step::kAbort) ++world_.ledger.aborts;
  co_return step;
}

}  // namespace ackord::simulation
