// SPDX-License-Identifier: MIT
// When links are taken, of those where a transfer went ahead of its turn.
#pragma once

#include <cstdint>
#include <map>

#include "tacos/topology.h"

#include "replay/clocks.h"

namespace tacos::replay {

/// Links that a transfer was forced on although others come before it there, and when they are
/// taken from then on.
class Reservations {
 public:
  void open(LinkId link) { taken_[link]; }
  [[nodiscard]] bool empty() const { return taken_.empty(); }
  /// If the link is one of them.
  void add(LinkId link, Ticks from, Ticks busy, std::uint64_t number) {
    if (const auto found = taken_.find(link); found != taken_.end()) {
      found->second.emplace(from, Taken{from + busy, number});
    }
  }
  /// Until the link is free again, if it is taken when the transfer would be there.
  void wait(LinkId link, Ticks head, Ticks busy, Made& made) const {
    const auto found = taken_.find(link);
    if (found == taken_.end()) {
      return;
    }
    auto next = found->second.lower_bound(made.start + head + busy);
    if (next == found->second.begin()) {
      return;
    }
    --next;
    if (next->second.to > made.start + head) {
      made.wait(next->second.to - head, Cause::kLink, next->second.number);
    }
  }

 private:
  struct Taken {
    Ticks to;
    std::uint64_t number = 0;
  };
  std::map<LinkId, std::map<Ticks, Taken>> taken_;
};

}  // namespace tacos::replay
