// SPDX-License-Identifier: MIT
// Processes that do one thing together: all run the same program on the same input, share out what
// is independent, and exchange what they find. One process is a team as well.
//
// Members take the same decisions because they decide by what all of them know; so they make the
// same calls in the same order, and nobody waits for a call that does not come.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tacos/error.h"

#include "base/parallel/packet.h"

namespace tacos {

class Team {
 public:
  Team(int member, int size) : member_(member), size_(size) {}
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  virtual ~Team() = default;

  /// 0 to size() - 1; the first leads.
  [[nodiscard]] int member() const { return member_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool leads() const { return member_ == 0; }

  /// Gives packets[m] to member m and returns what each member gave to this one. From any thread,
  /// but one at a time.
  [[nodiscard]] virtual std::vector<Packet> exchange(std::vector<Packet> packets) = 0;
  /// Equal for members that share the memory of a machine.
  [[nodiscard]] virtual int machine() const = 0;

  /// For things that all members make in the same order: each gets the same label everywhere.
  [[nodiscard]] std::uint32_t new_label() { return labels_++; }

 private:
  int member_;
  int size_;
  std::uint32_t labels_ = 0;
};

/// The team of a process on its own.
class Alone final : public Team {
 public:
  Alone() : Team(0, 1) {}
  [[nodiscard]] std::vector<Packet> exchange(std::vector<Packet> packets) override {
    return packets;
  }
  [[nodiscard]] int machine() const override { return 0; }
};

/// What each member gave, in their order.
[[nodiscard]] std::vector<Packet> all_gather(Team& team, const Packet& mine);

template <Sendable T>
[[nodiscard]] std::vector<T> all_gather(Team& team, const T& mine) {
  Packet packet;
  put(packet, mine);
  std::vector<T> values;
  for (const Packet& one : all_gather(team, packet)) {
    values.push_back(PacketReader(one).get<T>());
  }
  return values;
}

/// What `from` has, at every member.
[[nodiscard]] Packet broadcast(Team& team, int from, const Packet& packet);

template <Sendable T>
[[nodiscard]] T broadcast(Team& team, int from, const T& value) {
  Packet packet;
  if (team.member() == from) {
    put(packet, value);
  }
  return PacketReader(broadcast(team, from, packet)).get<T>();
}

/// The error of the first member that has one: all give up together, or none does.
[[nodiscard]] std::optional<Error> first_error(Team& team, const std::optional<Error>& mine);
void put_error(Packet& packet, const Error& error);
[[nodiscard]] Error get_error(PacketReader& reader);

/// The leader asks the others, who serve until they are dismissed. Returns all answers but its own,
/// which is empty.
[[nodiscard]] std::vector<Packet> ask(Team& team, const Packet& request);
void dismiss(Team& team);
void serve(Team& team, const std::function<Packet(std::span<const std::byte>)>& answer);

}  // namespace tacos
