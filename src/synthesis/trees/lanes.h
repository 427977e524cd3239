// SPDX-License-Identifier: MIT
// A packing as a set of lanes: one lane per tree, NPU and direction.
//
// All chunks of a tree pass a lane in the same order, so the state of a lane is a few counters, no
// matter how many chunks there are: chunk number `round` of a tree leaves a lane before number
// `round` + 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synthesis/trees/fabric.h"
#include "synthesis/trees/packing.h"

namespace tacos::trees {

class Lanes {
 public:
  /// `mirrored` turns time round: what goes down in the packing goes up here, over the same
  /// channels, and the other way.
  Lanes(const Fabric& fabric, const Packing& packing, bool mirrored);

  [[nodiscard]] std::uint32_t num_nodes() const { return nodes_; }
  [[nodiscard]] std::uint32_t num_trees() const { return static_cast<std::uint32_t>(roots_.size()); }
  [[nodiscard]] std::uint32_t num_lanes() const {
    return static_cast<std::uint32_t>(channel_.size());
  }
  /// Lane in which `node` sends its sum up, or receives the result.
  [[nodiscard]] std::uint32_t up(std::uint32_t tree, std::uint32_t node) const {
    return (2 * tree) * nodes_ + node;
  }
  [[nodiscard]] std::uint32_t down(std::uint32_t tree, std::uint32_t node) const {
    return (2 * tree + 1) * nodes_ + node;
  }
  [[nodiscard]] std::uint32_t tree(std::uint32_t lane) const { return lane / (2 * nodes_); }
  [[nodiscard]] std::uint32_t node(std::uint32_t lane) const { return lane % nodes_; }
  [[nodiscard]] bool goes_up(std::uint32_t lane) const { return lane / nodes_ % 2 == 0; }
  /// The lane that carries the same chunks over the same channel when time is turned round.
  [[nodiscard]] std::uint32_t mirror(std::uint32_t lane) const {
    return goes_up(lane) ? lane + nodes_ : lane - nodes_;
  }
  /// kNone for the two lanes that a root does not have.
  [[nodiscard]] std::uint32_t channel(std::uint32_t lane) const { return channel_[lane]; }
  [[nodiscard]] std::uint32_t root(std::uint32_t tree) const { return roots_[tree]; }
  /// The node that an up lane leads to.
  [[nodiscard]] std::uint32_t parent(std::uint32_t lane) const { return parent_[lane]; }
  /// Lanes that end where this one starts (up), or start where it ends (down).
  [[nodiscard]] std::span<const std::uint32_t> next(std::uint32_t lane) const {
    return std::span(next_).subspan(next_first_[lane], next_first_[lane + 1] - next_first_[lane]);
  }
  /// What is still to do from the start of this lane's transfer to the end of the chunk, in
  /// picoseconds, when nothing is in the way.
  [[nodiscard]] std::vector<std::int64_t> tails(const ChannelCosts& costs) const;

 private:
  void index();
  /// Lanes of one direction of a tree, parents before what hangs on them.
  void sort_lanes(std::uint32_t tree, bool up, std::vector<std::uint32_t>& order) const;

  std::uint32_t nodes_;
  std::vector<std::uint32_t> roots_;
  std::vector<std::uint32_t> channel_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> next_first_;
  std::vector<std::uint32_t> next_;
};

}  // namespace tacos::trees
