// Templates of producers and their transactions.
#include "tools/conform/differential/templates.h"

namespace ackord::conform::differential {
namespace {

constexpr size_t kMostProducers = 6;

// Rarely one beside it.
int16_t some_epoch(Random& random, const ProducerState& producer) {
  const int32_t other = random.one_in(10) ? random.number(3) - 1 : 0;
  return static_cast<int16_t>(producer.epoch + other);
}

Object find_coordinator(World& world, Random& random, int16_t version) {
  const auto type = random.number(version >= 6 ? 3 : 2);
  std::string key = type == 0 ? world.group(random) : world.producer(random, true).transactional_id;
  if (type == 2) key = world.group(random) + ":" + world.topic(random).id + ":0";
  return Body(version)
      .until(3, "key", key)
      .since(1, "keyType", version == 0 ? 0 : type)
      .since(4, "coordinatorKeys", list(key))
      .take();
}

Object init_producer_id(World& world, Random& random, int16_t version) {
  const bool transactional = !random.one_in(4);
  const ProducerState producer = world.producer(random, transactional);
  const bool known = producer.id >= 0 && random.one_in(3);
  return Body(version)
      .field("transactionalId",
             transactional ? json::value(producer.transactional_id) : json::value(nullptr))
      .field("transactionTimeoutMs", 60000)
      .since(3, "producerId", known ? producer.id : -1)
      .since(3, "producerEpoch", known ? producer.epoch : int16_t{-1})
      .take();
}

// A producer id in both answers: its placeholder, a new one if it has none.
int64_t learn_id(World& world, const Answered& answered) {
  const int64_t first = answered.first.at("producerId").as_int64();
  const int64_t second = answered.second.at("producerId").as_int64();
  if (answered.first_symbols.has(kProducerIds, first))
    return answered.first_symbols.placeholder(kProducerIds, first);
  const int64_t place = world.placeholders().number(kProducerIds);
  answered.first_symbols.learn(place, first);
  answered.second_symbols.learn(place, second);
  return place;
}

void initialised(World& world, const Answered& answered) {
  if (answered.answer.at("errorCode").as_int64() != 0) return;
  const auto epoch = static_cast<int16_t>(answered.answer.at("producerEpoch").as_int64());
  const json::value& id = answered.request.at("transactionalId");
  if (id.is_string() && !id.as_string().empty()) {
    ProducerState* producer = world.find_producer(std::string(id.as_string()));
    if (producer == nullptr) return;
    *producer = {producer->transactional_id, learn_id(world, answered), epoch};
  } else {
    const int64_t place = learn_id(world, answered);
    std::erase_if(world.producers, [&](const auto& one) { return one.id == place; });
    if (world.producers.size() < kMostProducers) world.producers.push_back({{}, place, epoch});
  }
}

json::array some_partitions(World& world, Random& random) {
  return some(random, [&] {
    const TopicState topic = world.topic(random);
    return Object{{"name", topic.name}, {"partitions", list(some_partition(random, topic))}};
  });
}

Object add_partitions(World& world, Random& random, int16_t version) {
  const ProducerState producer = world.producer(random, true);
  const int16_t epoch = some_epoch(random, producer);
  const json::array topics = some_partitions(world, random);
  const Object transaction{{"transactionalId", producer.transactional_id},
                           {"producerId", producer.id},
                           {"producerEpoch", epoch},
                           {"verifyOnly", random.one_in(2)},
                           {"topics", topics}};
  return Body(version)
      .until(3, "v3AndBelowTransactionalId", producer.transactional_id)
      .until(3, "v3AndBelowProducerId", producer.id)
      .until(3, "v3AndBelowProducerEpoch", epoch)
      .until(3, "v3AndBelowTopics", topics)
      .since(4, "transactions", list(transaction))
      .take();
}

Object add_offsets(World& world, Random& random, int16_t) {
  const ProducerState producer = world.producer(random, true);
  return {{"transactionalId", producer.transactional_id},
          {"producerId", producer.id},
          {"producerEpoch", some_epoch(random, producer)},
          {"groupId", world.group(random)}};
}

Object end_txn(World& world, Random& random, int16_t) {
  const ProducerState producer = world.producer(random, true);
  return {{"transactionalId", producer.transactional_id},
          {"producerId", producer.id},
          {"producerEpoch", some_epoch(random, producer)},
          {"committed", random.one_in(2)}};
}

// From version 5 on the answer has what the producer goes on with.
void ended(World& world, const Answered& answered) {
  const json::value* epoch = answered.answer.if_contains("producerEpoch");
  if (epoch == nullptr || epoch->as_int64() < 0) return;
  const std::string id(answered.request.at("transactionalId").as_string());
  ProducerState* producer = world.find_producer(id);
  if (producer == nullptr) return;
  const auto now = static_cast<int16_t>(epoch->as_int64());
  if (now != producer->epoch) *producer = {id, learn_id(world, answered), now};
}

Object txn_offset_commit(World& world, Random& random, int16_t version) {
  const ProducerState producer = world.producer(random, true);
  const auto topic = [&] {
    const TopicState one = world.topic(random);
    const Object partition = Body(version)
                                 .field("partitionIndex", some_partition(random, one))
                                 .field("committedOffset", random.number(100))
                                 .since(2, "committedLeaderEpoch", random.number(2) - 1)
                                 .field("committedMetadata", random.one_in(2) ? "m" : "")
                                 .take();
    return Body(version)
        .until(5, "name", one.name)
        .since(6, "topicId", one.id)
        .field("partitions", list(partition))
        .take();
  };
  return Body(version)
      .field("transactionalId", producer.transactional_id)
      .field("groupId", world.group(random))
      .field("producerId", producer.id)
      .field("producerEpoch", some_epoch(random, producer))
      .since(3, "generationIdOrMemberEpoch", random.one_in(6) ? 1 : -1)
      .since(3, "memberId", random.one_in(6) ? "someone" : "")
      .since(3, "groupInstanceId", nullptr)
      .field("topics", some(random, topic))
      .take();
}

Object describe_transactions(World& world, Random& random, int16_t) {
  const auto id = [&] { return json::string(world.producer(random, true).transactional_id); };
  return {{"transactionalIds", some(random, id)}};
}

Object list_transactions(World& world, Random& random, int16_t version) {
  const ProducerState producer = world.producer(random, true);
  return Body(version)
      .field("stateFilters", random.one_in(3) ? list("Ongoing") : json::array())
      .field("producerIdFilters", random.one_in(3) ? list(producer.id) : json::array())
      .since(1, "durationFilter", -1)
      .since(2, "transactionalIdPattern", nullptr)
      .take();
}

}  // namespace

std::vector<Template> transaction_templates() {
  return {
      {"FindCoordinator", 2, true, find_coordinator},
      {"InitProducerId", 5, false, init_producer_id, initialised},
      {"AddPartitionsToTxn", 8, false, add_partitions},
      {"AddOffsetsToTxn", 4, false, add_offsets},
      {"EndTxn", 6, false, end_txn, ended},
      {"TxnOffsetCommit", 6, false, txn_offset_commit},
      {"DescribeTransactions", 4, true, describe_transactions},
      {"ListTransactions", 2, true, list_transactions},
  };
}

}  // namespace ackord::conform::differential
