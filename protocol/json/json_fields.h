// Helpers of the generated JSON converters.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/json/missing.h"
#include "protocol/types/ids.h"
#include "protocol/types/records.h"
#include "protocol/types/result.h"
#include "protocol/types/string.h"

namespace ackord::protocol {

inline boost::json::value json_of(int64_t number) { return number; }
inline boost::json::value json_of(int32_t number) { return number; }
inline boost::json::value json_of(int16_t number) { return number; }
inline boost::json::value json_of(int8_t number) { return number; }
inline boost::json::value json_of(uint16_t number) { return int64_t{number}; }
inline boost::json::value json_of(uint32_t number) { return int64_t{number}; }
inline boost::json::value json_of(double number) { return number; }
inline boost::json::value json_of(bool truth) { return truth; }
boost::json::value json_of(const Uuid& id);
boost::json::value json_of(const String& text);
boost::json::value json_of(const Bytes& bytes);
boost::json::value json_of(const Records& records);

// Reads values of a JSON document. The first failure latches; what is read afterwards is without
// meaning.
class JsonReader {
 public:
  // Reads the fields of one object, each once; a field that nobody has asked for is a failure.
  class Struct {
   public:
    Struct(JsonReader& in, const boost::json::value& from);
    ~Struct();
    Struct(const Struct&) = delete;
    Struct& operator=(const Struct&) = delete;
    // nullptr when it is not there, which is a failure if it is required and may not be missing.
    const boost::json::value* find(std::string_view name, bool required);

   private:
    JsonReader& in_;
    const boost::json::object* object_;
    size_t found_ = 0;
  };

  explicit JsonReader(Missing missing) : missing_(missing) {}

  bool ok() const { return failure_.empty(); }
  // INVALID_REQUEST with the first failure, if there was one.
  Result<void> result(std::string_view message) const;

  template <class Number>
  Number number(const boost::json::value& value) {
    return static_cast<Number>(integer(value, std::numeric_limits<Number>::min(),
                                       int64_t{std::numeric_limits<Number>::max()}));
  }
  void read(const boost::json::value& value, bool& out);
  void read(const boost::json::value& value, double& out);
  void read(const boost::json::value& value, Uuid& out);
  void read(const boost::json::value& value, String& out);
  void read(const boost::json::value& value, TopicName& out);
  void read(const boost::json::value& value, GroupId& out);
  void read(const boost::json::value& value, TransactionalId& out);
  void read(const boost::json::value& value, Bytes& out);
  void read(const boost::json::value& value, Records& out);
  // A null that is not allowed is a failure.
  bool is_null(const boost::json::value& value, bool allowed);
  // Empty when it is no array.
  const boost::json::array& list(const boost::json::value& value);

 private:
  int64_t integer(const boost::json::value& value, int64_t min, int64_t max);
  std::string_view text(const boost::json::value& value);
  std::vector<std::byte> bytes(const boost::json::value& value);
  void fail(std::string_view reason);

  Missing missing_;
  std::string_view field_;  // the one that was looked up last
  std::string failure_;
};

}  // namespace ackord::protocol
