// SPDX-License-Identifier: MIT
// What trees are to do: who takes part, and which ways chunks go.
#pragma once

#include <cstdint>
#include <vector>

#include "synthesis/trees/network/routes.h"

namespace tacos::trees {

/// Sums go up a tree, results down.
enum class Flow { kUpAndDown, kDown, kUp };

struct Job {
  Flow flow = Flow::kUpAndDown;
  /// Of every tree; kNone where each may have its own.
  std::uint32_t root = kNone;
  /// Whether every participant is the root for its own chunks, as many as any other's.
  bool everyones_own = false;
  /// Ascending. Other NPUs may be in a tree to pass chunks on.
  std::vector<std::uint32_t> participants;
  /// Per NPU.
  std::vector<bool> takes_part;

  [[nodiscard]] bool everybody() const { return participants.size() == takes_part.size(); }
  /// A chunk crosses a tree edge once each way that it goes.
  [[nodiscard]] std::uint64_t transfers_per_chunk() const {
    return (flow == Flow::kUpAndDown ? 2 : 1) * (participants.size() - std::uint64_t{1});
  }
  /// Numbers of chunks and of trees are multiples of this.
  [[nodiscard]] std::uint32_t unit() const {
    return everyones_own ? static_cast<std::uint32_t>(participants.size()) : 1;
  }
  [[nodiscard]] bool goes_up() const { return flow != Flow::kDown; }
  [[nodiscard]] bool goes_down() const { return flow != Flow::kUp; }
};

}  // namespace tacos::trees
