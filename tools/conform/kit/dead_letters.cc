#include "tools/conform/kit/dead_letters.h"

#include "tools/conform/kit/share_offsets.h"

namespace ackord::conform {

std::string broker_config(Kit& kit, const std::string& name) {
  const Value node = kit.ask("Metadata", 12, {{"topics", list()}})["brokers"][0]["nodeId"];
  return configs_of(kit, ConfigResource::kBroker, std::to_string(node.number()))[name].value_or("");
}

std::string dead_letter_name(Kit& kit) {
  if (kit.broker().feature("share.version") < 2)
    throw Skip("share.version is below 2: no dead-letter queues");
  return broker_config(kit, "errors.deadletterqueue.topic.name.prefix") + kit.name("q");
}

Topic dead_letter_topic(Kit& kit, int32_t partitions, const Configs& configs) {
  Configs all{{"errors.deadletterqueue.group.enable", "true"}};
  all.insert(all.end(), configs.begin(), configs.end());
  return create_topic(kit, partitions, all, dead_letter_name(kit));
}

std::string dead_letter_group(Kit& kit, const std::string& queue, const Configs& configs) {
  Configs all{{"errors.deadletterqueue.topic.name", queue}};
  all.insert(all.end(), configs.begin(), configs.end());
  std::string group = earliest_group(kit, all);
  wait_for_coordinator(kit, CoordinatorKind::kGroup, group);
  return group;
}

AcquiredWithQueue acquired_with_queue(Kit& kit, const Configs& group_configs) {
  Topic queue = dead_letter_topic(kit);
  const std::string group = dead_letter_group(kit, queue.name, group_configs);
  AcquiredWithQueue out{create_topic(kit), std::move(queue), ShareMember(kit, group)};
  produce(kit, out.topic, numbered(10));
  out.member.join({out.topic});
  out.member.acquire_count(out.topic, 10);
  return out;
}

std::map<std::string, std::string> headers_of(const RecordRead& letter) {
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : letter.headers) out[name] = value.value_or("(null)");
  return out;
}

std::vector<RecordRead> wait_for_letters(Kit& kit, const Topic& queue, size_t count,
                                         int32_t partition) {
  kit.until(fmt::format("{} dead letters", count),
            [&] { return end_offset(kit, queue, partition) >= static_cast<int64_t>(count); });
  std::vector<RecordRead> letters;
  for (const BatchRead& batch : read_all(kit, queue, partition))
    letters.insert(letters.end(), batch.records.begin(), batch.records.end());
  expect_equal(letters.size(), count, "dead letters");
  return letters;
}

void wait_for_start(Kit& kit, const std::string& group, const Topic& topic, int64_t start) {
  kit.until(fmt::format("the share partition starts at {}", start), [&] {
    const Value part = describe_offset(kit, group, topic);
    // All is finished when the lag is 0, wherever the stored start is.
    return part["startOffset"].number() >= start ||
           (part["startOffset"].number() >= 0 && part["lag"].number() == 0);
  });
}

}  // namespace ackord::conform
