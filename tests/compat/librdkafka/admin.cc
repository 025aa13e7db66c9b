#include "admin.h"

#include <algorithm>

#include "support.h"

namespace compat {
namespace {

using Options = rd_kafka_AdminOptions_t;

std::string retention(const std::string& topic) {
  std::string found;
  admin(
      [&](rd_kafka_t* kafka, Options* options, rd_kafka_queue_t* queue) {
        rd_kafka_ConfigResource_t* resource =
            rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str());
        rd_kafka_DescribeConfigs(kafka, &resource, 1, options, queue);
        rd_kafka_ConfigResource_destroy(resource);
      },
      [&](rd_kafka_event_t* event) {
        std::size_t count = 0;
        const rd_kafka_ConfigResource_t** resources = rd_kafka_DescribeConfigs_result_resources(
            rd_kafka_event_DescribeConfigs_result(event), &count);
        require(rd_kafka_ConfigResource_error(resources[0]), "describe configs");
        const rd_kafka_ConfigEntry_t** entries =
            rd_kafka_ConfigResource_configs(resources[0], &count);
        for (std::size_t i = 0; i < count; ++i) {
          if (std::string(rd_kafka_ConfigEntry_name(entries[i])) == "retention.ms") {
            found = rd_kafka_ConfigEntry_value(entries[i]);
          }
        }
      });
  return found;
}

// Empty is "not set", with which AlterConfigs brings the default back.
void alter_retention(const std::string& topic, const std::string& value) {
  admin(
      [&](rd_kafka_t* kafka, Options* options, rd_kafka_queue_t* queue) {
        rd_kafka_ConfigResource_t* resource =
            rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str());
        if (!value.empty()) {
          rd_kafka_ConfigResource_set_config(resource, "retention.ms", value.c_str());
        }
        rd_kafka_AlterConfigs(kafka, &resource, 1, options, queue);
        rd_kafka_ConfigResource_destroy(resource);
      },
      [](rd_kafka_event_t* event) {
        std::size_t count = 0;
        const rd_kafka_ConfigResource_t** resources = rd_kafka_AlterConfigs_result_resources(
            rd_kafka_event_AlterConfigs_result(event), &count);
        require(rd_kafka_ConfigResource_error(resources[0]), "alter configs");
      });
}

// A listed group's state.
std::optional<rd_kafka_consumer_group_state_t> listed(const std::string& group) {
  std::optional<rd_kafka_consumer_group_state_t> state;
  admin([](rd_kafka_t* kafka, Options* options,
           rd_kafka_queue_t* queue) { rd_kafka_ListConsumerGroups(kafka, options, queue); },
        [&](rd_kafka_event_t* event) {
          std::size_t count = 0;
          const rd_kafka_ConsumerGroupListing_t** groups = rd_kafka_ListConsumerGroups_result_valid(
              rd_kafka_event_ListConsumerGroups_result(event), &count);
          for (std::size_t i = 0; i < count; ++i) {
            if (group == rd_kafka_ConsumerGroupListing_group_id(groups[i])) {
              state = rd_kafka_ConsumerGroupListing_state(groups[i]);
            }
          }
        });
  return state;
}

void check_description(const std::string& group, const std::string& topic) {
  admin(
      [&](rd_kafka_t* kafka, Options* options, rd_kafka_queue_t* queue) {
        const char* name = group.c_str();
        rd_kafka_DescribeConsumerGroups(kafka, &name, 1, options, queue);
      },
      [&](rd_kafka_event_t* event) {
        std::size_t count = 0;
        const rd_kafka_ConsumerGroupDescription_t* found =
            rd_kafka_DescribeConsumerGroups_result_groups(
                rd_kafka_event_DescribeConsumerGroups_result(event), &count)[0];
        require(rd_kafka_ConsumerGroupDescription_member_count(found) == 1, "one member");
        const rd_kafka_topic_partition_list_t* has =
            rd_kafka_MemberAssignment_partitions(rd_kafka_MemberDescription_assignment(
                rd_kafka_ConsumerGroupDescription_member(found, 0)));
        require(has->cnt == 1 && topic == has->elems[0].topic, "it has the partition");
      });
}

// One group's result, of any call: neither the group nor a partition of it has an error.
template <typename Result>
const rd_kafka_group_result_t* only_group(const rd_kafka_group_result_t** (*groups)(const Result*,
                                                                                    std::size_t*),
                                          const Result* result) {
  std::size_t count = 0;
  const rd_kafka_group_result_t** found = groups(result, &count);
  require(count == 1, "one group's result");
  require(rd_kafka_group_result_error(found[0]), "group");
  const rd_kafka_topic_partition_list_t* list = rd_kafka_group_result_partitions(found[0]);
  for (int i = 0; list != nullptr && i < list->cnt; ++i) {
    require(list->elems[i].err, "partition");
  }
  return found[0];
}

void delete_group(const std::string& group) {
  admin(
      [&](rd_kafka_t* kafka, Options* options, rd_kafka_queue_t* queue) {
        rd_kafka_DeleteGroup_t* one = rd_kafka_DeleteGroup_new(group.c_str());
        rd_kafka_DeleteGroups(kafka, &one, 1, options, queue);
        rd_kafka_DeleteGroup_destroy(one);
      },
      [](rd_kafka_event_t* event) {
        only_group(rd_kafka_DeleteGroups_result_groups, rd_kafka_event_DeleteGroups_result(event));
      });
}

std::int64_t committed(const std::string& group, const std::string& topic) {
  std::int64_t offset = 0;
  admin(
      [&](rd_kafka_t* kafka, Options* options, rd_kafka_queue_t* queue) {
        rd_kafka_ListConsumerGroupOffsets_t* one = rd_kafka_ListConsumerGroupOffsets_new(
            group.c_str(), at(topic, 0, RD_KAFKA_OFFSET_INVALID).get());
        rd_kafka_ListConsumerGroupOffsets(kafka, &one, 1, options, queue);
        rd_kafka_ListConsumerGroupOffsets_destroy(one);
      },
      [&](rd_kafka_event_t* event) {
        const rd_kafka_group_result_t* group =
            only_group(rd_kafka_ListConsumerGroupOffsets_result_groups,
                       rd_kafka_event_ListConsumerGroupOffsets_result(event));
        offset = rd_kafka_group_result_partitions(group)->elems[0].offset;
      });
  return offset;
}

}  // namespace

void admin_topics() {
  std::string topic = make_topic(2);
  admin(
      [&](rd_kafka_t* kafka, Options* options, rd_kafka_queue_t* queue) {
        rd_kafka_NewPartitions_t* more = rd_kafka_NewPartitions_new(topic.c_str(), 3, nullptr, 0);
        rd_kafka_CreatePartitions(kafka, &more, 1, options, queue);
        rd_kafka_NewPartitions_destroy(more);
      },
      [](rd_kafka_event_t* event) {
        std::size_t count = 0;
        const rd_kafka_topic_result_t** results = rd_kafka_CreatePartitions_result_topics(
            rd_kafka_event_CreatePartitions_result(event), &count);
        require(rd_kafka_topic_result_error(results[0]), "create partitions");
      });
  until("three partitions", [&] { return partition_count(topic) == 3; });
  admin(
      [&](rd_kafka_t* kafka, Options* options, rd_kafka_queue_t* queue) {
        rd_kafka_DeleteTopic_t* one = rd_kafka_DeleteTopic_new(topic.c_str());
        rd_kafka_DeleteTopics(kafka, &one, 1, options, queue);
        rd_kafka_DeleteTopic_destroy(one);
      },
      [](rd_kafka_event_t* event) {
        std::size_t count = 0;
        const rd_kafka_topic_result_t** results =
            rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count);
        require(rd_kafka_topic_result_error(results[0]), "delete topic");
      });
  until("the topic gone", [&] { return partition_count(topic) == 0; });
}

void admin_configs() {
  std::string topic = make_topic();
  for (const char* value : {"7200000", ""}) {
    alter_retention(topic, value);
    std::string wanted = *value == '\0' ? "604800000" : value;
    until("retention.ms=" + wanted, [&] { return retention(topic) == wanted; });
  }
}

void admin_groups() {
  std::string topic = make_topic();
  std::string group = fresh("group");
  Kafka consumer = member(group, topic);
  until("the partition", [&] {
    poll(consumer.get());
    return assigned(consumer.get()) == 1;
  });
  require(listed(group) == RD_KAFKA_CONSUMER_GROUP_STATE_STABLE, "the group is stable");
  check_description(group, topic);
  require(rd_kafka_consumer_close(consumer.get()), "close");
  require(listed(group) == RD_KAFKA_CONSUMER_GROUP_STATE_EMPTY, "the group is empty");
  delete_group(group);
  require(!listed(group), "the group is gone");
}

void admin_offsets() {
  std::string topic = make_topic();
  std::string group = fresh("group");
  produce(topic, {{.value = "a"}, {.value = "b"}});
  admin(
      [&](rd_kafka_t* kafka, Options* options, rd_kafka_queue_t* queue) {
        rd_kafka_AlterConsumerGroupOffsets_t* one =
            rd_kafka_AlterConsumerGroupOffsets_new(group.c_str(), at(topic, 0, 1).get());
        rd_kafka_AlterConsumerGroupOffsets(kafka, &one, 1, options, queue);
        rd_kafka_AlterConsumerGroupOffsets_destroy(one);
      },
      [](rd_kafka_event_t* event) {
        only_group(rd_kafka_AlterConsumerGroupOffsets_result_groups,
                   rd_kafka_event_AlterConsumerGroupOffsets_result(event));
      });
  require(committed(group, topic) == 1, "the offset that was set");
  admin(
      [&](rd_kafka_t* kafka, Options* options, rd_kafka_queue_t* queue) {
        rd_kafka_DeleteConsumerGroupOffsets_t* one =
            rd_kafka_DeleteConsumerGroupOffsets_new(group.c_str(), at(topic, 0, 0).get());
        rd_kafka_DeleteConsumerGroupOffsets(kafka, &one, 1, options, queue);
        rd_kafka_DeleteConsumerGroupOffsets_destroy(one);
      },
      [](rd_kafka_event_t* event) {
        only_group(rd_kafka_DeleteConsumerGroupOffsets_result_groups,
                   rd_kafka_event_DeleteConsumerGroupOffsets_result(event));
      });
  require(committed(group, topic) == RD_KAFKA_OFFSET_INVALID, "no offset");
}

void admin_delete_records() {
  std::string topic = make_topic();
  produce(topic, {{.value = "a"}, {.value = "b"}, {.value = "c"}});
  admin(
      [&](rd_kafka_t* kafka, Options* options, rd_kafka_queue_t* queue) {
        rd_kafka_DeleteRecords_t* before = rd_kafka_DeleteRecords_new(at(topic, 0, 2).get());
        rd_kafka_DeleteRecords(kafka, &before, 1, options, queue);
        rd_kafka_DeleteRecords_destroy(before);
      },
      [](rd_kafka_event_t* event) {
        const rd_kafka_topic_partition_list_t* list =
            rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event));
        require(list->elems[0].err, "delete records");
        require(list->elems[0].offset == 2, "the new start");
      });
  require(values(read(topic, 1)) == std::vector<std::string>{"c"}, "what is left");
}

}  // namespace compat
