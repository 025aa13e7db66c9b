#include "tests/simulation/ledger.h"

#include <iterator>

namespace ackord::simulation {

bool is_rejected(const SourceRecord& record) {
  return (record.offset * 31 + record.partition) % 5 == 3;
}

size_t Ledger::produced_in(int32_t partition) const {
  return static_cast<size_t>(std::distance(produced_.lower_bound({partition, 0}),
                                           produced_.lower_bound({partition + 1, 0})));
}

void Ledger::delivered(SourceRecord record, const std::string& member) {
  if (final_.contains(record))
    finding("I3: " + record.text() + " is final and was delivered again to " + member);
  if (!produced_.contains(record))
    finding("I2: " + record.text() + " was delivered to " + member + " and never produced");
  if (++deliveries_[record] > 1) ++redeliveries;
}

void Ledger::note(int64_t at_us, const std::string& who, const std::string& what) {
  story_.push_back(std::to_string(at_us / 1000) + "." + std::to_string(at_us % 1000) + " ms " +
                   who + ": " + what);
}

void Ledger::committed(const std::vector<SourceRecord>& records) {
  for (const SourceRecord& record : records) {
    if (!final_.insert(record).second) finding("I1: " + record.text() + " was committed twice");
  }
}

void Ledger::check_outputs() {
  for (const SourceRecord& record : produced_) {
    const auto at = outputs_.find(record);
    const int times = at == outputs_.end() ? 0 : at->second;
    const int expected = is_rejected(record) ? 0 : 1;
    if (times != expected) {
      finding("I5: " + record.text() + (expected == 1 ? " (accepted)" : " (rejected)") +
              " is in the output " + std::to_string(times) + " times");
    }
  }
  for (const auto& [record, times] : outputs_) {
    if (!produced_.contains(record))
      finding("I5: the output has " + record.text() + ", which was never produced");
  }
}

}  // namespace ackord::simulation
