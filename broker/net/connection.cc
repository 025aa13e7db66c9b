#include "broker/net/connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "broker/base/assert.h"
#include "protocol/record_batch/big_endian.h"

namespace ackord::net {
namespace {

// Workers beyond this end instead of waiting for the next request.
constexpr size_t kIdleWorkers = 4;
// How often a reader looks whether there is a place for its frame.
constexpr int64_t kPlaceRetryMs = 10;

// A request begins with it (RequestHeader). -1: it is too short to have one.
int16_t api_key_of(const std::byte* frame, size_t size) {
  return size < sizeof(int16_t) ? int16_t{-1} : protocol::load_big<int16_t>(frame);
}

bool is_sent(const api::Answer& answer) {
  return answer.kind == api::Answer::Kind::kSend || answer.kind == api::Answer::Kind::kSendAndClose;
}

bool closes(const api::Answer& answer) {
  return answer.kind == api::Answer::Kind::kClose ||
         answer.kind == api::Answer::Kind::kSendAndClose;
}

}  // namespace

struct Connection::ParkWorker {
  Connection& connection;
  Parked parked;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) {
    parked.handle = caller;
    connection.idle_workers_.push_back(&parked);
  }
  // Whether there is a request to start.
  bool await_resume() const noexcept { return parked.has_order; }
};

// For the reader and the writer, of which there is one each.
struct Connection::ParkSingle {
  std::coroutine_handle<>& place;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> caller) { place = caller; }
  void await_resume() const noexcept {}
};

Connection::Connection(Place& place, std::unique_ptr<Stream> stream,
                       std::shared_ptr<api::Client> client)
    : place_(place), stream_(std::move(stream)), client_(std::move(client)) {
  touch();
}

void Connection::start() {
  ACKORD_ASSERT(!started_, "a connection starts once");
  started_ = true;
  io::spawn(place_.core.executor, read_requests(shared_from_this()));
  io::spawn(place_.core.executor, write_answers(shared_from_this()));
}

void Connection::drain() {
  if (reading_ended_) return;
  end_reading();
  stream_->stop_reading();
}

void Connection::disconnect() {
  lose_peer();
  end_reading();
}

// No request will come any more: long polls end, parked tasks look again.
void Connection::end_reading() {
  if (reading_ended_) return;
  reading_ended_ = true;
  client_->gone = true;
  client_->on_gone.notify();
  for (Parked* parked : std::exchange(idle_workers_, {})) {
    place_.core.executor.resume(parked->handle);
  }
  wake(parked_reader_);
  wake(parked_writer_);
}

void Connection::lose_peer() {
  broken_ = true;
  stream_->close();
}

void Connection::wake(std::coroutine_handle<>& parked) {
  if (auto handle = std::exchange(parked, nullptr)) place_.core.executor.resume(handle);
}

// ---- Reading
// --------------------------------------------------------------------------------------

bool Connection::is_full() const {
  const ConnectionLimits& limits = place_.limits;
  if (slots_.empty()) return false;
  if (slots_.size() >= limits.max_unanswered || !client_->authenticated) return true;
  if (unanswered_bytes_ >= limits.max_unanswered_bytes || place_.budget.is_spent()) return true;
  const bool queues = next_ != first_ + slots_.size();
  return queues && place_.budget.has_too_many_queued();
}

void Connection::count_bytes(int64_t change) {
  unanswered_bytes_ += static_cast<uint64_t>(change);
  place_.budget.add_bytes(place_.core.index, change);
}

void Connection::count_queued(int64_t change) {
  place_.budget.add_queued(place_.core.index, change);
}

int64_t Connection::transfer_began_ms() const {
  int64_t since = INT64_MAX;
  if (frame_began_ms_ >= 0) since = frame_began_ms_;
  if (answer_began_ms_ >= 0) since = std::min(since, answer_began_ms_);
  return since;
}

io::Task<void> Connection::read_requests(Self self) {
  while (!self->reading_ended_) {
    if (self->is_full()) {
      ParkSingle park{self->parked_reader_};
      co_await park;
      continue;
    }
    const bool more = co_await self->read_frame();
    if (!more) break;
  }
  self->release_frame();
  self->end_reading();
}

bool Connection::accept_size(int64_t size) {
  const ConnectionLimits& limits = place_.limits;
  const int64_t most = client_->authenticated ? limits.max_frame_bytes
                                              : std::min(limits.max_frame_bytes,
                                                         limits.max_unauthenticated_frame_bytes);
  if (size > 0 && size <= most) return true;
  place_.complaints.frame_size.warn(
      last_activity_ms_, "frame size out of range, connection closed size={} client={} listener={}",
      size, client_->host, client_->listener);
  return false;
}

// False: reading has ended.
io::Task<bool> Connection::await_place(int64_t bytes) {
  RequestBudget& budget = place_.budget;
  budget.add_waiting(place_.core.index, 1);
  while (!reading_ended_ && !budget.has_place_for(bytes)) {
    is_exempt_ = budget.take_exemption();
    if (is_exempt_) break;
    io::SleepUntil later(place_.core.clock, place_.core.clock.now().steady_ms + kPlaceRetryMs);
    co_await later;
  }
  budget.add_waiting(place_.core.index, -1);
  touch();
  co_return !reading_ended_;
}

void Connection::reserve(int64_t bytes) {
  place_.budget.add_bytes(place_.core.index, bytes);
  reserved_bytes_ += static_cast<uint64_t>(bytes);
}

// Of the frame that is being read: complete, or given up.
void Connection::release_frame() {
  frame_began_ms_ = -1;
  place_.budget.add_bytes(place_.core.index, -static_cast<int64_t>(reserved_bytes_));
  reserved_bytes_ = 0;
  if (std::exchange(is_exempt_, false)) place_.budget.return_exemption();
}

// Reads one frame and hands it on. False when no further one can come.
io::Task<bool> Connection::read_frame() {
  while (end_ - begin_ < sizeof(int32_t)) {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
      end_ -= std::exchange(begin_, 0);
    }
    ReadSome read{*stream_, std::span(buffer_).subspan(end_)};
    const size_t got = co_await read;
    if (reading_ended_) co_return false;
    if (got == 0) {
      lose_peer();
      co_return false;
    }
    touch();
    end_ += got;
  }
  const int64_t size = protocol::load_big<int32_t>(buffer_.data() + begin_);
  begin_ += sizeof(int32_t);
  if (!accept_size(size)) co_return false;
  // While it waited for this one others may have taken what there was.
  while (is_full()) {
    ParkSingle park{parked_reader_};
    co_await park;
    if (reading_ended_) co_return false;
  }
  FrameBuffer frame(static_cast<size_t>(size));
  reserve(static_cast<int64_t>(frame.capacity()));
  frame_began_ms_ = last_activity_ms_;
  const size_t buffered = std::min(frame.size(), end_ - begin_);
  frame.fill(std::span(buffer_).subspan(begin_, buffered));
  begin_ += buffered;
  if (frame.missing() > 0) {
    auto filling = fill(frame);
    const bool filled = co_await std::move(filling);
    if (!filled) co_return false;
  }
  receive(frame.take(), static_cast<size_t>(size));
  co_return true;
}

// `buffer_` is empty.
io::Task<bool> Connection::fill(FrameBuffer& frame) {
  while (frame.missing() > 0) {
    if (const auto growth = static_cast<int64_t>(frame.growth()); growth > 0) {
      if (!is_exempt_ && !place_.budget.has_place_for(growth)) {
        auto waiting = await_place(growth);
        const bool placed = co_await std::move(waiting);
        if (!placed) co_return false;
      }
      reserve(growth);
    }
    // What remains is less than the buffer: the next frames may come in the same read.
    const bool direct = frame.missing() >= buffer_.size();
    ReadSome read{*stream_, direct ? frame.room() : std::span<std::byte>(buffer_)};
    const size_t got = co_await read;
    if (reading_ended_) co_return false;
    if (got == 0) {
      place_.complaints.frame_cut.warn(last_activity_ms_,
                                       "peer went within a frame missing={} client={} listener={}",
                                       frame.missing(), client_->host, client_->listener);
      lose_peer();
      co_return false;
    }
    touch();
    if (direct) {
      frame.filled(got);
      continue;
    }
    begin_ = std::min(frame.missing(), got);
    end_ = got;
    frame.fill(std::span(buffer_).first(begin_));
  }
  co_return true;
}

void Connection::receive(std::shared_ptr<const std::byte> frame, size_t size) {
  Slot& slot = slots_.emplace_back();
  slot.frame = std::move(frame);
  slot.size = size;
  release_frame();
  count_bytes(static_cast<int64_t>(size));
  count_queued(1);
  start_next();
}

// ---- Handling, in order
// ---------------------------------------------------------------------------

bool Connection::may_start_next() const {
  if (order_holder_ != kNobody || next_ == first_ + slots_.size()) return false;
  if (silent_until_ms_ != 0 && place_.core.clock.now().steady_ms < silent_until_ms_) return false;
  const Slot& next = slots_[next_ - first_];
  return running_ == 0 || api_key_of(next.frame.get(), next.size) == running_api_key_;
}

void Connection::start_next() {
  if (!may_start_next()) return;
  order_holder_ = kPromised;
  if (idle_workers_.empty()) {
    io::spawn(place_.core.executor, work(shared_from_this()));
    return;
  }
  Parked* parked = idle_workers_.back();
  idle_workers_.pop_back();
  parked->has_order = true;
  place_.core.executor.resume(parked->handle);
}

io::Task<void> Connection::work(Self self) {
  while (true) {
    // A close in between may have dropped the request that the order was promised for.
    if (self->order_holder_ == kPromised) self->order_holder_ = kNobody;
    while (self->may_start_next()) {
      const uint64_t sequence = self->next_++;
      self->count_queued(-1);
      self->order_holder_ = sequence;
      const Slot& slot = self->slot(sequence);
      ++self->running_;
      self->running_api_key_ = api_key_of(slot.frame.get(), slot.size);
      api::Call call;
      call.frame = slot.frame;
      call.payload = {slot.frame.get(), slot.size};
      call.client = self->client_;
      call.release_order = [connection = self.get(), sequence] {
        connection->release_order(sequence);
      };
      io::Task<api::Answer> task = self->place_.sink.handle(std::move(call));
      api::Answer answer = co_await std::move(task);
      --self->running_;
      self->finish(sequence, std::move(answer));
      if (self->order_holder_ == sequence) self->order_holder_ = kNobody;
      if (!self->may_start_next()) continue;
      // Whoever sends many requests at once takes turns with the core's other connections.
      self->order_holder_ = kPromised;
      auto others_first = io::yield();
      co_await others_first;
      if (self->order_holder_ == kPromised) self->order_holder_ = kNobody;
    }
    if (self->reading_ended_ || self->idle_workers_.size() >= kIdleWorkers) co_return;
    ParkWorker park{*self, {}};
    const bool has_order = co_await park;
    if (!has_order) co_return;
  }
}

void Connection::release_order(uint64_t sequence) {
  if (order_holder_ != sequence) return;
  order_holder_ = kNobody;
  start_next();
}

// Its requests wait, read or not (KIP-219).
void Connection::throttle(int32_t time_ms) {
  if (time_ms <= 0) return;
  silent_until_ms_ = std::max(silent_until_ms_, place_.core.clock.now().steady_ms + time_ms);
  place_.core.clock.call_at(silent_until_ms_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->start_next();
  });
}

void Connection::finish(uint64_t sequence, api::Answer answer) {
  throttle(answer.throttle_ms);
  Slot& done = slot(sequence);
  done.done = true;
  done.answer = std::move(answer);
  done.prefix = size_prefix(done.answer.bytes.size());
  bool borrows = false;
  size_t in_memory = 0;
  for (const auto& piece : done.answer.bytes.pieces) {
    borrows |= std::holds_alternative<protocol::OutputChain::Borrowed>(piece);
    if (!std::holds_alternative<FileRange>(piece)) in_memory += protocol::piece_size(piece);
  }
  if (!borrows) done.frame.reset();
  done.size += in_memory;
  count_bytes(static_cast<int64_t>(in_memory));
  touch();  // From now on it is the peer's turn.
  if (closes(done.answer)) {
    // What was not started comes after the close: it has not been received.
    while (first_ + slots_.size() > next_) {
      count_queued(-1);
      forget(slots_.back());
      slots_.pop_back();
    }
    drain();
  }
  if (sequence == first_) wake(parked_writer_);
}

// ---- Writing
// --------------------------------------------------------------------------------------

// Hands all answers whose turn it is to the writer; returns how many slots they take.
size_t Connection::collect_answers(AnswerWriter& writer, bool& close) {
  size_t count = 0;
  while (count < slots_.size() && slots_[count].done && !close) {
    const Slot& slot = slots_[count++];
    close = closes(slot.answer);
    if (is_sent(slot.answer)) writer.add(slot.prefix, slot.answer.bytes);
  }
  return count;
}

void Connection::forget(const Slot& slot) { count_bytes(-static_cast<int64_t>(slot.size)); }

void Connection::drop_answers(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    forget(slots_.front());
    slots_.pop_front();
    ++first_;
  }
  if (!is_full()) wake(parked_reader_);
}

io::Task<void> Connection::write_answers(Self self) {
  AnswerWriter writer(*self->stream_, self->place_.files,
                      [connection = self.get()] { connection->touch(); });
  while (!self->reading_ended_ || !self->slots_.empty()) {
    if (self->slots_.empty() || !self->slots_.front().done) {
      ParkSingle park{self->parked_writer_};
      co_await park;
      continue;
    }
    if (self->broken_) {
      self->drop_answers(1);
      continue;
    }
    bool close = false;
    const size_t count = self->collect_answers(writer, close);
    self->answer_began_ms_ = self->place_.core.clock.now().steady_ms;
    const bool sent = co_await writer.send();
    self->answer_began_ms_ = -1;
    self->touch();
    if (!sent || close) {
      self->lose_peer();
      self->end_reading();
    }
    self->drop_answers(count);
  }
  self->broken_ = true;
  self->stream_->close();
  self->place_.sink.connection_closed(*self->client_);
  self->place_.on_end(*self);
}

}  // namespace ackord::net
