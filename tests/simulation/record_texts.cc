#include "tests/simulation/record_texts.h"

#include "protocol/record_batch/batch_header.h"
#include "protocol/record_batch/record_reader.h"

namespace ackord::simulation {

std::map<int64_t, std::string> texts_of(std::span<const std::byte> batches) {
  constexpr size_t kHeaderSize = 61;
  std::map<int64_t, std::string> texts;
  while (!batches.empty()) {
    const auto header = protocol::parse_header(batches);
    if (!header || header->size() > batches.size()) break;
    if (!header->control()) {
      protocol::RecordReader reader(*header,
                                    batches.subspan(kHeaderSize, header->size() - kHeaderSize));
      protocol::Record record;
      while (reader.next(record)) {
        texts[record.offset] =
            std::string(reinterpret_cast<const char*>(record.value->data()), record.value->size());
      }
    }
    batches = batches.subspan(header->size());
  }
  return texts;
}

}  // namespace ackord::simulation
