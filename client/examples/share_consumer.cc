// Prints the records of a share group, each worker some of them: docs/TUTORIAL.md, "A queue".
//
//   example-share-consumer TOPIC [name=value…]
//
// The options are those of ShareConsumerConfig::set(). Ends with SIGTERM or SIGINT; exit status 1
// when it cannot start.
#include "client/share_consumer.h"

#include <csignal>
#include <cstdio>

using namespace ackord::client;
using ackord::TopicName;

namespace {

volatile std::sig_atomic_t stop_requested = 0;

int fail(const ackord::Error& error) {
  std::fprintf(stderr, "%s: %s\n", std::string(name_of(error.code)).c_str(), error.message.c_str());
  return 1;
}

// [modes]
void work_on(const ShareRecord& record) {
  std::printf("%s-%d@%lld, delivery %d: %s\n", record.topic.str().c_str(), record.source.partition,
              static_cast<long long>(record.offset), record.delivery_count,
              record.value.value_or("(null)").c_str());
  std::fflush(stdout);
}

// Implicit: the next poll accepts all that this one delivers.
ackord::Result<void> implicit_round(ShareConsumer& consumer) {
  auto records = consumer.poll(Millis(1000));
  if (!records) return records.error();
  for (const ShareRecord& record : *records) work_on(record);
  return {};
}

// Explicit: each record gets a verdict of its own before the next poll.
ackord::Result<void> explicit_round(ShareConsumer& consumer) {
  auto records = consumer.poll(Millis(1000));
  if (!records) return records.error();
  for (const ShareRecord& record : *records) {
    auto verdict = AcknowledgeType::kAccept;
    if (!record.value) {
      verdict = AcknowledgeType::kReject;  // nobody can work on it: it is archived
    } else if (record.value->starts_with("later") && record.delivery_count < 3) {
      verdict = AcknowledgeType::kRelease;  // another try, by any member
    } else {
      work_on(record);
    }
    if (auto decided = consumer.acknowledge(record, verdict); !decided) return decided;
  }
  // They travel with the next poll, too; this waits for the answers.
  auto sent = consumer.commit_sync(Millis(10000));
  if (!sent) return sent.error();
  for (const auto& [partition, code] : *sent) {
    if (code != ackord::ErrorCode::NONE)
      std::fprintf(stderr, "partition %d: %s\n", partition.partition,
                   std::string(name_of(code)).c_str());
  }
  return {};
}
// [end]

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: example-share-consumer TOPIC [name=value…]\n");
    return 2;
  }
  std::signal(SIGTERM, [](int) { stop_requested = 1; });
  std::signal(SIGINT, [](int) { stop_requested = 1; });
  // [start]
  ShareConsumerConfig config;
  for (int i = 2; i < argc; ++i) {
    const std::string option = argv[i];  // for example share.acknowledgement.mode=explicit
    const size_t equals = option.find('=');
    auto known = config.set(option.substr(0, equals),
                            equals == std::string::npos ? "" : option.substr(equals + 1));
    if (!known) return fail(known.error());
  }
  const AcknowledgementMode mode = config.mode;
  auto consumer = ShareConsumer::create(std::move(config), Millis(10000));
  if (!consumer) return fail(consumer.error());
  (*consumer)->subscribe({TopicName(argv[1])});
  while (!stop_requested) {
    auto round = mode == AcknowledgementMode::kImplicit ? implicit_round(**consumer)
                                                        : explicit_round(**consumer);
    if (!round) fail(round.error());  // the next poll tries again
  }
  auto closed = (*consumer)->close(Millis(10000));
  return closed ? 0 : fail(closed.error());
  // [end]
}
