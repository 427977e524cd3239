// SPDX-License-Identifier: MIT
#include "support/thread_team.h"

#include <barrier>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace tacos {
namespace {

/// Where members leave packets for each other.
struct Room {
  explicit Room(int members)
      : size(members), barrier(members), boxes(static_cast<std::size_t>(members)) {}

  int size;
  std::barrier<> barrier;
  /// Per member: what it gives to each.
  std::vector<std::vector<Packet>> boxes;
};

class ThreadTeam final : public Team {
 public:
  ThreadTeam(std::shared_ptr<Room> room, int member)
      : Team(member, room->size), room_(std::move(room)) {}

  std::vector<Packet> exchange(std::vector<Packet> packets) override {
    room_->boxes[static_cast<std::size_t>(member())] = std::move(packets);
    room_->barrier.arrive_and_wait();
    std::vector<Packet> received;
    for (const std::vector<Packet>& box : room_->boxes) {
      received.push_back(box[static_cast<std::size_t>(member())]);
    }
    room_->barrier.arrive_and_wait();
    return received;
  }

  [[nodiscard]] int machine() const override { return 0; }

 private:
  std::shared_ptr<Room> room_;
};

}  // namespace

void run_as_team(int size, const std::function<void(Team&)>& body) {
  const auto room = std::make_shared<Room>(size);
  std::vector<std::jthread> threads;
  for (int member = 0; member < size; ++member) {
    threads.emplace_back([&, member] {
      ThreadTeam team(room, member);
      body(team);
    });
  }
}

}  // namespace tacos
