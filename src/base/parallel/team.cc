// SPDX-License-Identifier: MIT
#include "base/parallel/team.h"

#include <utility>

namespace tacos {
namespace {

std::vector<Packet> to_everybody(const Team& team, const Packet& packet) {
  return {static_cast<std::size_t>(team.size()), packet};
}

std::vector<Packet> nothing(const Team& team) {
  return std::vector<Packet>(static_cast<std::size_t>(team.size()));
}

}  // namespace

std::vector<Packet> all_gather(Team& team, const Packet& mine) {
  return team.exchange(to_everybody(team, mine));
}

Packet broadcast(Team& team, int from, const Packet& packet) {
  const bool sends = team.member() == from;
  std::vector<Packet> given = team.exchange(sends ? to_everybody(team, packet) : nothing(team));
  return std::move(given[static_cast<std::size_t>(from)]);
}

void put_error(Packet& packet, const Error& error) {
  put(packet, error.code);
  put_text(packet, error.message);
  put_text(packet, error.where);
}

Error get_error(PacketReader& reader) {
  const auto code = reader.get<ErrorCode>();
  std::string message = reader.get_text();
  return {.code = code, .message = std::move(message), .where = reader.get_text()};
}

std::optional<Error> first_error(Team& team, const std::optional<Error>& mine) {
  Packet packet;
  if (mine) {
    put_error(packet, *mine);
  }
  for (const Packet& one : all_gather(team, packet)) {
    if (!one.empty()) {
      PacketReader reader(one);
      return get_error(reader);
    }
  }
  return std::nullopt;
}

std::vector<Packet> ask(Team& team, const Packet& request) {
  (void)broadcast(team, 0, request);
  return team.exchange(nothing(team));
}

void dismiss(Team& team) {
  (void)broadcast(team, 0, {});
}

void serve(Team& team, const std::function<Packet(std::span<const std::byte>)>& answer) {
  for (;;) {
    const Packet request = broadcast(team, 0, {});
    if (request.empty()) {
      return;
    }
    std::vector<Packet> answers = nothing(team);
    answers.front() = answer(request);
    (void)team.exchange(std::move(answers));
  }
}

}  // namespace tacos
