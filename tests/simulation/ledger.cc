#include "tests/simulation/ledger.h"

#include <algorithm>
#include <iterator>

namespace ackord::simulation {

bool is_rejected(const SourceRecord& record) {
  return (record.offset * 31 + record.partition) % 5 == 3;
}

size_t Ledger::produced_in(int32_t partition) const {
  return static_cast<size_t>(std::distance(produced_.lower_bound({partition, 0}),
                                           produced_.lower_bound({partition + 1, 0})));
}

void Ledger::delivered(const std::string& group, const Delivery& delivery) {
  Group& mine = groups_[group];
  const SourceRecord& record = delivery.record;
  Group::Highest& highest = mine.highest[record];
  const auto settled = mine.final_since_us.find(record);
  const bool is_earlier = delivery.count < highest.count ||
                          (delivery.count == highest.count && delivery.member != highest.member);
  const bool overtaken =
      settled != mine.final_since_us.end() && delivery.asked_at_us < settled->second && is_earlier;
  if (settled != mine.final_since_us.end() && !overtaken)
    finding("I3: " + record.text() + " is final and was delivered again to " + delivery.member);
  if (delivery.count > highest.count) highest = {delivery.count, delivery.member};
  if (delivery.count >= kNearTheLimit) mine.given_up.insert(record);
  if (delivery.count > 1) ++redeliveries;
  const auto known = delivered_.emplace(record, delivery.text).first;
  if (known->second != delivery.text)
    finding("I7: " + record.text() + " was delivered as '" + known->second + "' and as '" +
            delivery.text + "'");
}

void Ledger::note(int64_t at_us, const std::string& who, const std::string& what) {
  story_.push_back(std::to_string(at_us / 1000) + "." + std::to_string(at_us % 1000) + " ms " +
                   who + ": " + what);
}

void Ledger::settled(const std::string& group, const Records& records, int64_t at_us) {
  for (const SourceRecord& record : records) {
    if (!groups_[group].final_since_us.emplace(record, at_us).second)
      finding("I1: " + record.text() + " was settled twice in " + group);
  }
}

void Ledger::undecided(const std::string& group, const Records& records) {
  groups_[group].undecided.insert(records.begin(), records.end());
}

void Ledger::check(const std::string& group) {
  for (const auto& [name, one] : groups_) {
    for (const auto& [record, text] : produced_) {
      if (one.final_since_us.contains(record) || one.undecided.contains(record) ||
          one.given_up.contains(record))
        continue;
      finding("I2: " + record.text() + " is done with in " + name + ", and nobody decided that");
    }
  }
  const std::set<SourceRecord>& given_up = groups_[group].given_up;
  for (const auto& [record, text] : produced_) {
    const auto at = outputs_.find(record);
    const int times = at == outputs_.end() ? 0 : at->second;
    const int expected = is_rejected(record) ? 0 : 1;
    if (times == expected || (times == 0 && given_up.contains(record))) continue;
    finding("I5: " + record.text() + (expected == 1 ? " (accepted)" : " (rejected)") +
            " is in the outputs " + std::to_string(times) + " times");
  }
  for (const auto& [record, times] : outputs_) {
    if (!produced_.contains(record))
      finding("I5: the outputs have " + record.text() + ", which was never produced");
  }
  for (const auto& [record, text] : delivered_) {
    const auto at = produced_.find(record);
    if (at == produced_.end() || at->second != text)
      finding("I7: " + record.text() + " was delivered as '" + text +
              "', which the topic does not hold");
  }
}

}  // namespace ackord::simulation
