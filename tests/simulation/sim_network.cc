#include "tests/simulation/sim_network.h"

namespace ackord::simulation {

struct SimNetwork::Await {
  std::shared_ptr<Pending> pending;
  bool await_ready() noexcept { return pending->done; }
  void await_suspend(std::coroutine_handle<> caller) { pending->waiting = caller; }
  void await_resume() noexcept {}
};

namespace {

constexpr double kLossChance = 0.007;
constexpr double kRepeatChance = 0.01;

}  // namespace

int64_t SimNetwork::delay_us() {
  return static_cast<int64_t>(scheduler_.random.chance(0.05) ? scheduler_.random.below(50000)
                                                             : 20 + scheduler_.random.below(300));
}

void SimNetwork::finish(uint64_t id, std::optional<std::vector<std::byte>> frame) {
  const auto at = pending_.find(id);
  if (at == pending_.end()) return;
  const std::shared_ptr<Pending> pending = std::move(at->second);
  pending_.erase(at);
  pending->frame = std::move(frame);
  pending->done = true;
  if (pending->waiting) clients_.resume(pending->waiting);
}

void SimNetwork::broker_died() {
  broker_ = nullptr;
  ++life_;
  while (!pending_.empty()) finish(pending_.begin()->first, std::nullopt);
}

io::Task<std::optional<std::vector<std::byte>>> SimNetwork::exchange(
    std::shared_ptr<api::Client> client, uint64_t life, std::vector<std::byte> frame,
    bool repeats) {
  if (broker_ == nullptr || life != life_) co_return std::nullopt;
  if (repeats && scheduler_.random.chance(kRepeatChance)) repeat_later(frame);
  const uint64_t id = ++calls_;
  auto pending = std::make_shared<Pending>();
  pending_.emplace(id, pending);
  const bool lose_request = scheduler_.random.chance(kLossChance);
  const bool lose_answer = scheduler_.random.chance(kLossChance);
  scheduler_.after(
      delay_us(), clients_,
      [this, id, life, client, lose_request, lose_answer, frame = std::move(frame)]() mutable {
        if (life != life_ || broker_ == nullptr) return;
        if (lose_request) {
          disconnect(client, life);
          finish(id, std::nullopt);
          return;
        }
        broker_->receive(
            client, std::move(frame),
            [this, id, life, client, lose_answer](std::optional<std::vector<std::byte>> answer) {
              if (lose_answer) {
                disconnect(client, life);
                answer.reset();
              }
              scheduler_.after(delay_us(), clients_,
                               [this, id, answer = std::move(answer)]() mutable {
                                 finish(id, std::move(answer));
                               });
            });
      });
  Await await{pending};
  co_await await;
  co_return std::move(pending->frame);
}

void SimNetwork::repeat_later(std::vector<std::byte> frame) {
  SimRandom& random = scheduler_.random;
  const auto delay =
      static_cast<int64_t>(random.chance(0.5) ? random.below(3'000) : random.below(10'000'000));
  scheduler_.after(delay, clients_, [this, frame = std::move(frame)]() mutable {
    if (broker_ == nullptr) return;
    std::shared_ptr<api::Client> client = broker_->connect();
    broker_->receive(client, std::move(frame),
                     [this, client, life = life_](std::optional<std::vector<std::byte>>) {
                       disconnect(client, life);
                     });
  });
}

void SimNetwork::disconnect(const std::shared_ptr<api::Client>& client, uint64_t life) {
  if (broker_ != nullptr && life == life_) broker_->disconnect(client);
}

}  // namespace ackord::simulation
