// Ackord on a data directory of a single-node Kafka 4.4, stopped or killed, and again after a
// restart of its own: clients find what Kafka would have served.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"
#include "protocol/generated/describe_cluster_request.h"
#include "protocol/generated/describe_cluster_response.h"
#include "protocol/generated/describe_configs_request.h"
#include "protocol/generated/describe_configs_response.h"
#include "protocol/generated/describe_producers_request.h"
#include "protocol/generated/describe_producers_response.h"
#include "protocol/generated/describe_transactions_request.h"
#include "protocol/generated/describe_transactions_response.h"
#include "protocol/generated/describe_user_scram_credentials_request.h"
#include "protocol/generated/describe_user_scram_credentials_response.h"
#include "protocol/generated/init_producer_id_request.h"
#include "protocol/generated/init_producer_id_response.h"
#include "protocol/generated/metadata_request.h"
#include "protocol/generated/metadata_response.h"
#include "tests/integration/kafka_data/kafka_data.h"
#include "tests/integration/support/share_member.h"

namespace ackord::integration {
namespace {

namespace json = boost::json;
using ::testing::ContainerEq;
using ::testing::Contains;
using ::testing::HasSubstr;

enum class Start { kFirst, kAfterStop, kAfterKill };
struct Case {
  const char* archive;
  Start start;
};

std::string name_of(const Case& one) {
  constexpr const char* kStarts[] = {"", "_Stopped", "_Killed"};
  return std::string(one.archive) + kStarts[static_cast<int>(one.start)];
}

class KafkaDataServed : public ::testing::TestWithParam<Case> {
 protected:
  // One broker for all tests of a case; each test runs alone as well.
  static KafkaData& served() {
    std::unique_ptr<KafkaData>& data = all()[name_of(GetParam())];
    if (data) return *data;
    data = std::make_unique<KafkaData>(GetParam().archive);
    if (GetParam().start == Start::kFirst) return *data;
    // A marker that was written before the end, and the record of it not, is written again.
    for (const auto& [id, expected] : object_in(data->expected(), "transactions"))
      await_transaction_state(data->client(), std::string(id), text(expected.as_object(), "state"));
    if (GetParam().start == Start::kAfterStop) data->restart_after_stop();
    if (GetParam().start == Start::kAfterKill) data->restart_after_kill();
    return *data;
  }
  static std::map<std::string, std::unique_ptr<KafkaData>>& all() {
    static std::map<std::string, std::unique_ptr<KafkaData>> data;
    return data;
  }
  static void TearDownTestSuite() { all().clear(); }

  // Every partition of every topic that clients have.
  template <class Visit>
  static void for_each_partition(Visit visit) {
    for (const auto& [name, topic] : object_in(served().expected(), "topics")) {
      const json::object& of = topic.as_object();
      for (const json::value& partition : array_in(of, "partitions"))
        visit(std::string(name), partition.as_object(), of.contains("varies"));
    }
  }
};

Lines configs_of(RawClient& client, int8_t type, const std::string& resource, int8_t source) {
  protocol::DescribeConfigsRequest request;
  auto& asked = request.resources.emplace_back();
  asked.resource_type = type;
  asked.resource_name = resource;
  asked.configuration_keys.reset();
  auto answer = client.call<protocol::DescribeConfigsResponse>(request, 4);
  const auto& result = answer.message.results.at(0);
  require_none(result.error_code, "DescribeConfigs of " + resource);
  Lines lines;
  for (const auto& config : result.configs) {
    if (config.config_source == source)
      lines.push_back(config.name.str() + "=" + config.value.value_or(String("null")).str());
  }
  return lines;
}

Lines lines_of(const json::object& configs) {
  Lines lines;
  for (const auto& [name, value] : configs)
    lines.push_back(std::string(name) + "=" + std::string(value.as_string()));
  return lines;
}

TEST_P(KafkaDataServed, ClusterAndFeatures) {
  auto cluster = served().client().call<protocol::DescribeClusterResponse>(
      protocol::DescribeClusterRequest(), 1);
  EXPECT_EQ(cluster.message.cluster_id.str(), text(served().expected(), "cluster_id"));
  protocol::ApiVersionsRequest request;
  request.client_software_name = "integration";
  request.client_software_version = "1";
  auto versions = served().client().call<protocol::ApiVersionsResponse>(request, 4);
  std::map<std::string, int64_t> finalized;
  for (const auto& feature : versions.message.finalized_features)
    finalized[feature.name.str()] = feature.max_version_level;
  std::map<std::string, int64_t> expected;
  for (const auto& [name, level] : object_in(served().expected(), "features"))
    expected[std::string(name)] = level.to_number<int64_t>();
  // What Ackord does not serve is not claimed, and is named at the start.
  for (const auto& [name, level] : expected) {
    const auto found = finalized.find(name);
    if (name == "kraft.version") continue;  // of the quorum, which is one node
    if (found == finalized.end()) {
      EXPECT_THAT(served().broker().output(),
                  HasSubstr("feature not served name=" + name + " level=" + std::to_string(level)));
    } else {
      EXPECT_EQ(found->second, level) << name;
    }
  }
  for (const char* name : {"metadata.version", "share.version", "transaction.version"})
    EXPECT_TRUE(finalized.contains(name)) << name;
}

// What would not be served would be named.
TEST_P(KafkaDataServed, EveryRecordIsServed) {
  EXPECT_EQ(served().broker().output().find("records not served"), std::string::npos);
}

TEST_P(KafkaDataServed, Acls) {
  EXPECT_EQ(acls(served().client()), acls(array_in(served().expected(), "acls")));
}

TEST_P(KafkaDataServed, ScramUsers) {
  const auto answer = served().client().call<protocol::DescribeUserScramCredentialsResponse>(
      protocol::DescribeUserScramCredentialsRequest(), 0);
  std::map<std::string, std::map<std::string, int64_t>> found;
  for (const auto& user : answer.message.results) {
    for (const auto& info : user.credential_infos)
      found[user.user.str()][info.mechanism == 1 ? "SCRAM-SHA-256" : "SCRAM-SHA-512"] =
          info.iterations;
  }
  std::map<std::string, std::map<std::string, int64_t>> expected;
  if (const auto* users = served().expected().if_contains("scram_users")) {
    for (const auto& [user, credentials] : users->as_object()) {
      for (const json::value& credential : credentials.as_array()) {
        expected[std::string(user)][std::string(credential.at("mechanism").as_string())] =
            credential.at("iterations").to_number<int64_t>();
      }
    }
  }
  EXPECT_EQ(found, expected);
}

TEST_P(KafkaDataServed, TopicsWithIdsPartitionsAndConfigs) {
  protocol::MetadataRequest request;
  request.topics.reset();
  auto answer = served().client().call<protocol::MetadataResponse>(request, 12);
  std::map<std::string, std::string> found;
  for (const auto& topic : answer.message.topics) {
    found[topic.name->str()] =
        topic.topic_id.to_string() + " " + std::to_string(topic.partitions.size());
    for (const auto& partition : topic.partitions)
      EXPECT_EQ(partition.leader_id.value, 1) << topic.name->str();
  }
  std::map<std::string, std::string> expected;
  for (const char* kind : {"topics", "internal_topics"}) {
    for (const auto& [name, topic] : object_in(served().expected(), kind)) {
      const json::object& of = topic.as_object();
      expected[std::string(name)] =
          text(of, "topic_id") + " " + std::to_string(number(of, "partition_count"));
      constexpr int8_t kTopic = 2;
      constexpr int8_t kDynamicTopic = 1;
      EXPECT_THAT(configs_of(served().client(), kTopic, std::string(name), kDynamicTopic),
                  ::testing::UnorderedElementsAreArray(lines_of(object_in(of, "configs"))))
          << name;
    }
  }
  EXPECT_EQ(found, expected);
}

TEST_P(KafkaDataServed, ConfigsOfBrokersAndGroups) {
  for (const auto& [name, configs] : object_in(served().expected(), "configs")) {
    const std::string resource(name.substr(name.find(':') + 1));
    int8_t type = 0;
    int8_t source = 0;
    if (name.starts_with("BROKER:")) {
      type = 4;
      source = resource.empty() ? 3 : 2;
    } else if (name.starts_with("GROUP:")) {
      type = 32;
      source = 8;
    } else {
      continue;  // client metrics: named at the start
    }
    const Lines found = configs_of(served().client(), type, resource, source);
    for (const std::string& line : lines_of(configs.as_object())) {
      const bool known = std::find(found.begin(), found.end(), line) != found.end();
      // What Ackord has no use for is named at the start.
      const std::string config = "name=" + line.substr(0, line.find('='));
      EXPECT_NE(known, served().broker().output().find(config) != std::string::npos)
          << name << " " << line;
    }
    EXPECT_LE(found.size(), configs.as_object().size()) << name;
  }
}

// Transactions whose timeout has passed are aborted, prepared ones completed.
TEST_P(KafkaDataServed, Transactions) {
  for (const auto& [id, expected] : object_in(served().expected(), "transactions")) {
    const json::object& of = expected.as_object();
    await_transaction_state(served().client(), std::string(id), text(of, "state"));
    protocol::DescribeTransactionsRequest request;
    request.transactional_ids.emplace_back(std::string(id));
    auto answer = served().client().call<protocol::DescribeTransactionsResponse>(request, 0);
    const auto& state = answer.message.transaction_states.at(0);
    EXPECT_EQ(state.producer_id.value, number(of, "producer_id")) << id;
    EXPECT_EQ(state.producer_epoch, number(of, "producer_epoch")) << id;
    EXPECT_EQ(state.transaction_timeout_ms, number(of, "timeout_ms")) << id;
    EXPECT_EQ(state.transaction_start_time_ms, number(of, "start_time_ms")) << id;
    Lines partitions;
    for (const auto& topic : state.topics) {
      for (const int32_t partition : topic.partitions)
        partitions.push_back(topic.topic.str() + "-" + std::to_string(partition));
    }
    Lines wanted;
    for (const json::value& one : array_in(of, "partitions")) wanted.emplace_back(one.as_string());
    EXPECT_THAT(partitions, ::testing::UnorderedElementsAreArray(wanted)) << id;
  }
}

TEST_P(KafkaDataServed, OffsetsOfPartitions) {
  RawClient& client = served().client();
  for_each_partition([&](const std::string& topic, const json::object& of, bool varies) {
    const auto partition = static_cast<int32_t>(number(of, "partition"));
    SCOPED_TRACE(topic + "-" + std::to_string(partition));
    EXPECT_EQ(list_offset(client, topic, partition, kEarliest).offset,
              number(of, "log_start_offset"));
    const auto end = [&](Isolation isolation) {
      return list_offset(client, topic, partition, kLatest, isolation).offset;
    };
    if (const json::value* range = of.if_contains("end_offset_range")) {
      poll_until("markers", [&] {
        return end(Isolation::kReadCommitted) == end(Isolation::kReadUncommitted);
      });
      EXPECT_GE(end(Isolation::kReadUncommitted), range->as_array().at(0).to_number<int64_t>());
      EXPECT_LE(end(Isolation::kReadUncommitted), range->as_array().at(1).to_number<int64_t>());
    } else {
      poll_until("the end and the last stable offset", [&] {
        return end(Isolation::kReadUncommitted) == number(of, "end_offset") &&
               end(Isolation::kReadCommitted) == number(of, "lso");
      });
    }
    // Where no record is left, Kafka still tells one below the log's start.
    if (varies || number(of, "log_start_offset") == number(of, "end_offset")) return;
    const ListedOffset newest = list_offset(client, topic, partition, kMaxTimestamp);
    const json::array& expected = array_in(of, "max_timestamp");
    EXPECT_EQ(newest.offset, expected.at(0).to_number<int64_t>());
    EXPECT_EQ(newest.timestamp, expected.at(1).to_number<int64_t>());
    for (const json::value& row : array_in(of, "offsets_for_times")) {
      const json::array& one = row.as_array();
      const auto time = one.at(0).to_number<int64_t>();
      const ListedOffset at = list_offset(client, topic, partition, time);
      EXPECT_EQ(at.offset, one.at(1).to_number<int64_t>()) << time;
      if (one.size() > 2) {
        EXPECT_EQ(at.timestamp, one.at(2).to_number<int64_t>()) << time;
      }
    }
  });
}

TEST_P(KafkaDataServed, Records) {
  for_each_partition([&](const std::string& topic, const json::object& of, bool) {
    const auto partition = static_cast<int32_t>(number(of, "partition"));
    EXPECT_EQ(served().records(topic, partition), served().expected_records(of))
        << topic << "-" << partition;
  });
}

TEST_P(KafkaDataServed, Producers) {
  for_each_partition([&](const std::string& topic, const json::object& of, bool varies) {
    protocol::DescribeProducersRequest request;
    auto& asked = request.topics.emplace_back();
    asked.name = TopicName(topic);
    asked.partition_indexes.push_back(static_cast<int32_t>(number(of, "partition")));
    auto answer = served().client().call<protocol::DescribeProducersResponse>(request, 0);
    const auto& result = answer.message.topics.at(0).partitions.at(0);
    require_none(result.error_code, "DescribeProducers");
    const auto line = [varies](int64_t id, int64_t epoch, int64_t sequence, int64_t timestamp,
                               int64_t coordinator, int64_t start) {
      std::string text = std::to_string(id) + " epoch " + std::to_string(epoch) + " sequence " +
                         std::to_string(sequence) + " open since " + std::to_string(start);
      if (varies) return text;
      return text + " at " + std::to_string(timestamp) + " by " + std::to_string(coordinator);
    };
    // Kafka had forgotten those whose last record was a day old by then; here they are kept.
    constexpr TimeMs kWritten = 1795968000000;
    constexpr TimeMs kDay = 86400000;
    Lines found;
    for (const auto& one : result.active_producers) {
      if (one.last_timestamp < kWritten - kDay && one.current_txn_start_offset < 0) continue;
      found.push_back(line(one.producer_id.value, one.producer_epoch, one.last_sequence,
                           one.last_timestamp, one.coordinator_epoch,
                           one.current_txn_start_offset));
    }
    Lines expected;
    for (const json::value& value : array_in(of, "producers")) {
      const json::object& one = value.as_object();
      const auto or_none = [&one](const char* name) {
        return one.at(name).is_null() ? -1 : number(one, name);
      };
      expected.push_back(line(number(one, "producer_id"), number(one, "producer_epoch"),
                              number(one, "last_sequence"), number(one, "last_timestamp"),
                              or_none("coordinator_epoch"), or_none("txn_start_offset")));
    }
    EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(expected))
        << topic << "-" << number(of, "partition");
  });
}

TEST_P(KafkaDataServed, CommittedOffsets) {
  for (const auto& [group, expected] : object_in(served().expected(), "groups")) {
    const json::object& of = expected.as_object();
    if (text(of, "type") == "Share") continue;
    for (const bool require_stable : {false, true}) {
      Lines wanted;
      for (const auto& [partition, offset] : object_in(of, "offsets")) {
        std::string line(partition);
        const json::value& stable = of.at("require_stable");
        if (require_stable && stable.is_object() && text(stable.as_object(), partition) != "OK") {
          line += " " + text(stable.as_object(), partition);
        } else {
          const json::object& one = offset.as_object();
          const json::value& epoch = one.at("leader_epoch");
          line += " " + std::to_string(number(one, "offset")) + " epoch " +
                  std::to_string(epoch.is_null() ? -1 : epoch.to_number<int64_t>()) + " '" +
                  text(one, "metadata") + "'";
        }
        wanted.push_back(std::move(line));
      }
      EXPECT_THAT(committed_offsets(served().client(), std::string(group), require_stable),
                  ::testing::UnorderedElementsAreArray(wanted))
          << group << (require_stable ? ", stable ones" : "");
    }
  }
}

// Those that were ever set.
TEST_P(KafkaDataServed, ShareGroupOffsets) {
  for (const auto& [group, expected] : object_in(served().expected(), "groups")) {
    const json::object& of = expected.as_object();
    if (text(of, "type") != "Share") continue;
    Lines wanted;
    for (const auto& [partition, offset] : object_in(of, "offsets")) {
      if (offset.is_null()) continue;
      const json::object& one = offset.as_object();
      wanted.push_back(std::string(partition) + " " + std::to_string(number(one, "start_offset")) +
                       " lag " + std::to_string(number(one, "lag")));
    }
    EXPECT_THAT(share_offsets(served().client(), std::string(group)),
                ::testing::UnorderedElementsAreArray(wanted))
        << group;
  }
}

// Each record's first delivery to a new member, with its delivery count. It changes what is in the
// directory: no other test looks at it.
TEST_P(KafkaDataServed, ShareGroupsDeliverWhatIsLeft) {
  for (const auto& [group, topics] : object_in(served().expected(), "share_next_delivery")) {
    ShareMember member(served().broker().port(), std::string(group));
    std::map<std::string, Topic> subscribed;
    for (const auto& [partition, deliveries] : topics.as_object()) {
      const std::string name(partition.substr(0, partition.rfind('-')));
      subscribed[name] = find_topic(served().client(), name);
    }
    std::vector<Topic> list;
    for (const auto& [name, topic] : subscribed) list.push_back(topic);
    member.join(list);
    for (const auto& [partition, deliveries] : topics.as_object()) {
      const size_t dash = partition.rfind('-');
      Lines wanted;
      for (const json::value& one : deliveries.as_array())
        wanted.push_back(std::to_string(one.as_array().at(0).to_number<int64_t>()) + " x" +
                         std::to_string(one.as_array().at(1).to_number<int64_t>()));
      Lines found;
      for (const OffsetRange& range :
           member.acquire(subscribed.at(std::string(partition.substr(0, dash))),
                          std::stoi(std::string(partition.substr(dash + 1))),
                          static_cast<int64_t>(wanted.size()))) {
        for (Offset offset = range.first; offset <= range.last; ++offset)
          found.push_back(std::to_string(offset) + " x" + std::to_string(range.delivery_count));
      }
      EXPECT_EQ(found, wanted) << group << " " << partition;
    }
  }
}

// An id that Kafka has handed out is never handed out again.
TEST_P(KafkaDataServed, ProducerIdsGoOnWhereKafkaStopped) {
  protocol::InitProducerIdRequest request;
  request.transactional_id.reset();
  request.transaction_timeout_ms = 1000;
  auto answer = served().client().call<protocol::InitProducerIdResponse>(request, 4);
  require_none(answer.message.error_code, "InitProducerId");
  EXPECT_GE(
      answer.message.producer_id.value,
      number(object_in(object_in(served().expected(), "at_rest"), "metadata"), "next_producer_id"));
}

INSTANTIATE_TEST_SUITE_P(
    Archives, KafkaDataServed,
    ::testing::Values(Case{"standalone", Start::kFirst}, Case{"clean", Start::kFirst},
                      Case{"unclean", Start::kFirst}, Case{"clean", Start::kAfterStop},
                      Case{"unclean", Start::kAfterStop}, Case{"clean", Start::kAfterKill},
                      Case{"unclean", Start::kAfterKill}),
    [](const auto& info) { return name_of(info.param); });

}  // namespace
}  // namespace ackord::integration
