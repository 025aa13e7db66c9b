#include "tools/demo/kafka.h"

#include <set>

namespace ackord::demo {

Result<Handle> make_client(rd_kafka_type_t type,
                           const std::vector<std::pair<const char*, std::string>>& options) {
  char problem[512];
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  for (const auto& [name, value] : options) {
    if (rd_kafka_conf_set(conf, name, value.c_str(), problem, sizeof problem) != RD_KAFKA_CONF_OK) {
      rd_kafka_conf_destroy(conf);
      return error(ErrorCode::INVALID_CONFIG, problem);
    }
  }
  Handle handle(rd_kafka_new(type, conf, problem, sizeof problem));
  if (!handle) {
    rd_kafka_conf_destroy(conf);
    return error(ErrorCode::INVALID_CONFIG, problem);
  }
  return handle;
}

Result<int64_t> offset_span(const std::string& bootstrap, const std::string& topic,
                            int32_t partition, const client::Deadline& deadline) {
  Result<Handle> consumer = make_client(RD_KAFKA_CONSUMER, {{"bootstrap.servers", bootstrap}});
  if (!consumer) return consumer.error();
  int64_t low = 0;
  int64_t high = 0;
  const rd_kafka_resp_err_t code =
      rd_kafka_query_watermark_offsets(consumer->get(), topic.c_str(), partition, &low, &high,
                                       static_cast<int>(deadline.left().count()));
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return error(ErrorCode::UNKNOWN_SERVER_ERROR, rd_kafka_err2str(code));
  }
  return high - low;
}

Result<void> read_committed(const std::string& bootstrap, const std::string& topic,
                            int32_t partitions, const client::Deadline& deadline,
                            const std::function<void(Message)>& each) {
  Result<Handle> consumer = make_client(RD_KAFKA_CONSUMER, {{"bootstrap.servers", bootstrap},
                                                            {"group.id", "verifier"},
                                                            {"isolation.level", "read_committed"},
                                                            {"enable.partition.eof", "true"},
                                                            {"enable.auto.commit", "false"}});
  if (!consumer) return consumer.error();
  rd_kafka_poll_set_consumer(consumer->get());
  rd_kafka_topic_partition_list_t* all = rd_kafka_topic_partition_list_new(partitions);
  std::set<int32_t> open;
  for (int32_t partition = 0; partition < partitions; ++partition) {
    rd_kafka_topic_partition_list_add(all, topic.c_str(), partition)->offset = 0;
    open.insert(partition);
  }
  rd_kafka_assign(consumer->get(), all);
  rd_kafka_topic_partition_list_destroy(all);
  while (!open.empty()) {
    if (deadline.passed()) return error(ErrorCode::REQUEST_TIMED_OUT, "reading " + topic);
    rd_kafka_message_t* message = rd_kafka_consumer_poll(consumer->get(), 200);
    if (message == nullptr) continue;
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      open.erase(message->partition);
    } else if (!message->err) {
      each({message->partition, message->offset,
            std::string(static_cast<const char*>(message->key), message->key_len),
            std::string(static_cast<const char*>(message->payload), message->len)});
    }
    rd_kafka_message_destroy(message);
  }
  rd_kafka_consumer_close(consumer->get());
  return {};
}

}  // namespace ackord::demo
