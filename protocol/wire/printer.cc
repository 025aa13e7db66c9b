#include "protocol/wire/printer.h"

#include <utility>

namespace ackord::protocol {

Printer::Printer(std::string_view message) : text_(message) { text_.push_back('('); }

std::string Printer::take() {
  text_.push_back(')');
  return std::move(text_);
}

void Printer::put(std::string_view text) {
  if (!named_ && !first_) text_ += ", ";
  text_ += text;
  first_ = false;
  named_ = false;
}

void Printer::name(std::string_view field) {
  put(field);
  text_.push_back('=');
  named_ = true;
}

void Printer::value(int64_t number) { put(std::to_string(number)); }
void Printer::value(double number) { put(std::to_string(number)); }
void Printer::value(bool truth) { put(truth ? "true" : "false"); }

void Printer::value(ErrorCode code) {
  put(std::to_string(static_cast<int16_t>(code)));
  if (code != ErrorCode::NONE) text_.append("/").append(name_of(code));
}

void Printer::value(const Uuid& id) { put(id.to_string()); }
void Printer::value(const String& text) { put("'" + text.str() + "'"); }
void Printer::value(const Bytes& bytes) { put("<" + std::to_string(bytes.size()) + " bytes>"); }
void Printer::value(const Records& records) {
  put("<" + std::to_string(records.size()) + " bytes>");
}
void Printer::null() { put("null"); }
void Printer::secret() { put("<hidden>"); }

void Printer::open() {
  put("(");
  first_ = true;
}

void Printer::close() {
  text_.push_back(')');
  first_ = false;
}

void Printer::open_list() {
  put("[");
  first_ = true;
}

void Printer::close_list() {
  text_.push_back(']');
  first_ = false;
}

}  // namespace ackord::protocol
