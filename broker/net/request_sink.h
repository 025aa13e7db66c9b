// RequestSink: where connections bring their requests. The broker's is the API's dispatch.
#pragma once

#include "broker/api/dispatch.h"
#include "broker/io/task.h"

namespace ackord::net {

// All calls on the connection's core.
class RequestSink {
 public:
  virtual ~RequestSink() = default;

  // Called for one request of a connection after the other: for the next once this one has ended,
  // or, if it is one of the same API, has called `release_order` (only while it runs; once is
  // enough). Answers are sent in the
  // order of the requests, whenever they end. When the peer goes, `client->gone` is set and
  // `client->on_gone` notified; the task runs on to its end, and its answer is dropped.
  virtual io::Task<api::Answer> handle(api::Call call) = 0;

  // Once per connection, after its last request has ended.
  virtual void connection_closed(api::Client& client) = 0;
};

}  // namespace ackord::net
