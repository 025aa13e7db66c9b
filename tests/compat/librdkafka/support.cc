#include "support.h"

#include <random>

namespace compat {
namespace {

std::string bootstrap_servers;

Bytes bytes(const void* data, std::size_t size) {
  if (data == nullptr) {
    return std::nullopt;
  }
  return std::string(static_cast<const char*>(data), size);
}

// Each message's opaque is the place of its verdict.
void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  *static_cast<rd_kafka_resp_err_t*>(message->_private) = message->err;
}

Message copy(const rd_kafka_message_t* from) {
  Message message{.key = bytes(from->key, from->key_len),
                  .value = bytes(from->payload, from->len),
                  .headers = {},
                  .partition = from->partition};
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(from, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         ++i) {
      message.headers.emplace_back(name, bytes(value, size));
    }
  }
  return message;
}

}  // namespace

void require(bool holds, const std::string& what) {
  if (!holds) {
    throw Failure(what);
  }
}

void require(rd_kafka_resp_err_t error, const std::string& what) {
  require(error == RD_KAFKA_RESP_ERR_NO_ERROR, what + ": " + rd_kafka_err2str(error));
}

void require(rd_kafka_error_t* error, const std::string& what) {
  std::unique_ptr<rd_kafka_error_t, decltype(&rd_kafka_error_destroy)> owner(
      error, rd_kafka_error_destroy);
  require(static_cast<const rd_kafka_error_t*>(error), what);
}

void require(const rd_kafka_error_t* error, const std::string& what) {
  if (error != nullptr) {
    throw Failure(what + ": " + rd_kafka_error_string(error));
  }
}

void until(const std::string& what, const std::function<bool()>& holds) {
  auto end = std::chrono::steady_clock::now() + kLimit;
  while (!holds()) {
    require(std::chrono::steady_clock::now() < end, "not in time: " + what);
  }
}

std::string fresh(const std::string& prefix) {
  std::random_device random;
  return prefix + "-" + std::to_string(random()) + std::to_string(random());
}

void set_bootstrap(std::string bootstrap) { bootstrap_servers = std::move(bootstrap); }

Kafka client(rd_kafka_type_t type, const Config& config) {
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char error[512];
  Config all = {{"bootstrap.servers", bootstrap_servers}};
  all.insert(all.end(), config.begin(), config.end());
  for (const auto& [name, value] : all) {
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), error, sizeof error) !=
        RD_KAFKA_CONF_OK) {
      rd_kafka_conf_destroy(conf);
      throw Failure(error);
    }
  }
  if (type == RD_KAFKA_PRODUCER) {
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
  }
  Kafka kafka(rd_kafka_new(type, conf, error, sizeof error), rd_kafka_destroy);
  require(kafka != nullptr, error);
  if (type == RD_KAFKA_CONSUMER) {
    rd_kafka_poll_set_consumer(kafka.get());
  }
  return kafka;
}

Partitions partitions() {
  return {rd_kafka_topic_partition_list_new(4), rd_kafka_topic_partition_list_destroy};
}

Partitions at(const std::string& topic, std::int32_t partition, std::int64_t offset) {
  Partitions list = partitions();
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = offset;
  return list;
}

void send(rd_kafka_t* producer, const std::string& topic, const std::vector<Message>& messages) {
  std::vector<rd_kafka_resp_err_t> verdicts(messages.size(), RD_KAFKA_RESP_ERR__IN_PROGRESS);
  auto data = [](const Bytes& from) {
    return from ? const_cast<char*>(from->data()) : nullptr;  // librdkafka copies it
  };
  auto size = [](const Bytes& from) { return from ? from->size() : 0; };
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& one = messages[i];
    rd_kafka_headers_t* headers = rd_kafka_headers_new(one.headers.size());
    for (const auto& [name, value] : one.headers) {
      rd_kafka_header_add(headers, name.c_str(), -1, data(value),
                          static_cast<ssize_t>(size(value)));
    }
    require(
        rd_kafka_producev(
            producer, RD_KAFKA_V_TOPIC(topic.c_str()), RD_KAFKA_V_PARTITION(one.partition),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(data(one.key), size(one.key)),
            RD_KAFKA_V_VALUE(data(one.value), size(one.value)), RD_KAFKA_V_HEADERS(headers),
            RD_KAFKA_V_OPAQUE(&verdicts[i]), RD_KAFKA_V_END),
        "produce");
  }
  require(rd_kafka_flush(producer, kLimitMs), "flush");
  for (rd_kafka_resp_err_t verdict : verdicts) {
    require(verdict, "delivery");
  }
}

void produce(const std::string& topic, const std::vector<Message>& messages, const Config& config) {
  Kafka producer = client(RD_KAFKA_PRODUCER, config);
  send(producer.get(), topic, messages);
}

std::optional<Message> poll(rd_kafka_t* consumer) {
  std::unique_ptr<rd_kafka_message_t, decltype(&rd_kafka_message_destroy)> message(
      rd_kafka_consumer_poll(consumer, 50), rd_kafka_message_destroy);
  if (message == nullptr) {
    return std::nullopt;
  }
  require(message->err, "poll");
  return copy(message.get());
}

std::vector<Message> take(rd_kafka_t* consumer, std::size_t count) {
  std::vector<Message> all;
  until(std::to_string(count) + " messages", [&] {
    if (std::optional<Message> one = poll(consumer)) {
      all.push_back(std::move(*one));
    }
    return all.size() >= count;
  });
  return all;
}

std::vector<Message> read(const std::string& topic, std::size_t count, Config config) {
  config.emplace_back("group.id", fresh("reader"));
  config.emplace_back("enable.auto.commit", "false");
  Kafka consumer = client(RD_KAFKA_CONSUMER, config);
  require(rd_kafka_assign(consumer.get(), at(topic, 0, RD_KAFKA_OFFSET_BEGINNING).get()), "assign");
  return take(consumer.get(), count);
}

std::vector<std::string> values(const std::vector<Message>& messages) {
  std::vector<std::string> all;
  for (const Message& one : messages) {
    all.push_back(one.value.value_or("null"));
  }
  return all;
}

Kafka member(const std::string& group, const std::string& topic) {
  Kafka consumer = client(RD_KAFKA_CONSUMER, {{"group.id", group},
                                              {"enable.auto.commit", "false"},
                                              {"auto.offset.reset", "earliest"},
                                              {"heartbeat.interval.ms", "200"}});
  require(rd_kafka_subscribe(consumer.get(), at(topic, -1, RD_KAFKA_OFFSET_INVALID).get()),
          "subscribe");
  return consumer;
}

int assigned(rd_kafka_t* consumer) {
  rd_kafka_topic_partition_list_t* list = nullptr;
  require(rd_kafka_assignment(consumer, &list), "assignment");
  int count = list->cnt;
  rd_kafka_topic_partition_list_destroy(list);
  return count;
}

void admin(const AdminCall& call, const std::function<void(rd_kafka_event_t*)>& look) {
  Kafka kafka = client(RD_KAFKA_PRODUCER, {});
  std::unique_ptr<rd_kafka_queue_t, decltype(&rd_kafka_queue_destroy)> queue(
      rd_kafka_queue_new(kafka.get()), rd_kafka_queue_destroy);
  std::unique_ptr<rd_kafka_AdminOptions_t, decltype(&rd_kafka_AdminOptions_destroy)> options(
      rd_kafka_AdminOptions_new(kafka.get(), RD_KAFKA_ADMIN_OP_ANY), rd_kafka_AdminOptions_destroy);
  call(kafka.get(), options.get(), queue.get());
  std::unique_ptr<rd_kafka_event_t, decltype(&rd_kafka_event_destroy)> event(
      rd_kafka_queue_poll(queue.get(), kLimitMs), rd_kafka_event_destroy);
  require(event != nullptr, "no answer in time");
  require(rd_kafka_event_error(event.get()), "admin");
  look(event.get());
}

std::string make_topic(int partitions) {
  std::string name = fresh("topic");
  admin(
      [&](rd_kafka_t* kafka, rd_kafka_AdminOptions_t* options, rd_kafka_queue_t* queue) {
        rd_kafka_NewTopic_t* topic = rd_kafka_NewTopic_new(name.c_str(), partitions, 1, nullptr, 0);
        rd_kafka_CreateTopics(kafka, &topic, 1, options, queue);
        rd_kafka_NewTopic_destroy(topic);
      },
      [](rd_kafka_event_t* event) {
        std::size_t count = 0;
        const rd_kafka_topic_result_t** results =
            rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
        require(rd_kafka_topic_result_error(results[0]), "create topic");
      });
  until("the topic in the metadata", [&] { return partition_count(name) == partitions; });
  return name;
}

int partition_count(const std::string& topic) {
  // Of all topics, so that asking does not create it.
  Kafka kafka = client(RD_KAFKA_PRODUCER, {});
  const rd_kafka_metadata_t* metadata = nullptr;
  require(rd_kafka_metadata(kafka.get(), 1, nullptr, &metadata, kLimitMs), "metadata");
  int count = 0;
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    if (topic == metadata->topics[i].topic) {
      count = metadata->topics[i].partition_cnt;
    }
  }
  rd_kafka_metadata_destroy(metadata);
  return count;
}

}  // namespace compat
