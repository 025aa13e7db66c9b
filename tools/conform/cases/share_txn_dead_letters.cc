// Dead letters of records that were rejected in a transaction: written when it commits, and only
// then (KIP-1191; docs/PROTOCOL.md 1.2). Producer transactions and batch transactions.
#include <algorithm>

#include "tools/conform/case.h"
#include "tools/conform/kit/batch_txn.h"
#include "tools/conform/kit/dead_letters.h"
#include "tools/conform/kit/share_txn.h"

namespace ackord::conform {

AREA("share.txn.dead_letters", "Dead letters of transactional share acknowledgements",
     "AddShareAcksToTxn");

namespace {

std::vector<int64_t> offsets_in(const std::vector<RecordRead>& letters) {
  std::vector<int64_t> out;
  for (const RecordRead& letter : letters)
    out.push_back(std::stoll(headers_of(letter)["__dlq.errors.offset"]));
  std::ranges::sort(out);
  return out;
}

// Accepted, rejected, gaps.
std::vector<ShareAck> mixed(const Topic& topic) {
  return {{.topic = topic, .first = 0, .last = 3, .types = {kAccept}},
          {.topic = topic, .first = 4, .last = 6, .types = {kReject}},
          {.topic = topic, .first = 7, .last = 9, .types = {kGap}}};
}

}  // namespace

CASE(commit_writes_them, "docs/PROTOCOL.md 1.2, P3", .api = "EndTxn", .first = 4, .last = 5) {
  auto [topic, queue, member] = acquired_with_queue(kit);
  TxnProducer producer(kit, version_of(kit));
  producer.init();
  stage(kit, producer, member, mixed(topic));
  expect_equal(end_offset(kit, queue), int64_t{0}, "letters before the commit");
  producer.commit();
  expect_equal(offsets_in(wait_for_letters(kit, queue, 3)), std::vector<int64_t>{4, 5, 6},
               "offsets");
  wait_for_start(kit, member.group(), topic, 10);
}

CASE(abort_writes_none, "docs/PROTOCOL.md 1.2, P4", .api = "EndTxn", .first = 4, .last = 5) {
  auto [topic, queue, member] = acquired_with_queue(kit);
  TxnProducer producer(kit, version_of(kit));
  producer.init();
  stage(kit, producer, member, mixed(topic));
  producer.abort();
  expect_equal(member.acquire(topic), Ranges{{0, 9, 2}}, "acquired again");
  // What is rejected now is written after anything that the abort would have written.
  member.acknowledge(topic, 9, 9, {kReject}).is_none();
  expect_equal(offsets_in(wait_for_letters(kit, queue, 1)), std::vector<int64_t>{9}, "offsets");
}

// Whether there is a queue counts when the record is staged.
CASE(decided_when_staged, "docs/PROTOCOL.md 1.2, P3") {
  const Topic queue = dead_letter_topic(kit);
  auto [topic, member, producer] = staging(kit);
  stage(kit, producer, member, {{.topic = topic, .first = 0, .last = 4, .types = {kReject}}});
  set_configs(kit, ConfigResource::kGroup, member.group(),
              {{"errors.deadletterqueue.topic.name", queue.name}});
  stage(kit, producer, member, {{.topic = topic, .first = 5, .last = 9, .types = {kReject}}});
  producer.commit();
  expect_equal(offsets_in(wait_for_letters(kit, queue, 5)), std::vector<int64_t>{5, 6, 7, 8, 9},
               "offsets");
  wait_for_start(kit, member.group(), topic, 10);
}

CASE(batch_commit_writes_them, "docs/PROTOCOL.md 1.2, P3") {
  auto [topic, queue, member] = acquired_with_queue(kit);
  BatchTxn batch(kit, member.group());
  expect_batch(batch.begin(), "ONGOING", 0);
  batch.stage(member, mixed(topic));
  expect_batch(batch.prepare(), "PREPARE", 10);
  expect_equal(end_offset(kit, queue), int64_t{0}, "letters before the commit");
  expect_batch(batch.commit(), "COMMITTED", 10);
  expect_equal(offsets_in(wait_for_letters(kit, queue, 3)), std::vector<int64_t>{4, 5, 6},
               "offsets");
  wait_for_start(kit, member.group(), topic, 10);
}

CASE(batch_abort_writes_none, "docs/PROTOCOL.md 1.2, P4") {
  auto [topic, queue, member] = acquired_with_queue(kit);
  BatchTxn batch(kit, member.group());
  expect_batch(batch.begin(), "ONGOING", 0);
  batch.stage(member, mixed(topic));
  expect_batch(batch.abort(), "ABORTED", 10);
  expect_equal(member.acquire(topic), Ranges{{0, 9, 2}}, "acquired again");
  member.acknowledge(topic, 9, 9, {kReject}).is_none();
  expect_equal(offsets_in(wait_for_letters(kit, queue, 1)), std::vector<int64_t>{9}, "offsets");
}

}  // namespace ackord::conform
