// What the checks share: a thin hold on librdkafka's C API, in which an error ends the check (an
// exception).
#pragma once

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace compat {

inline constexpr std::chrono::seconds kLimit{30};  // of each wait
inline constexpr int kLimitMs = 30'000;

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void require(bool holds, const std::string& what);
void require(rd_kafka_resp_err_t error, const std::string& what);
// For the calls that return an error object: one of their own is destroyed, one within a result is
// not.
void require(rd_kafka_error_t* error, const std::string& what);
void require(const rd_kafka_error_t* error, const std::string& what);

// Asks again until it holds; the condition itself waits (a poll).
void until(const std::string& what, const std::function<bool()>& holds);

std::string fresh(const std::string& prefix);  // a name that nobody else has

using Config = std::vector<std::pair<std::string, std::string>>;
using Kafka = std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)>;
using Partitions = std::unique_ptr<rd_kafka_topic_partition_list_t,
                                   decltype(&rd_kafka_topic_partition_list_destroy)>;

void set_bootstrap(std::string bootstrap);
Kafka client(rd_kafka_type_t type, const Config& config);

Partitions partitions();
// One partition at an offset.
Partitions at(const std::string& topic, std::int32_t partition, std::int64_t offset);

using Bytes = std::optional<std::string>;  // none is null
struct Message {
  Bytes key;
  Bytes value;
  std::vector<std::pair<std::string, Bytes>> headers;
  std::int32_t partition = 0;
};

// Sends and waits until all are acknowledged.
void send(rd_kafka_t* producer, const std::string& topic, const std::vector<Message>& messages);
// The same with a producer of its own.
void produce(const std::string& topic, const std::vector<Message>& messages,
             const Config& config = {});

// The next message that a poll brings within a short time.
std::optional<Message> poll(rd_kafka_t* consumer);
std::vector<Message> take(rd_kafka_t* consumer, std::size_t count);
// Takes count messages from the start of partition 0.
std::vector<Message> read(const std::string& topic, std::size_t count, Config config = {});
std::vector<std::string> values(const std::vector<Message>& messages);

// A member of a classic group.
Kafka member(const std::string& group, const std::string& topic);
int assigned(rd_kafka_t* consumer);

// One call of the admin API: makes it, waits for its event, whose error ends the check, and looks
// at it.
using AdminCall = std::function<void(rd_kafka_t*, rd_kafka_AdminOptions_t*, rd_kafka_queue_t*)>;
void admin(const AdminCall& call, const std::function<void(rd_kafka_event_t*)>& look);

std::string make_topic(int partitions = 1);
int partition_count(const std::string& topic);  // 0 where there is no such topic

}  // namespace compat
