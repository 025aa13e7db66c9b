#include "tools/conform/differential/templates.h"

namespace ackord::conform::differential {

std::vector<Template> all_templates() {
  std::vector<Template> all;
  for (const auto& part : {admin_templates(), record_templates(), transaction_templates(),
                           share_templates(), group_templates()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

int32_t some_partition(Random& random, const TopicState& topic) {
  return random.one_in(15) ? topic.partitions : random.number(topic.partitions);
}

}  // namespace ackord::conform::differential
