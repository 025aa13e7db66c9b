// KafkaData: a data directory that Apache Kafka 4.4 wrote (tests/data/kafka-data), unpacked into a
// folder of its own and served by Ackord, with what a Kafka serves from it.
//
// Both sides are texts, one line per fact, so that a difference can be read. Errors:
// std::runtime_error. One thread at a time.
#pragma once

#include <boost/json.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/integration/support/broker_process.h"
#include "tests/integration/support/topics.h"
#include "tests/support/temp_directory.h"

namespace ackord::integration {

using Lines = std::vector<std::string>;

// The archive `name`.tar.xz, unpacked; `data` is the data directory in it.
class KafkaDirectory {
 public:
  explicit KafkaDirectory(const std::string& name);
  const std::string& path() const { return directory_.path(); }
  std::string data() const { return directory_ / "data"; }

 private:
  test::TempDirectory directory_;
};

// Settings under which nothing that the archive holds is too old.
Settings keeping_old_state();
// With an authorizer, by which the tests' own client may do everything.
Settings with_acls();

class KafkaData {
 public:
  // `name`: clean, unclean or standalone.
  explicit KafkaData(const std::string& name);

  const std::string& name() const { return name_; }
  const boost::json::object& expected() const { return *expected_; }
  BrokerProcess& broker() { return *broker_; }
  RawClient& client() { return *client_; }
  const KafkaDirectory& directory() const { return directory_; }
  void restart_after_stop();
  void restart_after_kill();

  // What expected.json says of one partition, and what the broker answers.
  Lines expected_records(const boost::json::object& partition);
  Lines records(const std::string& topic, int32_t partition);
  // The same of another broker.
  Lines records(RawClient& client, const std::string& topic, int32_t partition);

 private:
  std::string text_of(const boost::json::value& bytes) const;
  std::string text_of(const std::optional<std::string>& bytes);
  std::string line_of(const ReadRecord& record, bool committed);

  std::string name_;
  const boost::json::object* expected_;
  KafkaDirectory directory_;
  std::unique_ptr<BrokerProcess> broker_;
  std::unique_ptr<RawClient> client_;
};

// All ACLs, one a line, in order: what a broker answers, and as expected.json has them.
Lines acls(RawClient& client);
Lines acls(const boost::json::array& expected);

// Of a group, one line per partition: those committed, and the start offsets of a share group.
Lines committed_offsets(RawClient& client, const std::string& group, bool require_stable);
Lines share_offsets(RawClient& client, const std::string& group);

// Fields of JSON that must be there.
int64_t number(const boost::json::object& object, std::string_view name);
std::string text(const boost::json::object& object, std::string_view name);
const boost::json::object& object_in(const boost::json::object& object, std::string_view name);
const boost::json::array& array_in(const boost::json::object& object, std::string_view name);

}  // namespace ackord::integration
