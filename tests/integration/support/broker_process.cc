#include "tests/integration/support/broker_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <random>
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

// Its output is appended to `output`. It dies with this thread's program.
pid_t spawn_ackord(const std::vector<std::string>& arguments, const std::string& output) {
  std::vector<char*> argv;
  std::string binary = ACKORD_BINARY;
  argv.push_back(binary.data());
  std::vector<std::string> copies = arguments;
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::runtime_error("fork");
  if (pid > 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  ::execv(binary.c_str(), argv.data());
  ::_exit(127);
}

int exit_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// False when it still runs after the time.
bool wait_for_end(pid_t pid, Millis limit, int* status) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (::waitpid(pid, status, WNOHANG) != pid) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(kPoll);
  }
  return true;
}

bool answers(uint16_t port) {
  try {
    RawClient client(port);
    protocol::ApiVersionsRequest request;
    request.client_software_name = "integration";
    request.client_software_version = "1";
    return client.call<protocol::ApiVersionsResponse>(request, 3).message.error_code == ErrorCode::NONE;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

uint16_t free_port() {
  static std::mt19937 random{std::random_device{}()};
  std::uniform_int_distribution<int> any(kFirstPort, kLastPort);
  while (true) {
    const auto port = static_cast<uint16_t>(any(random));
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

Ended run_ackord(const std::vector<std::string>& arguments, Millis limit) {
  test::TempDirectory directory;
  const std::string output = directory / "output";
  const pid_t pid = spawn_ackord(arguments, output);
  int status = 0;
  if (!wait_for_end(pid, limit, &status)) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
    throw std::runtime_error("ackord did not end by itself: " + read_file(output));
  }
  return {exit_status(status), read_file(output)};
}

BrokerProcess::BrokerProcess(Settings settings)
    : settings_{{"offsets.topic.num.partitions", "3"},
                {"transaction.state.log.num.partitions", "3"},
                {"share.coordinator.state.topic.num.partitions", "3"}},
      port_(free_port()) {
  settings_.insert(settings_.end(), settings.begin(), settings.end());
  start();
}

BrokerProcess::~BrokerProcess() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const bool failed = ::testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed() ||
                      (test != nullptr && test->result()->Failed());
  if (failed) std::cerr << "--- output of the broker:\n" << output() << "---\n";
}

std::vector<std::string> BrokerProcess::arguments() const {
  std::vector<std::string> arguments{"--set", "listeners=PLAINTEXT://" + bootstrap(), "--set",
                                     "log.dirs=" + directory()};
  for (const auto& [name, value] : settings_) {
    arguments.push_back("--set");
    arguments.push_back(name + "=" + value);
  }
  return arguments;
}

void BrokerProcess::start() {
  pid_ = spawn_ackord(arguments(), directory_ / "output");
  wait_until_ready();
}

void BrokerProcess::wait_until_ready() {
  const auto end = std::chrono::steady_clock::now() + kStartLimit;
  while (!answers(port_)) {
    int status = 0;
    if (ended(&status)) {
      throw std::runtime_error("ackord ended with " + std::to_string(exit_status(status)) + ":\n" + output());
    }
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("ackord does not answer:\n" + output());
    std::this_thread::sleep_for(kPoll);
  }
}

bool BrokerProcess::ended(int* status) {
  if (::waitpid(pid_, status, WNOHANG) != pid_) return false;
  pid_ = -1;
  return true;
}

void BrokerProcess::kill9() {
  ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  // It must have lived until now: a broker that had died by itself is no crash test.
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
    throw std::runtime_error("ackord had ended by itself:\n" + output());
  }
}

int BrokerProcess::stop() {
  ::kill(pid_, SIGTERM);
  int status = 0;
  if (!wait_for_end(pid_, kStopLimit, &status)) throw std::runtime_error("no end after SIGTERM:\n" + output());
  pid_ = -1;
  return exit_status(status);
}

void BrokerProcess::crash() {
  kill9();
  start();
}

std::string BrokerProcess::output() const { return read_file(directory_ / "output"); }

}  // namespace ackord::integration
