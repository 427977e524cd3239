// SPDX-License-Identifier: MIT
// TCP sockets, as far as they are needed here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "tacos/result.h"

namespace tacos::execution {

/// Closed with its last owner.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int file) : file_(file) {}
  Socket(Socket&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] bool open() const { return file_ >= 0; }

 private:
  int file_ = -1;
};

/// IPv4, in the order of the network.
struct Address {
  std::uint32_t host = 0;
  std::uint16_t port = 0;
};

/// How long joining others may take.
inline constexpr std::chrono::seconds kJoinTime{30};

/// "name" or "1.2.3.4" with a port, such as "node1:4711".
[[nodiscard]] Result<Address> parse_address(const std::string& text);
/// On all interfaces; port 0 lets the system choose.
[[nodiscard]] Result<Socket> listen_on(std::uint16_t port);
[[nodiscard]] std::uint16_t port_of(const Socket& listener);
/// The first that comes within the time.
[[nodiscard]] Result<Socket> accept_from(const Socket& listener, std::chrono::milliseconds time);
[[nodiscard]] Result<Socket> connect_to(Address address, std::chrono::milliseconds time);

/// All of the bytes, before the join time is over.
[[nodiscard]] Status send_all(const Socket& socket, std::span<const std::byte> bytes);
[[nodiscard]] Status receive_all(const Socket& socket, std::span<std::byte> bytes);

[[nodiscard]] Error socket_error(const std::string& what);

}  // namespace tacos::execution
