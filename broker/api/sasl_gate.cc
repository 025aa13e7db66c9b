#include "broker/api/sasl_gate.h"

#include <utility>

#include "broker/api/dispatch.h"
#include "broker/metadata/metadata_service.h"
#include "broker/security/base64.h"
#include "protocol/record_batch/big_endian.h"

namespace ackord::api {
namespace {

constexpr std::string_view kOutOfOrder = "out of order";

Answer raw_answer(std::string_view token) {
  const auto* bytes = reinterpret_cast<const std::byte*>(token.data());
  Answer answer;
  answer.kind = Answer::Kind::kSend;
  answer.bytes.pieces.emplace_back(protocol::OutputChain::Owned(bytes, bytes + token.size()));
  return answer;
}

}  // namespace

SaslGate::Admission SaslGate::admit(Client& client, std::span<const std::byte> frame) {
  if (client.sasl == nullptr) {
    const auto listener = listeners_.find(client.listener);
    if (listener == listeners_.end()) return Admission::kClose;
    client.sasl = std::make_shared<security::SaslAuthentication>(*listener->second, *this);
  }
  // One that is too short to have a key is no request at all.
  const int16_t key =
      frame.size() < sizeof(int16_t) ? int16_t{-1} : protocol::load_big<int16_t>(frame.data());
  return client.sasl->admit(key, services_.environment.here().clock.now());
}

io::Task<Answer> SaslGate::answer(Admission admission, Call call) {
  const io::Core& core = services_.environment.here();
  int32_t delay_ms = 0;
  if (admission == Admission::kRawToken) {
    const std::string_view token(reinterpret_cast<const char*>(call.payload.data()),
                                 call.payload.size());
    const auto reply = take_token(*call.client, token, core.clock.now());
    if (!call.client->sasl->failed()) co_return raw_answer(reply.bytes);
    delay_ms = login_failed(*call.client, reply.reason, core.clock.now());
  }
  if (admission == Admission::kCloseLater)
    delay_ms = login_failed(*call.client, kOutOfOrder, core.clock.now());
  if (delay_ms > 0) {
    auto holding = hold_back(call.client, core, delay_ms);
    co_await std::move(holding);
  }
  co_return Answer{};
}

std::optional<metadata::ScramCredential> SaslGate::scram(metadata::ScramMechanism mechanism,
                                                         std::string_view user) const {
  const metadata::ScramCredentials& users = services_.metadata.image().scram();
  const auto found = users.find(user);
  if (found == users.end()) return std::nullopt;
  const auto credential = found->second.find(mechanism);
  if (credential == found->second.end()) return std::nullopt;
  return credential->second;
}

security::SaslAuthentication::Reply take_token(Client& client, std::string_view token,
                                               io::Now now) {
  auto reply = client.sasl->token(token, now);
  if (reply.error == ErrorCode::NONE && client.sasl->state() == security::SaslState::kComplete) {
    client.principal = client.sasl->principal();
    client.authenticated = true;
  }
  return reply;
}

int32_t login_failed(const Client& client, std::string_view reason, io::Now now) {
  const security::SaslListener& listener = client.sasl->listener();
  const std::string_view mechanism = client.sasl->mechanism();
  listener.failures.warn(now.steady_ms, "login refused mechanism={} client={} listener={}: {}",
                         mechanism.empty() ? "none" : mechanism, client.host, client.listener,
                         reason);
  return listener.failure_delay_ms();
}

io::Task<void> hold_back(std::shared_ptr<Client> client, io::Core core, int32_t time_ms) {
  const int64_t until_ms = core.clock.now().steady_ms + time_ms;
  bool waiting = true;
  while (waiting && !client->gone) {
    const auto wakeup = io::Wakeup::make(core.executor, core.clock);
    client->on_gone.subscribe(wakeup);
    auto sleeping = wakeup->wait_until(until_ms);
    waiting = co_await std::move(sleeping);
  }
}

std::string make_nonce(io::Random& random) {
  std::string bytes;
  for (int i = 0; i < 3; ++i) {
    const uint64_t number = random.next();
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return security::to_base64url(bytes);
}

}  // namespace ackord::api
