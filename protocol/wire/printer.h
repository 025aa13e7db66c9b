// Printer: the text that a message's to_string() answers: "HeartbeatRequest(groupId=g,
// generationId=1, ...)". For logs and people; there is no reader for it. Byte strings and records
// are shown by their size only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/types/error_code.h"
#include "protocol/types/ids.h"
#include "protocol/types/records.h"
#include "protocol/types/string.h"

namespace ackord::protocol {

class Printer {
 public:
  explicit Printer(std::string_view message);
  std::string take();

  void name(std::string_view field);
  void value(int64_t number);
  void value(int32_t number) { value(int64_t{number}); }
  void value(int16_t number) { value(int64_t{number}); }
  void value(int8_t number) { value(int64_t{number}); }
  void value(uint16_t number) { value(int64_t{number}); }
  void value(uint32_t number) { value(int64_t{number}); }
  void value(double number);
  void value(bool truth);
  void value(ErrorCode code);
  void value(const Uuid& id);
  void value(const String& text);
  void value(const Bytes& bytes);
  void value(const Records& records);
  void null();
  void secret();
  void open();
  void close();
  void open_list();
  void close_list();

 private:
  void put(std::string_view text);

  std::string text_;
  bool first_ = true;
  bool named_ = false;
};

}  // namespace ackord::protocol
