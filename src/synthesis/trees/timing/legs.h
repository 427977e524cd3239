// SPDX-License-Identifier: MIT
// A packing as a set of lanes: one lane per tree, NPU and direction.
//
// All chunks of a tree pass a lane in the same order, so the state of a lane is a few counters, no
// matter how many chunks there are: chunk number `round` of a tree leaves a lane before number
// `round` + 1. Lanes are numbered port by port: what a port chooses from lies together in memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synthesis/trees/fabric.h"
#include "synthesis/trees/packing.h"

namespace tacos::trees {

/// Who completes the sum of a tree.
enum class Top {
  kRoot,     ///< the root
  kMeeting,  ///< the root and its partner, each for its side, after exchanging what they have
};

class Lanes {
 public:
  /// `mirrored` turns time round: what goes down in the packing goes up here, over the same
  /// channels, and the other way. A lane and its mirror image have the same number. Meetings are
  /// for symmetric networks: the two transfers must take the same time.
  Lanes(const Fabric& fabric, const Packing& packing, Top top, bool mirrored);

  [[nodiscard]] std::uint32_t num_trees() const { return trees_; }
  [[nodiscard]] std::uint32_t num_lanes() const {
    return static_cast<std::uint32_t>(channel_.size());
  }
  /// Lanes of a port: from its first to that of the next.
  [[nodiscard]] std::uint32_t first_lane(std::uint32_t port) const { return first_[port]; }
  [[nodiscard]] std::uint32_t channel(std::uint32_t lane) const { return channel_[lane]; }
  [[nodiscard]] std::uint32_t tree(std::uint32_t lane) const { return tree_[lane]; }
  /// Whether it carries sums into a gate.
  [[nodiscard]] bool goes_up(std::uint32_t lane) const { return into_[lane] != kNone; }

  /// A gate is where an NPU waits for what is below it in a tree.
  [[nodiscard]] std::uint32_t num_gates() const { return static_cast<std::uint32_t>(out_.size()); }
  /// The gate that an up lane leads into; kNone for a down lane.
  [[nodiscard]] std::uint32_t into(std::uint32_t lane) const { return into_[lane]; }
  /// Up lanes that lead into a gate.
  [[nodiscard]] std::span<const std::uint32_t> waits_for(std::uint32_t gate) const {
    return slice(waits_first_, waits_, gate);
  }
  /// What the two kinds of lists above and below are slices of.
  [[nodiscard]] std::span<const std::uint32_t> all_waits() const { return waits_; }
  [[nodiscard]] std::span<const std::uint32_t> all_next() const { return next_; }
  /// The two lanes between a root and its partner, from the partner and to it. They do not lead
  /// into a gate, but both open when the gates of both ends have; the first then opens
  /// opened_by_root(tree), of which the second is no part.
  struct Meeting {
    std::uint32_t up = kNone;
    std::uint32_t down = kNone;
    std::uint32_t root_gate = kNone;
    std::uint32_t partner_gate = kNone;
  };
  /// Empty when sums are completed by roots alone.
  [[nodiscard]] std::span<const Meeting> meetings() const { return meetings_; }
  /// The up lane that a gate opens; kNone for that of a root, which opens opened_by_root(tree).
  [[nodiscard]] std::uint32_t opens(std::uint32_t gate) const { return out_[gate]; }
  [[nodiscard]] std::uint32_t tree_of_gate(std::uint32_t gate) const { return gate % trees_; }
  [[nodiscard]] bool is_root(std::uint32_t gate) const {
    return roots_[tree_of_gate(gate)] == gate / trees_;
  }
  /// Down lanes that start where a down lane ends.
  [[nodiscard]] std::span<const std::uint32_t> next(std::uint32_t lane) const {
    return slice(next_first_, next_, lane);
  }
  [[nodiscard]] std::span<const std::uint32_t> opened_by_root(std::uint32_t tree) const {
    return slice(next_first_, next_, num_lanes() + tree);
  }
  /// What is still to do from the start of this lane's transfer to the end of the chunk, in
  /// picoseconds, when nothing is in the way.
  [[nodiscard]] std::vector<std::int64_t> tails(const ChannelCosts& costs) const;

 private:
  using Numbers = std::vector<std::uint32_t>;
  [[nodiscard]] static std::span<const std::uint32_t> slice(const Numbers& first,
                                                            const Numbers& items,
                                                            std::uint32_t at) {
    return std::span(items).subspan(first[at], first[at + 1] - first[at]);
  }
  void add_lanes(const Fabric& fabric, const Packing& packing, bool mirrored);
  void add_meetings(const Packing& packing);
  void add_next(const Fabric& fabric, bool mirrored);
  void add_tails_up(const ChannelCosts& costs,
                    std::uint32_t tree,
                    std::int64_t whole,
                    std::vector<std::int64_t>& tail) const;
  /// The gate that opens an up lane, or that of the NPU where a down lane ends.
  [[nodiscard]] std::uint32_t gate_of(std::uint32_t lane) const {
    return node_[lane] * trees_ + tree_[lane];
  }

  std::uint32_t trees_;
  Numbers roots_;
  std::vector<Meeting> meetings_;
  Numbers first_;
  Numbers channel_;
  Numbers tree_;
  Numbers node_;
  Numbers into_;
  Numbers out_;
  Numbers waits_first_;
  Numbers waits_;
  Numbers next_first_;
  Numbers next_;
};

}  // namespace tacos::trees
