// TlsPeer: the client's end of an encrypted connection. Blocking, with a deadline of the socket.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tests/support/certificates.h"
#include "tests/unit/broker/net/peer.h"

namespace ackord::net {

struct TlsPeerSettings {
  const test::Certificate* trusted = nullptr;  // null: the server is believed
  const test::Certificate* own = nullptr;
  int version = 0;         // TLS1_2_VERSION; 0: the newest
  std::string suites;      // of TLS 1.2
  int receive_buffer = 0;  // 0: the system's
};

class TlsPeer {
 public:
  explicit TlsPeer(uint16_t port, const TlsPeerSettings& settings = {})
      : fd_(::socket(AF_INET, SOCK_STREAM, 0)), context_(SSL_CTX_new(TLS_client_method())) {
    if (settings.version != 0) {
      SSL_CTX_set_min_proto_version(context_, settings.version);
      SSL_CTX_set_max_proto_version(context_, settings.version);
    }
    if (!settings.suites.empty()) SSL_CTX_set_cipher_list(context_, settings.suites.c_str());
    if (settings.trusted != nullptr) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), settings.trusted->x509());
      SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
    }
    if (settings.own != nullptr) {
      SSL_CTX_use_certificate(context_, settings.own->x509());
      SSL_CTX_use_PrivateKey(context_, settings.own->key());
    }
    const timeval limit{kDeadlineMs / 1000, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (settings.receive_buffer > 0) {
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &settings.receive_buffer,
                   sizeof settings.receive_buffer);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    session_ = SSL_new(context_);
    SSL_set_fd(session_, fd_);
    connected_ = SSL_connect(session_) == 1;
  }
  TlsPeer(const TlsPeer&) = delete;
  ~TlsPeer() {
    SSL_free(session_);
    SSL_CTX_free(context_);
    ::close(fd_);
  }

  bool connected() const { return connected_; }
  // Of the server's certificate.
  std::string server_subject() const {
    X509* server = SSL_get0_peer_certificate(session_);
    if (server == nullptr) return "";
    char text[256] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(server), NID_commonName, text, sizeof text);
    return text;
  }
  std::string version() const { return SSL_get_version(session_); }
  std::string suite() const { return SSL_CIPHER_standard_name(SSL_get_current_cipher(session_)); }

  // False when the connection has ended.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const int sent = SSL_write(session_, bytes.data(), static_cast<int>(bytes.size()));
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  std::string receive(size_t count) {
    std::string out(count, '\0');
    size_t at = 0;
    while (at < count) {
      const int got = SSL_read(session_, out.data() + at, static_cast<int>(count - at));
      if (got <= 0) return "(the connection ended)";
      at += static_cast<size_t>(got);
    }
    return out;
  }
  std::string receive_frame() {
    const std::string head = receive(4);
    if (head.size() != 4) return head;
    uint32_t size = 0;
    for (const char c : head) size = size << 8 | static_cast<uint8_t>(c);
    return receive(size);
  }
  // With TLS 1.3 a client learns only by reading that its certificate was not taken.
  bool is_refused() {
    if (!connected_) return true;
    send(frame("e"));
    char one;
    return SSL_read(session_, &one, 1) <= 0;
  }

 private:
  int fd_;
  SSL_CTX* context_;
  SSL* session_ = nullptr;
  bool connected_ = false;
};

}  // namespace ackord::net
