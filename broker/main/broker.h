// Broker: the process's one broker: real cores, files and randomness, the services, the listeners.
//
// Order of start: configuration, data directory (locked, recovered), metadata, coordinators,
// listeners, "ackord ready". The ports are bound before the data is read, so a taken one is
// reported at once, but they refuse connections until everything is loaded. Threads: the main
// thread only.
#pragma once

#include <memory>
#include <vector>

#include "broker/http/http_server.h"
#include "broker/io/core.h"
#include "broker/io/posix/asio_core.h"
#include "broker/io/posix/posix_file_system.h"
#include "broker/io/posix/system_random.h"
#include "broker/main/assembly.h"
#include "broker/main/config.h"
#include "broker/main/listener_control.h"
#include "broker/main/operator_pages.h"
#include "broker/net/request_sink.h"

namespace ackord::main {

class Broker {
 public:
  // Ends when clients are served. Errors carry the text for the operator.
  // `users`: of --add-scram (first_users.h).
  static Result<std::unique_ptr<Broker>> start(const Config& config,
                                               std::vector<metadata::ScramUpsertion> users);
  // Without stop(): as a crash, but for the memory.
  ~Broker();
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  // Takes no more requests, answers those that are here, makes everything durable. False when the
  // log directory had gone offline.
  bool stop();

 private:
  class DispatchSink;

  explicit Broker(const Config& config);
  Result<void> bind(const Config& config);
  Result<void> bind_http(const Config& config);
  AssemblySettings assembly_settings(const Config& config);
  Result<void> load(const Config& config, std::vector<metadata::ScramUpsertion> users);
  Result<void> serve();
  io::Task<void> use_dynamic_configs();

  // In the order of construction; destroyed backwards, after the cores have stopped.
  io::AsioCores cores_;
  io::PosixFileSystem files_;
  io::SystemRandom random_;
  io::Environment environment_;
  std::unique_ptr<Assembly> assembly_;
  std::unique_ptr<DispatchSink> sink_;
  security::SaslListeners logins_;  // until they are loaded
  ListenerControl listeners_;
  OperatorPages pages_;
  std::unique_ptr<http::HttpServer> http_;
};

}  // namespace ackord::main
