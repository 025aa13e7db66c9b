// CodeWriter: lines of C++, indented by two spaces per open block.
#pragma once

#include <string>
#include <string_view>

namespace ackord::codegen {

class CodeWriter {
 public:
  void line(std::string_view text = {});
  // "if (x) {", then deeper.
  void open(std::string_view text);
  // "}" or what else ends the block.
  void close(std::string_view text = "}");
  // "} else {"
  void next(std::string_view text);
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  int depth_ = 0;
};

}  // namespace ackord::codegen
