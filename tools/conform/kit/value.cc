#include "tools/conform/kit/value.h"

#include <algorithm>

#include "protocol/json/base64.h"
#include "tools/conform/kit/failure.h"
#include "tools/conform/kit/show.h"

namespace ackord::conform {
namespace {

namespace json = boost::json;

// Numbers compare by what they say: an answer has int64 where a case may write an unsigned literal.
bool same(const json::value& a, const json::value& b) {
  if (a.is_number() && b.is_number() && !a.is_double() && !b.is_double())
    return a.to_number<int64_t>() == b.to_number<int64_t>();
  if (a.is_array() && b.is_array()) {
    const auto& x = a.get_array();
    const auto& y = b.get_array();
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
  }
  return a == b;
}

}  // namespace

Value::Value(json::value whole, std::string path)
    : whole_(std::make_shared<const json::value>(std::move(whole))),
      at_(whole_.get()),
      path_(std::move(path)) {}

void Value::fail(const std::string& expected) const {
  throw Failure(path_ + ": expected " + expected + ", received " + show(*at_));
}

Value Value::operator[](std::string_view field) const {
  const json::object* fields = at_->if_object();
  const json::value* found = fields == nullptr ? nullptr : fields->if_contains(field);
  if (found == nullptr) fail("a field " + std::string(field));
  return Value(whole_, found, path_ + "." + std::string(field));
}

Value Value::item(size_t index) const {
  const json::array* list = at_->if_array();
  if (list == nullptr || index >= list->size()) fail(fmt::format("at least {} items", index + 1));
  return Value(whole_, &(*list)[index], fmt::format("{}[{}]", path_, index));
}

bool Value::has(std::string_view field) const {
  const json::object* fields = at_->if_object();
  return fields != nullptr && fields->contains(field);
}

size_t Value::size() const {
  const json::array* list = at_->if_array();
  if (list == nullptr) fail("an array");
  return list->size();
}

std::vector<Value> Value::items() const {
  std::vector<Value> out;
  for (size_t i = 0; i < size(); ++i) out.push_back(item(i));
  return out;
}

bool Value::has_item(std::string_view field, const json::value& value) const {
  return std::ranges::any_of(items(),
                             [&](const Value& item) { return same(*item[field].at_, value); });
}

Value Value::with(std::string_view field, const json::value& value) const {
  for (const Value& item : items())
    if (same(*item[field].at_, value)) return item;
  fail(fmt::format("an item with {} {}", field, show(value)));
}

int64_t Value::number() const {
  json::error_code problem;
  const auto number = at_->to_number<int64_t>(problem);
  if (problem) fail("a number");
  return number;
}

bool Value::truth() const {
  if (!at_->is_bool()) fail("a boolean");
  return at_->get_bool();
}

std::string Value::text() const {
  if (!at_->is_string()) fail("a text");
  return std::string(std::string_view(at_->get_string()));
}

std::vector<int64_t> Value::numbers() const {
  std::vector<int64_t> out;
  for (const Value& item : items()) out.push_back(item.number());
  return out;
}

std::vector<std::string> Value::texts() const {
  std::vector<std::string> out;
  for (const Value& item : items()) out.push_back(item.text());
  return out;
}

Uuid Value::uuid() const {
  Uuid id;
  if (!Uuid::parse(text(), id)) fail("a uuid");
  return id;
}

std::vector<std::byte> Value::bytes() const {
  std::vector<std::byte> out;
  if (!protocol::parse_base64(text(), out)) fail("bytes");
  return out;
}

void Value::is(ErrorCode expected) const {
  if (error() != expected)
    throw Failure(path_ + ": expected " + show(expected) + ", received " + show(error()));
}

void Value::is(const json::value& expected) const {
  if (!same(*at_, expected)) fail(show(expected));
}

void Value::is_one_of(std::initializer_list<ErrorCode> expected) const {
  if (std::ranges::find(expected, error()) != expected.end()) return;
  std::string list;
  for (const ErrorCode code : expected) list += (list.empty() ? "" : " or ") + show(code);
  throw Failure(path_ + ": expected " + list + ", received " + show(error()));
}

void Value::is_not(const json::value& unexpected) const {
  if (same(*at_, unexpected)) fail("anything else");
}

void Value::is_between(int64_t low, int64_t high) const {
  if (number() < low || number() > high) fail(fmt::format("{} to {}", low, high));
}

void Value::has_size(size_t expected) const {
  if (size() != expected) fail(fmt::format("{} items", expected));
}

void Value::is_not_empty() const {
  const bool empty = at_->is_string() ? at_->get_string().empty() : size() == 0;
  if (empty) fail("something in it");
}

}  // namespace ackord::conform
