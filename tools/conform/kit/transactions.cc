#include "tools/conform/kit/transactions.h"

namespace ackord::conform {
namespace {

constexpr int16_t kInitWithIdentity = 3;
constexpr int16_t kInitWith2pc = 6;
constexpr int16_t kAddOfBrokers = 4;
constexpr int16_t kOffsetsWithLeaderEpoch = 2;
constexpr int16_t kOffsetsWithMember = 3;
constexpr int16_t kOffsetsByTopicId = 6;

json::value or_null(const std::optional<std::string>& text) {
  if (text) return json::value(*text);
  return nullptr;
}

// AddPartitionsToTxn names each topic once.
json::array topics_of(const std::vector<TxnPart>& parts) {
  json::array topics;
  std::map<std::string, size_t> places;
  for (const TxnPart& part : parts) {
    const auto [place, is_new] = places.emplace(part.topic.name, topics.size());
    if (is_new)
      topics.emplace_back(Object{{"name", part.topic.name}, {"partitions", json::array()}});
    topics[place->second].at("partitions").as_array().emplace_back(part.partition);
  }
  return topics;
}

bool is_abort_marker(const BatchRead& batch) {
  // int16 version, int16 type: 0 abort, 1 commit.
  return batch.header.control() && batch.records[0].key->at(3) == 0;
}

Value only_partition(const Value& topics) { return topics[0]["resultsByPartition"][0]; }

}  // namespace

std::string show(const ProducerIdentity& identity) {
  return fmt::format("(producer id {}, epoch {})", identity.id, identity.epoch);
}

ProducerIdentity idempotent_producer(Kit& kit) {
  const Value answer =
      ask_until_free(kit, [&] { return kit.ask("InitProducerId", 4, init_request(std::nullopt)); });
  answer["errorCode"].is_none();
  return {answer["producerId"].number(), static_cast<int16_t>(answer["producerEpoch"].number())};
}

Object init_request(const std::optional<std::string>& transactional_id,
                    const InitOptions& options) {
  Object request{{"transactionalId", or_null(transactional_id)},
                 {"transactionTimeoutMs", options.timeout_ms}};
  if (options.version >= kInitWithIdentity) {
    request["producerId"] = options.current.id;
    request["producerEpoch"] = options.current.epoch;
  }
  if (options.version >= kInitWith2pc) {
    request["enable2Pc"] = options.enable_2pc;
    request["keepPreparedTxn"] = options.keep_prepared;
  }
  return request;
}

TxnProducer::TxnProducer(Kit& kit, TxnVersion version, std::string id)
    : kit_(&kit), version_(version), id_(id.empty() ? kit.name("tx") : std::move(id)) {}

void TxnProducer::set_identity(const ProducerIdentity& identity) {
  if (identity == identity_) return;
  identity_ = identity;
  next_sequence_.clear();  // an epoch begins at sequence 0
}

TxnProducer TxnProducer::with_epoch(int epoch) const {
  TxnProducer other = *this;
  other.set_identity({identity_.id, static_cast<int16_t>(epoch)});
  return other;
}

void TxnProducer::init(const InitOptions& options) {
  wait_for_coordinator(*kit_, CoordinatorKind::kTransaction, id_);
  const Value answer = ask_until_free(*kit_, [&] { return try_init(options); });
  answer["errorCode"].is_none();
  set_identity(
      {answer["producerId"].number(), static_cast<int16_t>(answer["producerEpoch"].number())});
}

Value TxnProducer::try_init(const InitOptions& options) {
  return kit_->ask("InitProducerId", options.version, init_request(id_, options));
}

void TxnProducer::init_until(int16_t epoch) {
  constexpr int kInFlight = 200;
  constexpr int64_t kToJudgeBy = 8000;  // a broker that has just started becomes quicker
  const Object request = init_request(id_);
  std::vector<Sent> sent;
  const Stopwatch stopwatch;
  const int first = identity_.epoch;
  while (identity_.epoch < epoch) {
    const int64_t done = identity_.epoch - first;
    if (done >= kToJudgeBy &&
        stopwatch.elapsed() * (epoch - identity_.epoch) / done > kit_->end().left() * 3 / 4)
      throw Skip(fmt::format("{} epochs took {} ms: all of them would take too long", done,
                             stopwatch.elapsed().count()));
    const int count = std::min<int>(kInFlight, epoch - identity_.epoch);
    for (int i = 0; i < count; ++i)
      sent.push_back(kit_->first().send("InitProducerId", 4, request));
    for (const Sent& one : sent) {
      const Value answer = kit_->first().receive(one);
      answer["errorCode"].is_none();
      answer["producerId"].is(identity_.id);
      answer["producerEpoch"].is(identity_.epoch + 1);
      ++identity_.epoch;
    }
    sent.clear();
  }
  next_sequence_.clear();
}

void TxnProducer::add(const Topic& topic, int32_t partition) {
  const Value answer = ask_until_free(
      *kit_, [&] { return only_partition(try_add({{topic, partition}})); }, "partitionErrorCode");
  answer["partitionErrorCode"].is_none();
}

Value TxnProducer::try_add(const std::vector<TxnPart>& parts, int16_t version, bool verify_only) {
  if (version < kAddOfBrokers) {
    return kit_->ask("AddPartitionsToTxn", version,
                     {{"v3AndBelowTransactionalId", id_},
                      {"v3AndBelowProducerId", identity_.id},
                      {"v3AndBelowProducerEpoch", identity_.epoch},
                      {"v3AndBelowTopics", topics_of(parts)}})["resultsByTopicV3AndBelow"];
  }
  const Object transaction{{"transactionalId", id_},
                           {"producerId", identity_.id},
                           {"producerEpoch", identity_.epoch},
                           {"verifyOnly", verify_only},
                           {"topics", topics_of(parts)}};
  const Value answer =
      kit_->ask("AddPartitionsToTxn", version, {{"transactions", list(transaction)}});
  answer["errorCode"].is_none();
  return answer["resultsByTransaction"][0]["topicResults"];
}

Value TxnProducer::try_add(const Topic& topic, int16_t version, bool verify_only) {
  return only_partition(
      try_add(std::vector<TxnPart>{{topic, 0}}, version, verify_only))["partitionErrorCode"];
}

int64_t TxnProducer::produce(const Topic& topic, const std::vector<std::string>& values,
                             int32_t partition) {
  if (version_ == TxnVersion::kOne) add(topic, partition);
  const Value answer =
      ask_until_free(*kit_, [&] { return try_produce(topic, values, {.partition = partition}); });
  answer["errorCode"].is_none();
  next_sequence_[{topic.name, partition}] += static_cast<int32_t>(values.size());
  return answer["baseOffset"].number();
}

Value TxnProducer::try_produce(const Topic& topic, const std::vector<std::string>& values,
                               const TxnBatch& batch) {
  const auto next = next_sequence_.find({topic.name, batch.partition});
  const int32_t sequence = next == next_sequence_.end() ? 0 : next->second;
  const int16_t version = version_ == TxnVersion::kTwo ? 12 : 11;
  return conform::try_produce(*kit_, topic,
                              build_batch({.records = records_of(values),
                                           .producer_id = identity_.id,
                                           .producer_epoch = identity_.epoch,
                                           .base_sequence = batch.sequence.value_or(sequence),
                                           .transactional = batch.transactional}),
                              {.partition = batch.partition,
                               .version = batch.version.value_or(version),
                               .transactional_id = id_,
                               .connection = batch.connection});
}

void TxnProducer::add_group(const std::string& group) {
  wait_for_coordinator(*kit_, CoordinatorKind::kGroup, group);
  ask_until_free(*kit_, [&] { return try_add_group(group); })["errorCode"].is_none();
}

Value TxnProducer::try_add_group(const std::string& group, int16_t version) {
  return kit_->ask("AddOffsetsToTxn", version,
                   {{"transactionalId", id_},
                    {"producerId", identity_.id},
                    {"producerEpoch", identity_.epoch},
                    {"groupId", group}});
}

void TxnProducer::commit_offset(const std::string& group, const Topic& topic,
                                const TxnOffset& offset) {
  if (version_ == TxnVersion::kOne) add_group(group);
  wait_for_coordinator(*kit_, CoordinatorKind::kGroup, group);
  const Value answer =
      ask_until_free(*kit_, [&] { return try_commit_offset(group, topic, offset); });
  answer["errorCode"].is_none();
}

Value TxnProducer::try_commit_offset(const std::string& group, const Topic& topic,
                                     const TxnOffset& offset) {
  const int16_t version = offset.version.value_or(version_ == TxnVersion::kTwo ? 5 : 4);
  Object partition{{"partitionIndex", offset.partition},
                   {"committedOffset", offset.offset},
                   {"committedMetadata", or_null(offset.metadata)}};
  if (version >= kOffsetsWithLeaderEpoch) partition["committedLeaderEpoch"] = offset.leader_epoch;
  Object named{{"partitions", list(partition)}};
  if (version >= kOffsetsByTopicId)
    named["topicId"] = topic.id;
  else
    named["name"] = topic.name;
  Object request{{"transactionalId", id_},
                 {"groupId", group},
                 {"producerId", identity_.id},
                 {"producerEpoch", identity_.epoch},
                 {"topics", list(named)}};
  if (version >= kOffsetsWithMember) {
    request["generationIdOrMemberEpoch"] = offset.generation;
    request["memberId"] = offset.member;
    request["groupInstanceId"] = or_null(offset.instance);
  }
  return kit_->ask("TxnOffsetCommit", version, request)["topics"][0]["partitions"][0];
}

void TxnProducer::end(bool committed) {
  end_without_waiting(committed);
  wait_until_complete();
}

void TxnProducer::end_without_waiting(bool committed) {
  const Value answer = ask_until_free(*kit_, [&] { return try_end(committed); });
  answer["errorCode"].is_none();
  if (version_ == TxnVersion::kOne) return;
  set_identity(
      {answer["producerId"].number(), static_cast<int16_t>(answer["producerEpoch"].number())});
}

Value TxnProducer::try_end(bool committed, std::optional<int16_t> version, Connection* connection) {
  Connection& used = connection == nullptr ? kit_->first() : *connection;
  return used.ask("EndTxn", version.value_or(end_version()),
                  {{"transactionalId", id_},
                   {"producerId", identity_.id},
                   {"producerEpoch", identity_.epoch},
                   {"committed", committed}});
}

Value TxnProducer::describe() const {
  return kit_->ask("DescribeTransactions", 0,
                   {{"transactionalIds", list(id_)}})["transactionStates"][0];
}

void TxnProducer::wait_until_complete() const {
  kit_->until("the transaction of " + id_ + " is complete", [&] {
    const std::string now = state();
    return now == "Empty" || now == "CompleteCommit" || now == "CompleteAbort";
  });
}

TxnProducer begin_transaction(Kit& kit, const Topic& topic, const std::vector<std::string>& values,
                              TxnVersion version, const InitOptions& init) {
  TxnProducer producer(kit, version);
  producer.init(init);
  producer.produce(topic, values);
  return producer;
}

std::string offsets_group(Kit& kit) {
  std::string group = kit.name("g");
  wait_for_coordinator(kit, CoordinatorKind::kGroup, group);
  const Object all{{"groupId", group}, {"topics", nullptr}};
  ask_until_free(kit, [&] { return kit.ask("OffsetFetch", 7, all); })["errorCode"].is_none();
  return group;
}

void wait_for_stable(Kit& kit, const Topic& topic, int64_t offset, int32_t partition) {
  kit.until(fmt::format("the last stable offset is {}", offset),
            [&] { return end_offset(kit, topic, partition, 1) == offset; });
}

std::vector<std::string> committed_values(Kit& kit, const Topic& topic, int32_t partition) {
  std::vector<std::string> values;
  std::set<int64_t> aborting;  // producers in the middle of an aborted transaction
  int64_t position = 0;
  while (true) {
    const Value part = fetch_one(kit, {.topic = topic, .partition = partition, .offset = position},
                                 {.isolation = 1});
    part["errorCode"].is_none();
    std::multimap<int64_t, int64_t> aborted;  // producer ids by their transactions' first offsets
    for (const Value& entry : part["abortedTransactions"].items())
      aborted.emplace(entry["firstOffset"].number(), entry["producerId"].number());
    const int64_t before = position;
    for (const BatchRead& batch : batches_of(part)) {
      position = batch.header.next_offset();
      while (!aborted.empty() && aborted.begin()->first < position) {
        aborting.insert(aborted.begin()->second);
        aborted.erase(aborted.begin());
      }
      const int64_t producer = batch.header.producer_id.value;
      if (is_abort_marker(batch)) aborting.erase(producer);
      if (batch.header.control()) continue;
      if (batch.header.transactional() && aborting.contains(producer)) continue;
      for (const RecordRead& record : batch.records) values.push_back(record.value.value_or(""));
    }
    if (position >= part["lastStableOffset"].number()) return values;
    if (position == before) throw Failure(fmt::format("no data at offset {}", position));
  }
}

}  // namespace ackord::conform
