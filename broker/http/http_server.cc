#include "broker/http/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace ackord::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using Failure = boost::system::error_code;

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, const HttpLimits& limits, std::weak_ptr<asio::io_context> context,
          std::shared_ptr<size_t> open)
      : socket_(std::move(socket)),
        timer_(socket_.get_executor()),
        limits_(limits),
        buffer_(limits.header_bytes),
        context_(std::move(context)),
        open_(std::move(open)) {
    ++*open_;
  }
  ~Session() { --*open_; }

  void start(const HttpHandler& handler) {
    timer_.expires_after(std::chrono::milliseconds(limits_.lifetime_ms));
    timer_.async_wait([self = shared_from_this()](Failure cancelled) {
      if (!cancelled) self->close();
    });
    parser_.header_limit(limits_.header_bytes);
    parser_.body_limit(0);
    beast::http::async_read(socket_, buffer_, parser_,
                            [self = shared_from_this(), &handler](Failure failure, size_t) {
                              if (failure == beast::http::error::header_limit ||
                                  failure == beast::http::error::body_limit ||
                                  failure == beast::http::error::buffer_overflow) {
                                self->write({431, "the request is too large\n"});
                              } else if (failure) {
                                self->close();
                              } else {
                                self->serve(handler);
                              }
                            });
  }

 private:
  void serve(const HttpHandler& handler) {
    const auto& request = parser_.get();
    head_ = request.method() == beast::http::verb::head;
    if (!head_ && request.method() != beast::http::verb::get)
      return write({405, "only GET and HEAD\n"});
    const auto whole = request.target();
    std::string target(whole.substr(0, whole.find('?')));
    // The core that replies may outlive the server.
    handler(std::move(target), [weak = weak_from_this(), context = context_](HttpAnswer answer) {
      const auto alive = context.lock();
      if (!alive) return;
      asio::post(*alive, [weak, answer = std::move(answer)]() mutable {
        if (const auto self = weak.lock()) self->write(std::move(answer));
      });
    });
  }

  void write(HttpAnswer answer) {
    response_.result(answer.status);
    response_.version(11);
    response_.keep_alive(false);
    response_.set(beast::http::field::content_type, answer.content_type);
    response_.set(beast::http::field::cache_control, "no-store");
    response_.content_length(answer.body.size());
    if (!head_) response_.body() = std::move(answer.body);
    serializer_.emplace(response_);
    beast::http::async_write(socket_, *serializer_,
                             [self = shared_from_this()](Failure, size_t) { self->close(); });
  }

  void close() {
    timer_.cancel();
    Failure ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    socket_.close(ignored);
  }

  tcp::socket socket_;
  asio::steady_timer timer_;
  HttpLimits limits_;
  beast::flat_buffer buffer_;
  beast::http::request_parser<beast::http::empty_body> parser_;
  beast::http::response<beast::http::string_body> response_;
  std::optional<beast::http::response_serializer<beast::http::string_body>> serializer_;
  // What is under way is held by the context, which ends first.
  std::weak_ptr<asio::io_context> context_;
  std::shared_ptr<size_t> open_;
  bool head_ = false;
};

}  // namespace

class HttpServer::Impl {
 public:
  Impl(HttpHandler handler, HttpLimits limits)
      : context_(std::make_shared<asio::io_context>(1)),
        acceptor_(*context_),
        handler_(std::move(handler)),
        limits_(limits) {}
  ~Impl() {
    context_->stop();
    if (thread_.joinable()) thread_.join();
  }

  Failure bind(const std::string& host, const std::string& port) {
    Failure failure;
    tcp::resolver resolver(*context_);
    const auto found = resolver.resolve(host, port, tcp::resolver::passive, failure);
    if (failure) return failure;
    const tcp::endpoint endpoint = *found.begin();
    acceptor_.open(endpoint.protocol(), failure);
    if (!failure) acceptor_.set_option(tcp::acceptor::reuse_address(true), failure);
    if (!failure) acceptor_.bind(endpoint, failure);
    if (!failure) acceptor_.listen(asio::socket_base::max_listen_connections, failure);
    return failure;
  }

  void start() {
    accept();
    thread_ = std::thread([context = context_] { context->run(); });
  }
  uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  void accept() {
    acceptor_.async_accept([this](Failure failure, tcp::socket socket) {
      if (failure == asio::error::operation_aborted) return;
      // Above the bound it is closed here and now.
      if (!failure && *open_ < limits_.connections)
        std::make_shared<Session>(std::move(socket), limits_, context_, open_)->start(handler_);
      if (!failure) return accept();
      // Out of descriptors: a moment later there may be some.
      pause_.emplace(*context_, std::chrono::seconds(1));
      pause_->async_wait([this](Failure cancelled) {
        if (!cancelled) accept();
      });
    });
  }

  std::shared_ptr<asio::io_context> context_;
  tcp::acceptor acceptor_;
  HttpHandler handler_;
  HttpLimits limits_;
  std::shared_ptr<size_t> open_ = std::make_shared<size_t>(0);
  std::optional<asio::steady_timer> pause_;
  std::thread thread_;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
uint16_t HttpServer::port() const { return impl_->port(); }

Result<std::unique_ptr<HttpServer>> HttpServer::open(const std::string& address,
                                                     HttpHandler handler, HttpLimits limits) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon + 1 == address.size())
    return error(ErrorCode::INVALID_CONFIG, "not host:port: " + address);
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  auto impl = std::make_unique<Impl>(std::move(handler), limits);
  if (const Failure failure = impl->bind(host, address.substr(colon + 1)))
    return error(ErrorCode::INVALID_CONFIG,
                 "cannot listen on " + address + ": " + failure.message());
  impl->start();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

}  // namespace ackord::http
