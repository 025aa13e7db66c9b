#include "tests/integration/share_churn/churn_member.h"

#include <algorithm>
#include <array>
#include <exception>
#include <thread>
#include <utility>

namespace ackord::integration {
namespace {

constexpr int64_t kBeatEveryUs = 500000;
constexpr int32_t kFetchWaitMs = 200;
constexpr Millis kPauseBeforeReconnect{20};
constexpr std::array<int32_t, 4> kMaxRecords{1, 20, 100, 500};
// Of a hundred pieces.
constexpr uint64_t kAccepted = 74;
constexpr uint64_t kReleased = kAccepted + 12;
constexpr uint64_t kRejected = kReleased + 4;
constexpr uint64_t kRenewed = kRejected + 4;
constexpr uint64_t kAcceptedLate = kRenewed + 4;
// Some of them later than the lock lasts.
constexpr int64_t kLatestUs = 3000000;

}  // namespace

ChurnMember::ChurnMember(uint16_t port, std::string group, Topic topic, uint64_t seed,
                         Journal& journal)
    : port_(port),
      group_(std::move(group)),
      topic_(std::move(topic)),
      random_(seed),
      journal_(journal) {}

void ChurnMember::run(const std::atomic<bool>& stop) {
  while (!stop) {
    try {
      join();
      while (!stop) {
        beat();
        take();
        accept_kept();
      }
      if (below(2) == 0) member_->close_session();
      member_->leave();
    } catch (const std::exception&) {
      // The broker has been killed, or has forgotten this member: begin again.
      kept_.clear();
      std::this_thread::sleep_for(kPauseBeforeReconnect);
    }
  }
}

void ChurnMember::join() {
  if (member_) {
    member_->reconnect();
    if (member_->heartbeat() == ErrorCode::NONE) return;
    member_.reset();
  }
  ShareMember member(port_, group_);
  require_none(member.enter({topic_}), "ShareGroupHeartbeat");
  member_ = std::move(member);
}

void ChurnMember::beat() {
  if (steady_us() < next_beat_us_) return;
  require_none(member_->heartbeat(), "ShareGroupHeartbeat");
  next_beat_us_ = steady_us() + kBeatEveryUs;
}

void ChurnMember::take() {
  const int64_t sent_us = steady_us();
  const auto taken =
      member_->fetch_all(topic_, kMaxRecords[below(kMaxRecords.size())], kFetchWaitMs);
  for (const auto& [partition, ranges] : taken) {
    for (const OffsetRange& range : ranges) {
      journal_.write({JournalEntry::What::kDelivered, partition, range.first, range.last,
                      range.delivery_count, ErrorCode::NONE, sent_us});
    }
  }
  for (const auto& [partition, ranges] : taken) {
    for (const OffsetRange& range : ranges) {
      OffsetRange piece = range;
      while (piece.first <= range.last) {
        piece.last = std::min<Offset>(range.last, piece.first + static_cast<Offset>(below(100)));
        treat(partition, piece);
        piece.first = piece.last + 1;
      }
    }
  }
}

void ChurnMember::treat(int32_t partition, OffsetRange range) {
  const uint64_t choice = below(100);
  if (choice < kAccepted) {
    acknowledge(partition, range, kAccept);
  } else if (choice < kReleased) {
    acknowledge(partition, range, kRelease);
  } else if (choice < kRejected) {
    acknowledge(partition, range, kReject);
  } else if (choice < kRenewed) {
    acknowledge(partition, range, kRenew);
    acknowledge(partition, range, kAccept);
  } else if (choice < kAcceptedLate) {
    kept_.push_back({partition, range, steady_us() + static_cast<int64_t>(below(kLatestUs))});
  }
  // The others are forgotten.
}

void ChurnMember::accept_kept() {
  const int64_t now_us = steady_us();
  while (!kept_.empty() && kept_.front().due_us <= now_us) {
    const Kept kept = kept_.front();
    kept_.pop_front();
    acknowledge(kept.partition, kept.range, kAccept);
  }
}

// That the lock has expired meanwhile is an answer like others: INVALID_RECORD_STATE.
void ChurnMember::acknowledge(int32_t partition, const OffsetRange& range, int8_t type) {
  JournalEntry entry{JournalEntry::What::kTried,
                     partition,
                     range.first,
                     range.last,
                     type,
                     ErrorCode::NONE,
                     steady_us()};
  journal_.write(entry);
  entry.code = member_->acknowledge(topic_, partition, range.first, range.last, type);
  entry.what = JournalEntry::What::kAnswered;
  entry.at_us = steady_us();
  journal_.write(entry);
}

}  // namespace ackord::integration
