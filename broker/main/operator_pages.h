// OperatorPages: what the HTTP listener (`http.listener`) serves.
//   /healthz  200 while the process can acknowledge something: it is loading or serves, and its log
//             directory is online
//   /readyz   200 while clients are served
//   /metrics  Prometheus' text format; computed when it is asked for
// Threads: handle() on any; the pages that need the services are made on core 0.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>

#include "broker/base/metrics.h"
#include "broker/http/http_server.h"
#include "broker/io/core.h"
#include "broker/main/assembly.h"

namespace ackord::main {

class OperatorPages {
 public:
  using AddMetrics = std::function<void(base::MetricsPage& page)>;

  // `core`: 0, where `add_metrics` is called for what is not the services'. It must outlive the
  // server that calls handle().
  OperatorPages(io::Executor& core, AddMetrics add_metrics)
      : core_(core), add_metrics_(std::move(add_metrics)) {}

  // From now on there are services; they must run until stopping() was called and the server is
  // gone.
  void serving(Assembly& assembly) { assembly_.store(&assembly); }
  void stopping() { assembly_.store(nullptr); }

  void handle(const std::string& target, http::HttpReply reply);

 private:
  io::Task<void> reply_later(Assembly& assembly, bool metrics, http::HttpReply reply);

  io::Executor& core_;
  const AddMetrics add_metrics_;
  std::atomic<Assembly*> assembly_{nullptr};
};

// The text of /metrics.
io::Task<std::string> metrics_text(Assembly& assembly, OperatorPages::AddMetrics add_metrics);

}  // namespace ackord::main
