// SPDX-License-Identifier: MIT
// Everybody listens, says where, connects to those it sends to, and then takes the connections of
// those it receives from. A connection begins with who it is from, and on which channel.
#include "execute/transports/tcp.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/socket.h>

#include "execute/transports/interfaces.h"
#include "execute/transports/sockets.h"
#include "execute/transports/streams.h"

namespace tacos::execution {
namespace {

using Streams = std::vector<std::unique_ptr<Stream>>;

struct Hello {
  std::uint32_t sender = 0;
  std::uint32_t channel = 0;
};

class SocketStream final : public Stream {
 public:
  SocketStream(Socket socket, std::uint32_t peer) : socket_(std::move(socket)), peer_(peer) {}

  Result<std::size_t> write(std::span<const std::byte> bytes) override {
    return moved(::send(socket_.file(), bytes.data(), bytes.size(), MSG_NOSIGNAL), false);
  }
  Result<std::size_t> read(std::span<std::byte> bytes) override {
    return moved(::recv(socket_.file(), bytes.data(), bytes.size(), 0), true);
  }
  [[nodiscard]] int file() const override { return socket_.file(); }
  // The system says so by itself.
  Status check_other_end() override { return ok(); }

 private:
  [[nodiscard]] Result<std::size_t> moved(ssize_t count, bool reads) const {
    if (count > 0) {
      return static_cast<std::size_t>(count);
    }
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) {
      return std::size_t{0};
    }
    if (count == 0 && reads) {
      return Error{.code = ErrorCode::kInternal,
                   .message = fmt::format("rank {} has closed its end", peer_),
                   .where = "TCP"};
    }
    return socket_error(fmt::format("no connection to rank {} any more", peer_));
  }

  Socket socket_;
  std::uint32_t peer_;
};

/// Where a member listens.
struct Contact {
  std::vector<std::uint32_t> hosts;
  std::uint16_t port = 0;
};

Packet pack(const Contact& contact) {
  Packet packet;
  put(packet, contact.port);
  put(packet, contact.hosts.size());
  put_all(packet, std::span<const std::uint32_t>(contact.hosts));
  return packet;
}
Contact contact_of(const Packet& packet) {
  PacketReader reader(packet);
  Contact contact;
  contact.port = reader.get<std::uint16_t>();
  contact.hosts.resize(reader.get<std::size_t>());
  reader.get_all(std::span(contact.hosts));
  return contact;
}

/// A member may have several addresses, and not all of them lead to it from here.
Result<Socket> reach(const std::vector<Interface>& own,
                     const Contact& contact,
                     const LaneEnd& end) {
  constexpr std::chrono::milliseconds kPatienceToConnect{3'000};
  for (const std::uint32_t host : best_first(own, contact.hosts, end.channel)) {
    Result<Socket> socket = connect_to({.host = host, .port = contact.port}, kPatienceToConnect);
    if (socket) {
      return socket;
    }
  }
  return Error{.code = ErrorCode::kInternal,
               .message = fmt::format("rank {} cannot be reached", end.peer),
               .where = "TCP"};
}

Status connect_senders(const std::vector<Interface>& own,
                       std::span<const LaneEnd> ends,
                       std::span<const Contact> contacts,
                       std::uint32_t self,
                       Streams& streams) {
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].role != LaneRole::kSend) {
      continue;
    }
    Result<Socket> socket = reach(own, contacts[ends[i].peer], ends[i]);
    if (!socket) {
      return socket.error();
    }
    const Hello hello{.sender = self, .channel = ends[i].channel};
    if (Status said = send_all(*socket, std::as_bytes(std::span(&hello, 1))); !said) {
      return said;
    }
    streams[i] = std::make_unique<SocketStream>(*std::move(socket), ends[i].peer);
  }
  return ok();
}

Status accept_receivers(std::span<const LaneEnd> ends, const Socket& listener, Streams& streams) {
  auto left = std::count_if(
      ends.begin(), ends.end(), [](const LaneEnd& end) { return end.role == LaneRole::kReceive; });
  while (left > 0) {
    Result<Socket> socket = accept_from(listener, kJoinTime);
    if (!socket) {
      return socket.error();
    }
    Hello hello;
    if (Status heard = receive_all(*socket, std::as_writable_bytes(std::span(&hello, 1))); !heard) {
      return heard;
    }
    const auto end = std::find_if(ends.begin(), ends.end(), [&](const LaneEnd& one) {
      return one.role == LaneRole::kReceive && one.peer == hello.sender &&
             one.channel == hello.channel;
    });
    const auto number = static_cast<std::size_t>(end - ends.begin());
    // Whoever is not expected has lost its way.
    if (end != ends.end() && !streams[number]) {
      streams[number] = std::make_unique<SocketStream>(*std::move(socket), hello.sender);
      --left;
    }
  }
  return ok();
}

}  // namespace

Result<std::unique_ptr<Connection>> TcpTransport::open(std::span<const LaneEnd> ends) {
  const std::vector<Interface> own = own_interfaces();
  const Result<Socket> listener = listen_on(0);
  Contact mine;
  if (listener) {
    mine.port = port_of(*listener);
    for (const Interface& one : own) {
      mine.hosts.push_back(one.host);
    }
  }
  std::vector<Contact> contacts;
  for (const Packet& packet : all_gather(team_, pack(mine))) {
    contacts.push_back(contact_of(packet));
  }
  Streams streams(ends.size());
  Status opened =
      listener ? connect_senders(
                     own, ends, contacts, static_cast<std::uint32_t>(team_.member()), streams)
               : Status(listener.error());
  if (opened) {
    opened = accept_receivers(ends, *listener, streams);
  }
  if (const std::optional<Error> failure =
          first_error(team_, opened ? std::nullopt : std::optional(opened.error()))) {
    return *failure;
  }
  return std::unique_ptr<Connection>(std::make_unique<StreamConnection>(ends, std::move(streams)));
}

}  // namespace tacos::execution
