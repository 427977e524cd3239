// SPDX-License-Identifier: MIT
#include "execute/transports/sockets.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text/quantity.h"

namespace tacos::execution {
namespace {

using std::chrono::milliseconds;

sockaddr_in to_system(Address address) {
  sockaddr_in made{};
  made.sin_family = AF_INET;
  made.sin_port = htons(address.port);
  made.sin_addr.s_addr = address.host;
  return made;
}

/// Whether the socket became ready in time.
bool wait_for(const Socket& socket, std::int16_t events, milliseconds time) {
  pollfd one{.fd = socket.file(), .events = events, .revents = 0};
  int ready = 0;
  do {
    ready = ::poll(&one, 1, static_cast<int>(time.count()));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

/// Every socket that carries data: calls do not wait, and what is written goes out at once.
void prepare(const Socket& socket) {
  const int on = 1;
  (void)::setsockopt(socket.file(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  (void)::fcntl(socket.file(), F_SETFL, ::fcntl(socket.file(), F_GETFL) | O_NONBLOCK);
}

/// Calls `move` with what is left until all is moved.
template <class Bytes, class Move>
Status move_all(const Socket& socket, Bytes bytes, std::int16_t events, const Move& move) {
  while (!bytes.empty()) {
    const ssize_t moved = move(bytes);
    if (moved > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(moved));
    } else if (moved == 0) {
      return Error{
          .code = ErrorCode::kInternal, .message = "the other end is gone", .where = "TCP"};
    } else if (errno != EAGAIN && errno != EINTR) {
      return socket_error("cannot talk to another process");
    } else if (!wait_for(socket, events, kJoinTime)) {
      return Error{.code = ErrorCode::kInternal,
                   .message = "another process does not answer",
                   .where = "TCP"};
    }
  }
  return ok();
}

}  // namespace

Socket::~Socket() {
  if (file_ >= 0) {
    (void)::close(file_);
  }
}

Error socket_error(const std::string& what) {
  return {.code = ErrorCode::kInternal,
          .message = fmt::format("{}: {}", what, std::strerror(errno)),
          .where = "TCP"};
}

Result<Address> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  constexpr std::uint64_t kLastPort = 65'535;
  const Result<std::uint64_t> port =
      parse_whole(colon == std::string::npos ? "" : text.substr(colon + 1), 1, kLastPort);
  if (!port) {
    return input_error(fmt::format("'{}' is no address; write for example node1:4711", text));
  }
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string name = text.substr(0, colon);
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0 || found == nullptr) {
    return input_error(fmt::format("no machine is called '{}'", name));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  sockaddr_in address{};
  std::memcpy(&address, found->ai_addr, sizeof address);
  return Address{.host = address.sin_addr.s_addr, .port = static_cast<std::uint16_t>(*port)};
}

Result<Socket> listen_on(std::uint16_t port) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.open()) {
    return socket_error("no socket");
  }
  const int on = 1;
  (void)::setsockopt(socket.file(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = to_system({.host = INADDR_ANY, .port = port});
  if (::bind(socket.file(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.file(), SOMAXCONN) != 0) {
    return socket_error(fmt::format("cannot listen on port {}", port));
  }
  (void)::fcntl(socket.file(), F_SETFL, ::fcntl(socket.file(), F_GETFL) | O_NONBLOCK);
  return socket;
}

std::uint16_t port_of(const Socket& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  (void)::getsockname(listener.file(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

Result<Socket> accept_from(const Socket& listener, milliseconds time) {
  while (wait_for(listener, POLLIN, time)) {
    Socket socket(::accept4(listener.file(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.open()) {
      prepare(socket);
      return socket;
    }
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      return socket_error("cannot take a connection");
    }
  }
  return Error{
      .code = ErrorCode::kInternal, .message = "another process does not come", .where = "TCP"};
}

Result<Socket> connect_to(Address address, milliseconds time) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.open()) {
    return socket_error("no socket");
  }
  prepare(socket);
  const sockaddr_in target = to_system(address);
  int failure = 0;
  if (::connect(socket.file(), reinterpret_cast<const sockaddr*>(&target), sizeof target) != 0) {
    failure = errno;
    if (failure == EINPROGRESS && wait_for(socket, POLLOUT, time)) {
      socklen_t size = sizeof failure;
      (void)::getsockopt(socket.file(), SOL_SOCKET, SO_ERROR, &failure, &size);
    }
  }
  if (failure != 0) {
    errno = failure;
    return socket_error("cannot connect");
  }
  return socket;
}

Status send_all(const Socket& socket, std::span<const std::byte> bytes) {
  return move_all(socket, bytes, POLLOUT, [&](std::span<const std::byte> rest) {
    return ::send(socket.file(), rest.data(), rest.size(), MSG_NOSIGNAL);
  });
}

Status receive_all(const Socket& socket, std::span<std::byte> bytes) {
  return move_all(socket, bytes, POLLIN, [&](std::span<std::byte> rest) {
    return ::recv(socket.file(), rest.data(), rest.size(), 0);
  });
}

}  // namespace tacos::execution
