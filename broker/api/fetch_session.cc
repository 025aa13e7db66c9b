#include "broker/api/fetch_session.h"

#include <algorithm>
#include <utility>

namespace ackord::api {
namespace {

constexpr int64_t kEvictionMs = 120000;

}  // namespace

FetchSession::Key FetchSession::key_of(const TopicName& topic, const Uuid& topic_id,
                                       int32_t partition) const {
  return by_id_ ? Key{TopicName(), topic_id, partition} : Key{topic, Uuid(), partition};
}

void FetchSession::follow(io::Executor& home) {
  if (home_ == &home) return;
  home_ = &home;
  ready_ = std::make_shared<io::ReadySet<FetchTarget*>>(home);
  for (FetchTarget& target : targets_) ready_->add(&target);
}

void FetchSession::add(FetchTarget target) {
  Key key = key_of(target.topic, target.topic_id, target.partition);
  const auto known = index_.find(key);
  if (known == index_.end()) {
    target.turn = ++last_turn_;
    targets_.push_back(std::move(target));
    index_.emplace(std::move(key), std::prev(targets_.end()));
    ready_->add(&targets_.back());
    return;
  }
  FetchTarget& old = *known->second;
  target.told_high_watermark = old.told_high_watermark;
  target.told_last_stable_offset = old.told_last_stable_offset;
  target.told_log_start_offset = old.told_log_start_offset;
  target.told = old.told;
  target.turn = old.turn;
  old = std::move(target);
  ready_->put_back(&old);
}

void FetchSession::forget(const TopicName& topic, const Uuid& topic_id, int32_t partition) {
  const auto known = index_.find(key_of(topic, topic_id, partition));
  if (known == index_.end()) return;
  ready_->remove(&*known->second);
  targets_.erase(known->second);
  index_.erase(known);
}

void FetchSession::look_as(View view) {
  if (view == std::exchange(view_, view)) return;
  for (FetchTarget& target : targets_) ready_->put_back(&target);
}

std::vector<FetchTarget*> FetchSession::take_ready(size_t most) {
  std::vector<FetchTarget*> taken;
  while (taken.size() < most) {
    const auto target = ready_->take();
    if (!target) break;
    taken.push_back(*target);
  }
  std::sort(taken.begin(), taken.end(),
            [](const FetchTarget* a, const FetchTarget* b) { return a->turn < b->turn; });
  return taken;
}

std::unique_ptr<FetchSession> FetchSessions::create(bool by_id, uint64_t random, int64_t now_ms) {
  if (slots_ <= 0) return nullptr;
  if (sessions_.size() >= static_cast<size_t>(slots_)) {
    const int32_t oldest = by_use_.front();
    Slot& slot = sessions_.at(oldest);
    if (!slot.session || now_ms - slot.used_at_ms < kEvictionMs) return nullptr;
    remove(oldest);
  }
  // Ids are positive, random, and say by their remainder which core has the session.
  const auto steps = static_cast<uint64_t>(INT32_MAX / cores_ - 1);
  int32_t id = 0;
  do {
    id = static_cast<int32_t>(random % steps + 1) * cores_ + core_;
    random = random * 6364136223846793005u + 1442695040888963407u;
  } while (sessions_.contains(id));
  by_use_.push_back(id);
  sessions_.emplace(id, Slot{nullptr, std::prev(by_use_.end()), now_ms});
  return std::make_unique<FetchSession>(id, by_id);
}

Result<std::unique_ptr<FetchSession>> FetchSessions::take(int32_t id, int32_t epoch, bool by_id) {
  const auto at = sessions_.find(id);
  if (at == sessions_.end()) return error(ErrorCode::FETCH_SESSION_ID_NOT_FOUND);
  std::unique_ptr<FetchSession>& session = at->second.session;
  if (!session || session->epoch() != epoch) return error(ErrorCode::INVALID_FETCH_SESSION_EPOCH);
  if (session->by_id() != by_id) return error(ErrorCode::FETCH_SESSION_TOPIC_ID_ERROR);
  return std::move(session);
}

void FetchSessions::put_back(std::unique_ptr<FetchSession> session, int64_t now_ms) {
  const auto at = sessions_.find(session->id());
  if (at == sessions_.end()) return;  // removed meanwhile
  at->second.used_at_ms = now_ms;
  by_use_.splice(by_use_.end(), by_use_, at->second.used);
  at->second.session = std::move(session);
}

bool FetchSessions::remove(int32_t id) {
  const auto at = sessions_.find(id);
  if (at == sessions_.end()) return false;
  by_use_.erase(at->second.used);
  sessions_.erase(at);
  return true;
}

}  // namespace ackord::api
