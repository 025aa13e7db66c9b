#include "tests/integration/support/broker_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "protocol/generated/api_versions_request.h"
#include "protocol/generated/api_versions_response.h"
#include "tests/integration/support/raw_client.h"

namespace ackord::integration {
namespace {

constexpr Millis kStartLimit{30000};
constexpr Millis kStopLimit{20000};
constexpr Millis kPoll{5};
// The kernel's own choices for clients begin at 32768.
constexpr int kFirstPort = 15000;
constexpr int kLastPort = 32000;

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

int exit_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool answers(uint16_t port) {
  try {
    RawClient client(port);
    protocol::ApiVersionsRequest request;
    request.client_software_name = "integration";
    request.client_software_version = "1";
    return client.call<protocol::ApiVersionsResponse>(request, 3).message.error_code ==
           ErrorCode::NONE;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

uint16_t free_port() {
  // Between the choice and its use a port looks free to everybody. So none is given out twice, and
  // test programs that run side by side begin at places of their own.
  constexpr int kPorts = kLastPort - kFirstPort;
  constexpr int kPerProcess = 101;
  static std::atomic<int> next = ::getpid() % kPorts * kPerProcess % kPorts;
  while (true) {
    const auto port = static_cast<uint16_t>(kFirstPort + next++ % kPorts);
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ::sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool free = ::bind(socket, reinterpret_cast<::sockaddr*>(&address), sizeof address) == 0;
    ::close(socket);
    if (free) return port;
  }
}

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments,
                           const std::string& output, const Limits& limits,
                           const Environment& environment) {
  std::vector<char*> argv;
  std::string binary = program;
  argv.push_back(binary.data());
  std::vector<std::string> copies = arguments;
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  // The first of a name counts.
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  for (char** inherited = environ; *inherited != nullptr; ++inherited)
    variables.emplace_back(*inherited);
  std::vector<char*> envp;
  for (std::string& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork");
  if (pid > 0) {
    pid_ = pid;
    return;
  }
  // Even if this program is killed, its brokers go with it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  for (const auto& [resource, value] : limits) {
    const rlimit both{value, value};
    if (::setrlimit(static_cast<__rlimit_resource>(resource), &both) != 0) ::_exit(127);
  }
  const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  // A socket of this program would stay open with the child.
  ::close_range(STDERR_FILENO + 1, ~0u, 0);
  ::execve(binary.c_str(), argv.data(), envp.data());
  ::_exit(127);
}

ChildProcess::~ChildProcess() {
  if (!running()) return;
  signal(SIGKILL);
  ::waitpid(*pid_, nullptr, 0);
}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  return *this;
}

void ChildProcess::signal(int number) {
  if (!pid_ || *pid_ <= 1) throw std::logic_error("a signal to a process that is not running");
  ::kill(*pid_, number);
}

uint64_t ChildProcess::resident_bytes() const {
  if (!pid_) throw std::logic_error("the memory of a process that is not running");
  std::istringstream pages(read_file("/proc/" + std::to_string(*pid_) + "/statm"));
  uint64_t resident = 0;
  pages >> resident >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

bool ChildProcess::stopped() const {
  if (!pid_) return false;
  // "PID (NAME) STATE …"; a name may have brackets.
  const std::string status = read_file("/proc/" + std::to_string(*pid_) + "/stat");
  const size_t name_ends = status.rfind(") ");
  return name_ends != std::string::npos && status.compare(name_ends + 2, 1, "T") == 0;
}

void ChildProcess::limit(int resource, uint64_t value) {
  if (!pid_) throw std::logic_error("a limit for a process that is not running");
  const auto which = static_cast<__rlimit_resource>(resource);
  rlimit both{};
  if (::prlimit(*pid_, which, nullptr, &both) != 0) throw std::runtime_error("prlimit");
  both.rlim_cur = std::min<rlim_t>(value, both.rlim_max);
  if (::prlimit(*pid_, which, &both, nullptr) != 0) throw std::runtime_error("prlimit");
}

std::optional<int> ChildProcess::poll_end() {
  int status = 0;
  if (!running() || ::waitpid(*pid_, &status, WNOHANG) != *pid_) return std::nullopt;
  pid_.reset();
  return exit_status(status);
}

std::optional<int> ChildProcess::wait_for_end(Millis limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (running() && std::chrono::steady_clock::now() < end) {
    if (const std::optional<int> status = poll_end()) return status;
    std::this_thread::sleep_for(kPoll);
  }
  return std::nullopt;
}

Ended run_ackord(const std::vector<std::string>& arguments, Millis limit, const Limits& limits) {
  test::TempDirectory directory;
  const std::string output = directory / "output";
  ChildProcess child(ACKORD_BINARY, arguments, output, limits);
  const std::optional<int> status = child.wait_for_end(limit);
  if (!status) throw std::runtime_error("ackord did not end by itself: " + read_file(output));
  return {*status, read_file(output)};
}

BrokerProcess::BrokerProcess(Settings settings)
    : BrokerProcess(std::move(settings), Surroundings()) {}

BrokerProcess::BrokerProcess(Settings settings, Surroundings surroundings)
    : settings_{{"offsets.topic.num.partitions", "3"},
                {"transaction.state.log.num.partitions", "3"},
                {"share.coordinator.state.topic.num.partitions", "3"}},
      surroundings_(std::move(surroundings)),
      port_(free_port()) {
  settings_.insert(settings_.end(), settings.begin(), settings.end());
  start();
}

BrokerProcess::~BrokerProcess() {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const bool failed = ::testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed() ||
                      (test != nullptr && test->result()->Failed());
  if (failed) std::cerr << "--- output of the broker:\n" << output() << "---\n";
}

std::vector<std::string> BrokerProcess::arguments() const {
  std::string listeners = "PLAINTEXT://" + bootstrap();
  std::string advertised = listeners;
  std::string protocols = "PLAINTEXT:PLAINTEXT";
  const std::vector<ProxiedListener>& proxied = surroundings_.proxied;
  for (size_t i = 0; i < proxied.size(); ++i) {
    const std::string name = "PROXIED" + std::to_string(i);
    const std::string host = "," + name + "://127.0.0.1:";
    listeners += host + std::to_string(proxied[i].port);
    advertised += host + std::to_string(proxied[i].advertised_port);
    protocols += "," + name + ":" + proxied[i].protocol;
  }
  std::vector<std::string> arguments{"--set", "listeners=" + listeners,
                                     "--set", "log.dirs=" + directory(),
                                     "--set", "http.listener="};
  if (!proxied.empty()) {
    arguments.insert(arguments.end(), {"--set", "advertised.listeners=" + advertised, "--set",
                                       "listener.security.protocol.map=" + protocols});
  }
  for (const auto& [name, value] : settings_) {
    arguments.push_back("--set");
    arguments.push_back(name + "=" + value);
  }
  arguments.insert(arguments.end(), surroundings_.arguments.begin(), surroundings_.arguments.end());
  return arguments;
}

void BrokerProcess::launch() {
  child_ = ChildProcess(ACKORD_BINARY, arguments(), directory_ / "output", limits_,
                        surroundings_.environment);
}

void BrokerProcess::start() {
  launch();
  wait_until_ready();
}

void BrokerProcess::wait_until_ready() {
  const auto end = std::chrono::steady_clock::now() + kStartLimit;
  while (!answers(port_)) {
    if (const std::optional<int> status = child_.poll_end()) {
      throw std::runtime_error("ackord ended with " + std::to_string(*status) + ":\n" + output());
    }
    if (std::chrono::steady_clock::now() > end)
      throw std::runtime_error("ackord does not answer:\n" + output());
    std::this_thread::sleep_for(kPoll);
  }
}

void BrokerProcess::kill9() {
  child_.signal(SIGKILL);
  const std::optional<int> status = child_.wait_for_end(kStopLimit);
  // It must have lived until now: a broker that had died by itself is no crash test.
  if (status != 128 + SIGKILL) throw std::runtime_error("ackord had ended by itself:\n" + output());
}

void BrokerProcess::await_own_kill() {
  const std::optional<int> status = child_.wait_for_end(kStopLimit);
  if (status != 128 + SIGKILL) throw std::runtime_error("ackord lives, or ended:\n" + output());
}

int BrokerProcess::stop() {
  child_.signal(SIGTERM);
  const std::optional<int> status = child_.wait_for_end(kStopLimit);
  if (!status) throw std::runtime_error("no end after SIGTERM:\n" + output());
  return *status;
}

void BrokerProcess::crash() {
  kill9();
  start();
}

std::string BrokerProcess::output() const { return read_file(directory_ / "output"); }

}  // namespace ackord::integration
