#include "tools/conform/kit/produce_checks.h"

namespace ackord::conform {

Value refused(Kit& kit, const Topic& topic, const Bytes& batch, ErrorCode error,
              const ProduceOptions& options) {
  return refused(kit, topic, batch, {error}, options);
}

Value refused(Kit& kit, const Topic& topic, const Bytes& batch,
              std::initializer_list<ErrorCode> errors, const ProduceOptions& options) {
  const int64_t before = end_offset(kit, topic, options.partition);
  const Value partition = try_produce(kit, topic, batch, options);
  partition["errorCode"].is_one_of(errors);
  partition["baseOffset"].is(-1);
  partition["logAppendTimeMs"].is(-1);
  expect_equal(end_offset(kit, topic, options.partition), before, "the log's end");
  return partition;
}

void has_record_errors(const Value& partition, const std::vector<int64_t>& indexes) {
  partition["errorMessage"].is_not_empty();
  std::vector<int64_t> found;
  for (const Value& error : partition["recordErrors"].items()) {
    found.push_back(error["batchIndex"].number());
    error["batchIndexErrorMessage"].is_not_empty();
  }
  expect_equal(found, indexes, "the records with errors");
}

BatchRead only_batch(Kit& kit, const Topic& topic) {
  const auto batches = read_all(kit, topic);
  expect_equal(batches.size(), size_t{1}, "how many batches are stored");
  expect(batches[0].crc_ok, "the stored batch's checksum is right");
  return batches[0];
}

}  // namespace ackord::conform
