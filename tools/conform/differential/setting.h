// Setting: makes on both brokers what the world needs, and waits until they have come to rest after
// a request, so that answers do not depend on which of them is faster.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tools/conform/differential/side.h"
#include "tools/conform/differential/story.h"
#include "tools/conform/differential/world.h"

namespace ackord::conform::differential {

class Setting {
 public:
  Setting(World& world, Side& first, Side& second)
      : world_(world), first_(first), second_(second) {}

  // New topics, producers and groups in place of those that are gone. Share groups take their time:
  // they are made when the next request is about them.
  void replenish(const Template& next);
  // What the request may have begun has ended: topics are led or gone, transactions complete.
  void settle(const Step& step);
  // Whether the logs that a Produce names end alike on both; a line that says where they do not.
  std::optional<std::string> compare_ends(const Step& step);
  // Deletes the topics.
  void clean_up();

 private:
  using Ask = std::function<bool(Side&)>;
  void both(const Ask& ask);
  // Polls each side. Throws std::runtime_error when it does not come true.
  void until(const std::string& what, const Ask& holds);

  void create_topic();
  void await_topic(TopicState& topic);
  void init_producer();
  void create_share_group();
  void await_assignment(const ShareGroupState& group);

  World& world_;
  Side& first_;
  Side& second_;
};

}  // namespace ackord::conform::differential
