// World: what the story of requests is about: topics, producers, fetch sessions, groups. Both
// brokers have all of it, under the same names; values that differ are placeholders (symbols.h).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/conform/differential/random.h"
#include "tools/conform/differential/symbols.h"

namespace ackord::conform::differential {

struct TopicState {
  std::string name;
  std::string id;  // a placeholder
  int32_t partitions = 1;
};

struct ProducerState {
  std::string transactional_id;  // empty: only idempotent
  int64_t id = -1;               // a placeholder; -1 before InitProducerId
  int16_t epoch = -1;
  std::map<std::pair<std::string, int32_t>, int32_t> next_sequence = {};
};

struct FetchSessionState {
  int64_t id = 0;  // a placeholder
  int32_t next_epoch = 1;
};

// Of a share group with one member.
struct ShareGroupState {
  std::string group;
  std::string member;
  int64_t member_epoch = 0;  // a placeholder
  int32_t session_epoch = 0;
  std::vector<TopicState> topics = {};  // subscribed
};

// A consumer of a KIP-848 or a classic group may come here once a broker has them; offsets are kept
// under these ids without members.
struct OffsetGroupState {
  std::string group;
};

class World {
 public:
  // `run` is part of every name, so that stories on one broker do not meet; `base_time` is what the
  // timestamps of records count from.
  World(std::string run, int64_t base_time) : run_(std::move(run)), base_time_(base_time) {}

  // "<run>-<what>-<number>".
  std::string new_name(const std::string& what);
  bool is_ours(const std::string& name) const { return name.starts_with(run_); }
  int64_t base_time() const { return base_time_; }
  Placeholders& placeholders() { return placeholders_; }

  // What a request may be about: mostly what exists, sometimes what existed or never did.
  TopicState topic(Random& random);
  ProducerState producer(Random& random, bool transactional);
  std::string group(Random& random);  // of any kind
  ShareGroupState share_group(Random& random);
  std::string other_name(Random& random);  // any name at all

  // What a text or number of a request is about, to take it out of the story.
  void retire(const json::value& request);
  void delete_topic(const std::string& name_or_id);
  ProducerState* find_producer(const std::string& transactional_id);
  ProducerState* find_producer(int64_t id);
  ShareGroupState* find_share_group(const json::object& request);
  FetchSessionState* find_session(int64_t id);
  TopicState* find_topic(const std::string& name_or_id);

  std::vector<TopicState> topics;
  std::vector<TopicState> deleted;
  std::vector<ProducerState> producers;
  std::vector<FetchSessionState> sessions;
  std::vector<ShareGroupState> share_groups;
  std::vector<OffsetGroupState> offset_groups;

 private:
  bool names(const json::value& request, const std::string& text) const;
  bool has_number(const json::value& request, int64_t number) const;

  std::string run_;
  int64_t base_time_;
  Placeholders placeholders_;
  int named_ = 0;
};

}  // namespace ackord::conform::differential
