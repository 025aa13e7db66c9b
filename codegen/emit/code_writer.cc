#include "codegen/emit/code_writer.h"

namespace ackord::codegen {

void CodeWriter::line(std::string_view text) {
  if (!text.empty()) text_.append(static_cast<size_t>(depth_) * 2, ' ').append(text);
  text_.push_back('\n');
}

void CodeWriter::open(std::string_view text) {
  line(text);
  ++depth_;
}

void CodeWriter::close(std::string_view text) {
  --depth_;
  line(text);
}

void CodeWriter::next(std::string_view text) {
  close(text);
  ++depth_;
}

}  // namespace ackord::codegen
