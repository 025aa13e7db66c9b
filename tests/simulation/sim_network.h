// SimNetwork: between clients and the broker. Requests and answers take a random time, of different
// connections in any order; some are lost together with their connection; a crash of the broker
// loses what is on the way and every connection. Now and then a request comes a second time, on
// another connection and perhaps long after: a client has repeated it and hears neither answer.
#pragma once

#include <coroutine>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/generated/request_header.h"
#include "protocol/wire/reader.h"
#include "protocol/wire/writer.h"
#include "tests/simulation/sim_broker.h"

namespace ackord::simulation {

class SimNetwork {
 public:
  SimNetwork(SimScheduler& scheduler, SimExecutor& clients)
      : scheduler_(scheduler), clients_(clients) {}

  void attach(SimBroker* broker) { broker_ = broker; }
  // The broker is gone: every call under way ends without an answer.
  void broker_died();
  // Changes with each life of the broker: connections of an earlier one are closed.
  uint64_t life() const { return life_; }

  // One frame there and one back. `repeats`: the frame may come again.
  io::Task<std::optional<std::vector<std::byte>>> exchange(std::shared_ptr<api::Client> client,
                                                           uint64_t life,
                                                           std::vector<std::byte> frame,
                                                           bool repeats);
  std::shared_ptr<api::Client> connect() { return broker_ ? broker_->connect() : nullptr; }
  void disconnect(const std::shared_ptr<api::Client>& client, uint64_t life);
  // A marker of a coordinator that repeats itself: it reaches the share state without a client.
  void repeat_marker(int32_t state_partition, log::EndMarker marker) {
    if (broker_) broker_->repeat_marker(state_partition, marker);
  }

 private:
  struct Pending {
    std::optional<std::vector<std::byte>> frame;
    bool done = false;
    std::coroutine_handle<> waiting;
  };
  struct Await;
  void finish(uint64_t id, std::optional<std::vector<std::byte>> frame);
  void repeat_later(std::vector<std::byte> frame);
  int64_t delay_us();

  SimScheduler& scheduler_;
  SimExecutor& clients_;
  SimBroker* broker_ = nullptr;
  uint64_t life_ = 0;
  uint64_t calls_ = 0;
  std::map<uint64_t, std::shared_ptr<Pending>> pending_;
};

// Whether a request may come twice. Kafka's own rules are for those that may not: an EndTxn before
// version 5 that comes late ends the next transaction, an InitProducerId fences whoever came after.
enum class Repeats { kNever, kNowAndThen };

template <class Request>
constexpr Repeats repeats_of(int16_t version) {
  constexpr int16_t kInitProducerId = 22;
  constexpr int16_t kEndTxn = 26;
  if (Request::kApiKey == kInitProducerId) return Repeats::kNever;
  if (Request::kApiKey == kEndTxn && version < 5) return Repeats::kNever;
  return Repeats::kNowAndThen;
}

// One client's connection; reconnects by itself after the broker has died.
class SimConnection {
 public:
  SimConnection(SimNetwork& network, std::string client_id)
      : network_(network), client_id_(std::move(client_id)) {}

  // nullopt: no answer came; whether the request took effect is not known.
  template <class Request, class Response>
  io::Task<std::optional<Response>> call(Request request, int16_t version) {
    auto calling =
        call<Request, Response>(std::move(request), version, repeats_of<Request>(version));
    std::optional<Response> response = co_await std::move(calling);
    co_return response;
  }
  template <class Request, class Response>
  io::Task<std::optional<Response>> call(Request request, int16_t version, Repeats repeats) {
    if (!client_ || life_ != network_.life()) {
      client_ = network_.connect();
      life_ = network_.life();
      if (!client_) co_return std::nullopt;
    }
    protocol::Writer out;
    protocol::RequestHeader header;
    header.request_api_key = Request::kApiKey;
    header.request_api_version = version;
    header.correlation_id = ++correlation_;
    header.client_id = String(client_id_);
    header.encode(out, version >= Request::kFlexibleFrom ? 2 : 1);
    request.encode(out, version);
    auto exchanging =
        network_.exchange(client_, life_, out.finish().copy(), repeats == Repeats::kNowAndThen);
    std::optional<std::vector<std::byte>> frame = co_await std::move(exchanging);
    if (!frame) {
      client_ = nullptr;
      co_return std::nullopt;
    }
    frames_ = std::make_shared<std::vector<std::byte>>(std::move(*frame));
    protocol::Reader reader(*frames_);
    reader.int32();
    if (version >= Response::kFlexibleFrom && Response::kApiKey != 18) reader.unsigned_varint();
    Result<Response> response = Response::decode(reader, version);
    if (!response) co_return std::nullopt;
    co_return std::move(*response);
  }
  void drop() {
    if (client_) network_.disconnect(client_, life_);
    client_ = nullptr;
  }

 private:
  SimNetwork& network_;
  std::string client_id_;
  std::shared_ptr<api::Client> client_;
  uint64_t life_ = 0;
  int32_t correlation_ = 0;
  std::shared_ptr<std::vector<std::byte>>
      frames_;  // the last answer's bytes: what it decoded to borrows from them
};

}  // namespace ackord::simulation
