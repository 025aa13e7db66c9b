// Symbols: what one broker calls the things that every broker names in its own way: topic ids,
// producer ids, session ids, member epochs. Requests and reports have placeholders for them.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace ackord::conform::differential {

namespace json = boost::json;

// Each kind of number has a range of its own, far from what brokers allocate.
constexpr int64_t kProducerIds = 7'000'000'000'000;
constexpr int64_t kSessionIds = 1'900'000'000;
constexpr int64_t kMemberEpochs = 1'800'000'000;

// Makes placeholders, each once.
class Placeholders {
 public:
  // A uuid in Kafka's text form.
  std::string uuid();
  // `range`: one of the constants above.
  int64_t number(int64_t range) { return range + ++used_; }

 private:
  int32_t used_ = 0;
};

class Symbols {
 public:
  void learn(const std::string& placeholder, const std::string& real);
  void learn(int64_t placeholder, int64_t real);

  // A request with this broker's values, also within record batches, whose checksum is kept right
  // when it was right.
  json::value real(const json::value& request) const { return real(request, {}); }
  // A value of an answer; the same value when it has no placeholder.
  std::string placeholder(const std::string& real) const;
  bool has(const std::string& real) const { return text_places_.contains(real); }
  // `range`: which kind of number it is.
  int64_t placeholder(int64_t range, int64_t real) const;
  bool has(int64_t range, int64_t real) const { return number_places_.contains({range, real}); }

 private:
  json::value real(const json::value& value, std::string_view field) const;
  std::string real_records(const std::string& base64) const;

  std::map<std::string, std::string> texts_;
  std::map<std::string, std::string> text_places_;
  std::map<int64_t, int64_t> numbers_;
  std::map<std::pair<int64_t, int64_t>, int64_t> number_places_;
};

}  // namespace ackord::conform::differential
