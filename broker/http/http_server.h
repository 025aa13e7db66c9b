// HttpServer: small pages over HTTP/1.1, one request a connection, GET and HEAD only.
//
// A client cannot hurt: the header is bounded, there is no body, a connection lives ten seconds at
// the most, and those above the bound are closed at once. Threads: one of its own, which runs the
// handler; the reply may come from any thread, later. Errors of open(): INVALID_CONFIG with the
// address and why.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "protocol/types/result.h"

namespace ackord::http {

struct HttpAnswer {
  unsigned status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
};

using HttpReply = std::function<void(HttpAnswer)>;
// `target`: the path, without a query. Replies exactly once, or never: then the connection ends by
// its time.
using HttpHandler = std::function<void(std::string target, HttpReply reply)>;

struct HttpLimits {
  uint32_t header_bytes = 8192;
  size_t connections = 64;
  int64_t lifetime_ms = 10000;  // of a connection
};

class HttpServer {
 public:
  // Binds, and serves until it is destroyed. `address`: "host:port"; port 0 is any free one.
  static Result<std::unique_ptr<HttpServer>> open(const std::string& address, HttpHandler handler,
                                                  HttpLimits limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const;

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ackord::http
