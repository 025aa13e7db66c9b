// Value: a part of an answer, as JSON, that knows where it stands in the answer, so that what a
// case expects of it reads short and fails with a path:
//   answer["responses"][0]["partitionResponses"][0]["errorCode"].is(ErrorCode::INVALID_RECORD);
// Owns the answer together with the other parts of it. Errors: Failure.
#pragma once

#include <boost/json/value.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/types/error_code.h"
#include "protocol/types/ids.h"

namespace ackord::conform {

class Value {
 public:
  // The whole of it; `path` is its name in messages.
  Value(boost::json::value whole, std::string path);

  // A field of an object, an item of an array.
  Value operator[](std::string_view field) const;
  Value operator[](const char* field) const { return (*this)[std::string_view(field)]; }
  template <std::integral Index>
  Value operator[](Index index) const {
    return item(static_cast<size_t>(index));
  }
  bool has(std::string_view field) const;
  // Of an array: how many items; the items; the one whose field says this, which must be there.
  size_t size() const;
  std::vector<Value> items() const;
  Value with(std::string_view field, const boost::json::value& value) const;
  bool has_item(std::string_view field, const boost::json::value& value) const;
  // The same for a std::string, which is no boost::json::value by itself. (Templates, so that a
  // literal 0 is not taken for a text.)
  template <std::same_as<std::string> Text>
  Value with(std::string_view field, const Text& text) const {
    return with(field, boost::json::value(text));
  }
  template <std::same_as<std::string> Text>
  bool has_item(std::string_view field, const Text& text) const {
    return has_item(field, boost::json::value(text));
  }

  int64_t number() const;
  bool truth() const;
  std::string text() const;
  ErrorCode error() const { return static_cast<ErrorCode>(number()); }
  std::vector<int64_t> numbers() const;
  std::vector<std::string> texts() const;
  // A uuid in Kafka's text form.
  Uuid uuid() const;
  // A field of bytes or records.
  std::vector<std::byte> bytes() const;
  bool null() const { return at_->is_null(); }
  const boost::json::value& json() const { return *at_; }
  const std::string& path() const { return path_; }

  // Expectations.
  void is(ErrorCode expected) const;
  void is(const boost::json::value& expected) const;
  template <std::same_as<std::string> Text>
  void is(const Text& expected) const {
    is(boost::json::value(expected));
  }
  void is_none() const { is(ErrorCode::NONE); }
  void is_one_of(std::initializer_list<ErrorCode> expected) const;
  void is_not(const boost::json::value& unexpected) const;
  void is_null() const { is(boost::json::value(nullptr)); }
  void is_between(int64_t low, int64_t high) const;
  void has_size(size_t expected) const;
  void is_not_empty() const;  // a text or an array
  [[noreturn]] void fail(const std::string& expected) const;

 private:
  Value(std::shared_ptr<const boost::json::value> whole, const boost::json::value* at,
        std::string path)
      : whole_(std::move(whole)), at_(at), path_(std::move(path)) {}
  Value item(size_t index) const;

  std::shared_ptr<const boost::json::value> whole_;
  const boost::json::value* at_;
  std::string path_;
};

}  // namespace ackord::conform
