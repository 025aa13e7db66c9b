// Connection: one client. Cuts the stream into frames, brings them to the sink, sends the answers.
//
// A frame is a 4-byte big-endian size and that many bytes (Kafka protocol guide, "Common Request
// and Response Structure"). A size that is not in 1..max_frame_bytes ends the connection: what was
// received before it is still answered, in order.
// Back-pressure: with ConnectionLimits' number of requests, or bytes of them, unanswered, or when
// all connections hold as much as RequestBudget allows, it stops reading. Disconnect: the requests
// that have fully arrived are still handled, their answers dropped. Owned by its own tasks until it
// has ended. Threads: all on its core.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "broker/base/complaint.h"
#include "broker/io/core.h"
#include "broker/io/task.h"
#include "broker/net/answer_writer.h"
#include "broker/net/frame_buffer.h"
#include "broker/net/request_budget.h"
#include "broker/net/request_sink.h"
#include "broker/net/stream.h"

namespace ackord::net {

struct ConnectionLimits {
  int64_t max_frame_bytes = 104857600;  // socket.request.max.bytes
  // Until the peer has said who it is (sasl.server.max.receive.size); one request at a time then.
  int64_t max_unauthenticated_frame_bytes = 524288;
  size_t max_unanswered = 64;  // requests
  // Of frames and of answers in memory; one request may always be larger.
  uint64_t max_unanswered_bytes = 64ull << 20;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Complaints {
    base::Complaint frame_size;  // zero, negative or above socket.request.max.bytes
    base::Complaint frame_cut;   // the peer went within a frame
  };
  // What all connections of a core share. Outlives them.
  struct Place {
    io::Core core;
    io::FileSystem& files;
    RequestSink& sink;
    Complaints& complaints;
    RequestBudget& budget;
    ConnectionLimits limits;
    // The connection has ended; it may be destroyed once this returns.
    std::function<void(Connection&)> on_end;
  };

  Connection(Place& place, std::unique_ptr<Stream> stream, std::shared_ptr<api::Client> client);

  void start();
  // Takes no more requests, wakes long polls, and ends once all that was received is answered.
  void drain();
  // Ends as if the peer had gone.
  void disconnect();

  const api::Client& client() const { return *client_; }
  // The next step is the peer's: a request, or taking the answer that is being sent.
  bool waits_for_peer() const { return slots_.empty() || slots_.front().done; }
  // Steady time of the last byte that came or went.
  int64_t last_activity_ms() const { return last_activity_ms_; }
  // What it holds in memory.
  uint64_t held_bytes() const { return unanswered_bytes_ + reserved_bytes_; }
  // Since when a frame has been coming, or an answer been taken. Steady time; INT64_MAX: neither.
  int64_t transfer_began_ms() const;

 private:
  using Self = std::shared_ptr<Connection>;
  // One request, from its arrival until its answer has been sent.
  struct Slot {
    std::shared_ptr<const std::byte> frame;
    size_t size = 0;  // of the frame, and of the answer in memory once it is there
    bool done = false;
    SizePrefix prefix;
    api::Answer answer;
  };
  // A suspended worker, in its own frame.
  struct Parked {
    std::coroutine_handle<> handle;
    bool has_order = false;
  };
  struct ParkWorker;
  struct ParkSingle;

  static io::Task<void> read_requests(Self self);
  static io::Task<void> work(Self self);
  static io::Task<void> write_answers(Self self);

  io::Task<bool> read_frame();
  io::Task<bool> fill(FrameBuffer& frame);
  bool accept_size(int64_t size);
  bool is_full() const;
  io::Task<bool> await_place(int64_t bytes);
  void reserve(int64_t bytes);
  void release_frame();
  void count_bytes(int64_t change);
  void count_queued(int64_t change);
  void receive(std::shared_ptr<const std::byte> frame, size_t size);
  void end_reading();
  void lose_peer();

  // Order: at most one request holds it, from its start until it ends or releases it. One that has
  // released it runs beside later ones of its API only (Produce: many share a flush). Whatever else
  // comes after it sees its effects, as if requests were handled one by one.
  bool may_start_next() const;
  void start_next();
  void release_order(uint64_t sequence);
  void throttle(int32_t time_ms);
  void finish(uint64_t sequence, api::Answer answer);
  Slot& slot(uint64_t sequence) { return slots_[sequence - first_]; }

  size_t collect_answers(AnswerWriter& writer, bool& close);
  void forget(const Slot& slot);
  void drop_answers(size_t count);
  void wake(std::coroutine_handle<>& parked);
  void touch() { last_activity_ms_ = place_.core.clock.now().steady_ms; }

  Place& place_;
  std::unique_ptr<Stream> stream_;
  std::shared_ptr<api::Client> client_;
  int64_t last_activity_ms_ = 0;

  // Small frames are cut from here; the rest of a large one is read into its own memory.
  std::array<std::byte, 8192> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;

  std::deque<Slot> slots_;
  uint64_t first_ = 0;  // sequence number of slots_.front()
  uint64_t next_ = 0;   // of the next request to start
  uint64_t unanswered_bytes_ = 0;
  uint64_t reserved_bytes_ = 0;   // for the frame that is being read
  bool is_exempt_ = false;        // that frame (RequestBudget::take_exemption)
  int64_t frame_began_ms_ = -1;   // steady; -1: none is being read
  int64_t answer_began_ms_ = -1;  // the same of the answers that are being sent

  static constexpr uint64_t kNobody = UINT64_MAX;
  static constexpr uint64_t kPromised = UINT64_MAX - 1;  // to a worker that has not taken it yet
  uint64_t order_holder_ = kNobody;
  int64_t silent_until_ms_ = 0;  // steady: no request starts before it; 0 is never
  size_t running_ = 0;           // requests that have started and not ended: all of one API
  int16_t running_api_key_ = 0;
  std::vector<Parked*> idle_workers_;
  std::coroutine_handle<> parked_reader_;
  std::coroutine_handle<> parked_writer_;

  bool started_ = false;
  bool reading_ended_ = false;
  bool broken_ = false;  // nothing can be sent any more
};

}  // namespace ackord::net
