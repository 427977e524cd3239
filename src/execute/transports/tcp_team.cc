// SPDX-License-Identifier: MIT
// Everything goes through the first member, which is good enough for the few words that are said
// before programs run.
#include "execute/transports/tcp_team.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <thread>
#include <utility>

#include <unistd.h>

namespace tacos::execution {
namespace {

void must(const Status& status) {
  if (!status) {
    throw std::runtime_error(status.error().to_string());
  }
}

void send_packet(const Socket& socket, const Packet& packet) {
  const std::uint64_t size = packet.size();
  must(send_all(socket, std::as_bytes(std::span(&size, 1))));
  must(send_all(socket, packet));
}

Packet receive_packet(const Socket& socket) {
  std::uint64_t size = 0;
  must(receive_all(socket, std::as_writable_bytes(std::span(&size, 1))));
  Packet packet(size);
  must(receive_all(socket, packet));
  return packet;
}

std::string host_name() {
  std::array<char, 256> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

Result<std::unique_ptr<TcpTeam>> TcpTeam::join(const std::string& address, int member, int size) {
  const Result<Address> first = parse_address(address);
  if (!first) {
    return first.error();
  }
  std::unique_ptr<TcpTeam> team(new TcpTeam(member, size));
  if (Status joined = member == 0 ? team->gather(*first) : team->come(*first); !joined) {
    return joined.error();
  }
  team->find_machine();
  return team;
}

Status TcpTeam::gather(Address address) {
  const Result<Socket> listener = listen_on(address.port);
  if (!listener) {
    return listener.error();
  }
  sockets_.resize(static_cast<std::size_t>(size()));
  for (int left = size() - 1; left > 0;) {
    Result<Socket> socket = accept_from(*listener, kJoinTime);
    if (!socket) {
      return socket.error();
    }
    int member = 0;
    if (Status heard = receive_all(*socket, std::as_writable_bytes(std::span(&member, 1)));
        !heard) {
      return heard;
    }
    if (member > 0 && member < size() && !sockets_[static_cast<std::size_t>(member)].open()) {
      sockets_[static_cast<std::size_t>(member)] = *std::move(socket);
      --left;
    }
  }
  return ok();
}

Status TcpTeam::come(Address address) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause{20};
  const Clock::time_point end = Clock::now() + kJoinTime;
  while (true) {
    Result<Socket> socket = connect_to(address, kJoinTime);
    if (socket) {
      const int self = member();
      sockets_.push_back(*std::move(socket));
      return send_all(sockets_.front(), std::as_bytes(std::span(&self, 1)));
    }
    // The first may not have come yet.
    if (Clock::now() > end) {
      return socket.error();
    }
    std::this_thread::sleep_for(kPause);
  }
}

void TcpTeam::find_machine() {
  Packet mine;
  put_text(mine, host_name());
  const std::vector<Packet> names = all_gather(*this, mine);
  machine_ = static_cast<int>(std::find(names.begin(), names.end(), mine) - names.begin());
}

std::vector<Packet> TcpTeam::exchange(std::vector<Packet> packets) {
  const auto members = static_cast<std::size_t>(size());
  if (!leads()) {
    for (const Packet& packet : packets) {
      send_packet(sockets_.front(), packet);
    }
    for (Packet& packet : packets) {
      packet = receive_packet(sockets_.front());
    }
    return packets;
  }
  std::vector<std::vector<Packet>> from(members);
  from[0] = std::move(packets);
  for (std::size_t member = 1; member < members; ++member) {
    for (std::size_t to = 0; to < members; ++to) {
      from[member].push_back(receive_packet(sockets_[member]));
    }
  }
  for (std::size_t to = 1; to < members; ++to) {
    for (std::size_t member = 0; member < members; ++member) {
      send_packet(sockets_[to], from[member][to]);
    }
  }
  std::vector<Packet> mine;
  mine.reserve(members);
  for (std::vector<Packet>& one : from) {
    mine.push_back(std::move(one[0]));
  }
  return mine;
}

}  // namespace tacos::execution
