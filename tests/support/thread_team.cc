// SPDX-License-Identifier: MIT
#include "support/thread_team.h"

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
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
  std::mutex mutex;
  /// By number of the split and group.
  std::map<std::pair<int, int>, std::shared_ptr<Room>> parts;
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

  Team& split(int group) override {
    const std::vector<int> groups = all_gather(*this, group);
    const auto before = groups.begin() + member();
    const auto size_of_part = static_cast<int>(std::count(groups.begin(), groups.end(), group));
    {
      const std::scoped_lock lock(room_->mutex);
      // Each split has rooms of its own.
      auto& part = room_->parts[{splits_++, group}];
      if (part == nullptr) {
        part = std::make_shared<Room>(size_of_part);
      }
      parts_.push_back(std::make_unique<ThreadTeam>(
          part, static_cast<int>(std::count(groups.begin(), before, group))));
    }
    return *parts_.back();
  }

  [[nodiscard]] int machine() const override { return 0; }

 private:
  std::shared_ptr<Room> room_;
  int splits_ = 0;
  std::vector<std::unique_ptr<ThreadTeam>> parts_;
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
