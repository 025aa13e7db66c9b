// Checks with librdkafka's C API against any broker: checks BOOTSTRAP [FEATURE…].
//
// Prints "client NAME VERSION", a line for each check, and "N passed, N failed, N skipped"
// (tools/compat-table reads them).
#include <algorithm>
#include <future>
#include <iostream>
#include <semaphore>
#include <span>

#include "admin.h"
#include "support.h"

namespace compat {
namespace {

void codecs() {
  std::string topic = make_topic();
  std::vector<std::string> wanted;
  for (std::string codec : {"none", "gzip", "snappy", "lz4", "zstd"}) {
    std::string value = codec + std::string(1000, 'x');
    produce(topic, {{.value = value}, {.value = value}}, {{"compression.codec", codec}});
    wanted.insert(wanted.end(), 2, value);
  }
  require(values(read(topic, wanted.size())) == wanted, "the values");
}

void headers() {
  std::string topic = make_topic();
  Message sent{.value = "v", .headers = {{"a", "1"}, {"b", ""}, {"a", std::nullopt}}};
  produce(topic, {sent});
  require(read(topic, 1)[0].headers == sent.headers, "the headers");
}

void nulls() {
  std::string topic = make_topic();
  std::vector<Message> sent = {{}, {.key = "k"}, {.value = "v"}, {.key = "", .value = ""}};
  produce(topic, sent);
  std::vector<Message> found = read(topic, sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    require(found[i].key == sent[i].key && found[i].value == sent[i].value,
            "message " + std::to_string(i));
  }
}

void idempotent() {
  std::string topic = make_topic();
  std::vector<Message> sent;
  for (int i = 0; i < 2000; ++i) {
    sent.push_back({.value = std::to_string(i)});
  }
  produce(topic, sent, {{"enable.idempotence", "true"}, {"batch.num.messages", "50"}});
  require(values(read(topic, sent.size())) == values(sent), "the values, in order");
}

Kafka transactional() {
  Kafka producer = client(RD_KAFKA_PRODUCER, {{"transactional.id", fresh("tx")}});
  require(rd_kafka_init_transactions(producer.get(), kLimitMs), "init transactions");
  return producer;
}

// One message in a transaction of its own.
void transaction(rd_kafka_t* producer, const std::string& topic, const std::string& value,
                 bool commits) {
  require(rd_kafka_begin_transaction(producer), "begin");
  send(producer, topic, {{.value = value}});
  require(commits ? rd_kafka_commit_transaction(producer, kLimitMs)
                  : rd_kafka_abort_transaction(producer, kLimitMs),
          "end");
}

const Config kReadAll = {{"isolation.level", "read_uncommitted"}};
using Strings = std::vector<std::string>;

void commits_transactions() {
  std::string topic = make_topic();
  Kafka producer = transactional();
  for (const char* value : {"1", "2", "3"}) {
    transaction(producer.get(), topic, value, true);
  }
  require(values(read(topic, 3)) == Strings{"1", "2", "3"}, "what is committed");
  std::int64_t low = 0;
  std::int64_t high = 0;
  require(rd_kafka_query_watermark_offsets(producer.get(), topic.c_str(), 0, &low, &high, kLimitMs),
          "watermarks");
  require(low == 0 && high == 6, "the end, after three markers");
}

void aborts_transactions() {
  std::string topic = make_topic();
  Kafka producer = transactional();
  transaction(producer.get(), topic, "no", false);
  transaction(producer.get(), topic, "yes", true);
  require(values(read(topic, 1)) == Strings{"yes"}, "what is committed");
  require(values(read(topic, 2, kReadAll)) == Strings{"no", "yes"}, "all");
}

void reads_committed() {
  std::string topic = make_topic();
  Kafka producer = transactional();
  require(rd_kafka_begin_transaction(producer.get()), "begin");
  send(producer.get(), topic, {{.value = "open"}});
  produce(topic, {{.value = "after"}});
  Kafka consumer = client(RD_KAFKA_CONSUMER, {{"group.id", fresh("reader")}});
  require(rd_kafka_assign(consumer.get(), at(topic, 0, RD_KAFKA_OFFSET_BEGINNING).get()), "assign");
  require(values(read(topic, 2, kReadAll)) == Strings{"open", "after"}, "uncommitted");
  for (int i = 0; i < 10; ++i) {
    require(!poll(consumer.get()), "nothing comes before the commit");
  }
  require(rd_kafka_commit_transaction(producer.get(), kLimitMs), "commit");
  require(values(take(consumer.get(), 2)) == Strings{"open", "after"}, "committed");
}

std::int64_t committed(rd_kafka_t* consumer, const std::string& topic) {
  Partitions list = at(topic, 0, RD_KAFKA_OFFSET_INVALID);
  require(rd_kafka_committed(consumer, list.get(), kLimitMs), "committed");
  require(list->elems[0].err, "committed");
  return list->elems[0].offset;
}

void transaction_offsets() {
  std::string source = make_topic();
  std::string sink = make_topic();
  produce(source, {{.value = "1"}, {.value = "2"}});
  Kafka consumer = member(fresh("group"), source);
  std::vector<Message> taken = take(consumer.get(), 2);
  Kafka producer = transactional();
  for (bool commits : {false, true}) {
    require(rd_kafka_begin_transaction(producer.get()), "begin");
    send(producer.get(), sink,
         {{.value = "out-" + *taken[0].value}, {.value = "out-" + *taken[1].value}});
    std::unique_ptr<rd_kafka_consumer_group_metadata_t,
                    decltype(&rd_kafka_consumer_group_metadata_destroy)>
        metadata(rd_kafka_consumer_group_metadata(consumer.get()),
                 rd_kafka_consumer_group_metadata_destroy);
    require(rd_kafka_send_offsets_to_transaction(producer.get(), at(source, 0, 2).get(),
                                                 metadata.get(), kLimitMs),
            "send offsets");
    require(commits ? rd_kafka_commit_transaction(producer.get(), kLimitMs)
                    : rd_kafka_abort_transaction(producer.get(), kLimitMs),
            "end");
    require(committed(consumer.get(), source) == (commits ? 2 : RD_KAFKA_OFFSET_INVALID),
            "the group's offset");
  }
  require(values(read(sink, 2)) == Strings{"out-1", "out-2"}, "the results");
}

void group() {
  std::string topic = make_topic(4);
  std::string group = fresh("group");
  Kafka first = member(group, topic);
  Kafka second = member(group, topic);
  Strings all;
  auto have = [&](int one, int two) {
    for (rd_kafka_t* consumer : {first.get(), second.get()}) {
      if (std::optional<Message> message = poll(consumer)) {
        all.push_back(*message->value);
      }
    }
    return assigned(first.get()) == one && assigned(second.get()) == two;
  };
  until("two partitions each", [&] { return have(2, 2); });
  for (std::int32_t partition = 0; partition < 4; ++partition) {
    produce(topic, {{.value = std::to_string(partition), .partition = partition}});
  }
  until("all messages", [&] { return have(2, 2) && all.size() >= 4; });
  std::sort(all.begin(), all.end());
  require(all == Strings{"0", "1", "2", "3"}, "each message once");
  require(rd_kafka_consumer_close(first.get()), "close");
  until("all partitions for the one that stays", [&] {
    poll(second.get());
    return assigned(second.get()) == 4;
  });
}

void commit_and_resume() {
  std::string topic = make_topic();
  std::string group = fresh("group");
  for (std::int64_t i = 0; i < 2; ++i) {
    produce(topic, {{.value = std::to_string(i)}});
    Kafka consumer = member(group, topic);
    require(values(take(consumer.get(), 1)) == Strings{std::to_string(i)}, "the value");
    require(rd_kafka_commit(consumer.get(), nullptr, 0), "commit");
    require(committed(consumer.get(), topic) == i + 1, "the committed offset");
    require(rd_kafka_consumer_close(consumer.get()), "close");
  }
}

void metadata() {
  std::string topic = make_topic(3);
  Kafka kafka = client(RD_KAFKA_PRODUCER, {});
  const rd_kafka_metadata_t* found = nullptr;
  require(rd_kafka_metadata(kafka.get(), 1, nullptr, &found, kLimitMs), "metadata");
  require(found->broker_cnt == 1, "one broker");
  require(rd_kafka_controllerid(kafka.get(), kLimitMs) == found->brokers[0].id, "the controller");
  std::span topics(found->topics, static_cast<std::size_t>(found->topic_cnt));
  auto ours = std::ranges::find_if(topics, [&](const auto& one) { return topic == one.topic; });
  require(ours != topics.end() && ours->partition_cnt == 3, "three partitions");
  require(ours->partitions[2].leader == found->brokers[0].id, "the leader");
  rd_kafka_metadata_destroy(found);
}

struct Check {
  std::string feature;
  std::function<void()> run;
  std::string why = {};  // it is skipped; then there is nothing to run
};

const std::string kNoShare = "librdkafka 2.0 has no share groups";
const std::vector<Check> kChecks = {
    {"produce.codecs", codecs},
    {"produce.headers", headers},
    {"produce.nulls", nulls},
    {"produce.idempotent", idempotent},
    {"txn.commit", commits_transactions},
    {"txn.abort", aborts_transactions},
    {"txn.offsets", transaction_offsets},
    {"consume.group.classic", group},
    {"consume.group.consumer", {}, "librdkafka 2.0 has no consumer protocol"},
    {"consume.commit", commit_and_resume},
    {"consume.read_committed", reads_committed},
    {"admin.topics", admin_topics},
    {"admin.configs", admin_configs},
    {"admin.groups", admin_groups},
    {"admin.offsets", admin_offsets},
    {"admin.delete_records", admin_delete_records},
    {"share.consume", {}, kNoShare},
    {"share.acknowledge", {}, kNoShare},
    {"metadata", metadata},
};

bool chosen(const std::string& feature, std::span<char*> names) {
  return names.empty() || std::ranges::any_of(names, [&](const std::string& name) {
           return feature == name || feature.starts_with(name + ".");
         });
}

// Why it failed; empty is passed.
std::string try_it(const Check& check, std::counting_semaphore<>& free) {
  free.acquire();
  std::string why;
  try {
    check.run();
  } catch (const std::exception& error) {
    why = error.what();
  }
  free.release();
  return why;
}

int run(std::span<char*> names) {
  std::cout << "client librdkafka " << rd_kafka_version_str() << std::endl;
  std::counting_semaphore<> free(5);  // checks mostly wait
  std::vector<std::pair<const Check*, std::future<std::string>>> started;
  for (const Check& check : kChecks) {
    if (chosen(check.feature, names)) {
      started.emplace_back(
          &check, check.run == nullptr
                      ? std::future<std::string>()
                      : std::async(std::launch::async, try_it, std::cref(check), std::ref(free)));
    }
  }
  int passed = 0;
  int failed = 0;
  int skipped = 0;
  for (auto& [check, result] : started) {
    std::string why = result.valid() ? result.get() : check->why;
    if (check->run == nullptr) {
      ++skipped;
      std::cout << "skipped " << check->feature << ": " << why << std::endl;
    } else if (!why.empty()) {
      ++failed;
      std::cout << "failed " << check->feature << ": " << why << std::endl;
    } else {
      ++passed;
      std::cout << "passed " << check->feature << std::endl;
    }
  }
  std::cout << passed << " passed, " << failed << " failed, " << skipped << " skipped" << std::endl;
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace compat

int main(int argc, char** argv) {
  std::span arguments(argv, static_cast<std::size_t>(argc));
  if (arguments.size() < 2) {
    std::cerr << "usage: checks BOOTSTRAP [FEATURE…]\n";
    return 2;
  }
  compat::set_bootstrap(arguments[1]);
  return compat::run(arguments.subspan(2));
}
