#include "broker/share/dead_letter_writer.h"

#include <algorithm>
#include <utility>

#include "broker/metadata/config_tables.h"
#include "broker/share/dead_letter.h"
#include "broker/share/source_records.h"

namespace ackord::share {
namespace {

constexpr int16_t kShareVersionDeadLetters = 2;
constexpr int kAttempts = 5;
constexpr int64_t kFirstBackoffMs = 1000;
constexpr int64_t kMaxBackoffMs = 30000;
// The batches are of today's format, uncompressed: any version that takes it.
constexpr int16_t kProduceVersion = 12;

PartitionError failure(ErrorCode code, std::string why) { return {code, std::move(why)}; }

}  // namespace

bool dead_letters_on(const metadata::MetadataService& metadata,
                     const metadata::GroupConfig& config) {
  return !config.dead_letter_topic.empty() &&
         metadata.image().features().level("share.version") >= kShareVersionDeadLetters;
}

// Exponential, and a fifth to either side.
io::Task<void> DeadLetterWriter::wait_before_attempt(int attempt) {
  if (attempt == 0) co_return;
  const int64_t base = std::min(kFirstBackoffMs << (attempt - 1), kMaxBackoffMs);
  const auto jitter = static_cast<int64_t>(environment_.random.next() % 401);
  io::Clock& clock = environment_.here().clock;
  io::SleepUntil sleep(clock, clock.now().steady_ms + base * (800 + jitter) / 1000);
  co_await sleep;
}

io::Task<DeadLetterWriter::Queue> DeadLetterWriter::find_queue(std::string name) {
  if (name.empty())
    co_return error(ErrorCode::INVALID_CONFIG, "dead letters have been switched off for the group");
  const metadata::DeadLetterConfig config = metadata_.dead_letter_config();
  if (name.starts_with("__"))
    co_return error(ErrorCode::INVALID_CONFIG, "an internal topic holds no dead letters: " + name);
  if (!name.starts_with(config.topic_name_prefix)) {
    co_return error(ErrorCode::INVALID_CONFIG,
                    name + " does not begin with errors.deadletterqueue.topic.name.prefix=" +
                        config.topic_name_prefix);
  }
  if (!metadata_.image().topic(name)) {
    if (!config.auto_create_topics_enable)
      co_return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "there is no topic " + name);
    auto making = make_topic(name);
    const Result<void> made = co_await std::move(making);
    if (!made) co_return made.error();
  }
  auto topic = metadata_.image().topic(name);
  if (!topic) co_return error(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "there is no topic " + name);
  if (!metadata::takes_dead_letters(topic->configs)) {
    co_return error(ErrorCode::INVALID_CONFIG,
                    name + " lacks errors.deadletterqueue.group.enable=true");
  }
  co_return Queue(std::move(topic));
}

io::Task<Result<void>> DeadLetterWriter::make_topic(std::string name) {
  Error last = error(ErrorCode::UNKNOWN_SERVER_ERROR);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto waiting = wait_before_attempt(attempt);
    co_await std::move(waiting);
    std::vector<metadata::CreateTopic> topics(1);
    topics.front().name = TopicName(name);
    topics.front().configs = {{"errors.deadletterqueue.group.enable", "true"},
                              {"message.timestamp.type", "CreateTime"}};
    auto creating = metadata_.create_topics(std::move(topics), false);
    const std::vector<metadata::CreatedTopic> created = co_await std::move(creating);
    const metadata::CreatedTopic& topic = created.front();
    if (topic.error == ErrorCode::NONE || topic.error == ErrorCode::TOPIC_ALREADY_EXISTS)
      co_return Result<void>();
    last = error(topic.error, name + " cannot be created: " + topic.message);
    if (!is_retriable(topic.error)) break;
  }
  co_return last;
}

// On the queue's core.
io::Task<PartitionError> DeadLetterWriter::append_here(
    TopicPartition queue, std::shared_ptr<const std::vector<std::byte>> batch) {
  const std::shared_ptr<log::Partition> partition = log_.find(queue);
  if (!partition)
    co_return failure(ErrorCode::UNKNOWN_TOPIC_OR_PARTITION, "the topic has been removed");
  const log::AppendResult appended = partition->append({*batch, kProduceVersion, std::nullopt},
                                                       environment_.here().clock.now().wall_ms);
  if (appended.error != ErrorCode::NONE) co_return failure(appended.error, appended.message);
  auto durable = partition->durable(appended.next_offset);
  const Result<void> done = co_await std::move(durable);
  if (!done) co_return failure(done.error().code, done.error().message);
  co_return PartitionError{};
}

io::Task<PartitionError> DeadLetterWriter::append(TopicPartition queue,
                                                  std::vector<std::byte> batch) {
  const auto shared = std::make_shared<const std::vector<std::byte>>(std::move(batch));
  PartitionError result;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto waiting = wait_before_attempt(attempt);
    co_await std::move(waiting);
    auto appending = io::on(log_.core_of(queue).executor, append_here(queue, shared));
    result = co_await std::move(appending);
    if (result.ok() || !is_retriable(result.error_code)) break;
  }
  co_return result;
}

io::Task<DeadLetterWriter::Written> DeadLetterWriter::write(SharePartitionKey key,
                                                            std::vector<ArchivedRange> ranges) {
  Written out;
  const metadata::GroupConfig config = metadata_.group_config(key.group_id);
  const auto source = metadata_.image().topic(key.topic_id);
  if (!source) {
    out.error = failure(ErrorCode::UNKNOWN_TOPIC_ID, "the source topic has been removed");
    co_return out;
  }
  auto finding = find_queue(config.dead_letter_topic);
  const Queue topic = co_await std::move(finding);
  if (!topic) {
    out.error = failure(topic.error().code, topic.error().message);
    co_return out;
  }
  out.queue = {(*topic)->name, key.partition % (*topic)->partitions};
  SourceRecords originals(log_, {source->name, key.partition});
  LetterBatch batch(metadata_.log_config(**topic).max_message_bytes,
                    environment_.here().clock.now().wall_ms);
  for (const ArchivedRange& range : ranges) {
    for (Offset offset = range.first_offset; offset <= range.last_offset; ++offset) {
      DeadLetter letter{source->name.sv(),    key.partition, offset,       key.group_id.sv(),
                        range.delivery_count, range.reason,  std::nullopt, std::nullopt};
      if (config.dead_letter_copy_record) {
        auto looking = originals.find(offset);
        const protocol::Record* original = co_await std::move(looking);
        if (original != nullptr) {
          letter.key = original->key;
          letter.value = original->value;
        }
      }
      if (batch.add(letter)) continue;
      const int32_t count = batch.count();
      auto appending = append(out.queue, batch.build());
      out.error = co_await std::move(appending);
      if (!out.error.ok()) co_return out;
      out.letters += count;
      batch.add(letter);
    }
  }
  if (batch.empty()) co_return out;
  const int32_t count = batch.count();
  auto appending = append(out.queue, batch.build());
  out.error = co_await std::move(appending);
  if (out.error.ok()) out.letters += count;
  co_return out;
}

}  // namespace ackord::share
