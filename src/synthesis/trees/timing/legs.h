// SPDX-License-Identifier: MIT
// A packing as a set of legs: one leg per tree, NPU and direction.
//
// All chunks of a tree pass a leg in the same order, so the state of a leg is a few counters, no
// matter how many chunks there are: chunk number `round` of a tree leaves a leg before number
// `round` + 1. Legs are numbered outlet by outlet: what an outlet chooses from lies together in
// memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/csr.h"
#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/packing/packing.h"

namespace tacos::trees {

class Legs {
 public:
  /// `mirrored` turns time round: what goes down in the packing goes up here, over the same
  /// hops, and the other way. A leg and its mirror image have the same number. Meetings are
  /// for symmetric networks: the two transfers must take the same time.
  Legs(const Fabric& fabric, const Packing& packing, Top top, bool mirrored);

  [[nodiscard]] std::uint32_t num_trees() const { return trees_; }
  [[nodiscard]] std::uint32_t num_legs() const { return static_cast<std::uint32_t>(hop_.size()); }
  /// Legs of an outlet: from its first to that of the next.
  [[nodiscard]] std::uint32_t first_leg(std::uint32_t outlet) const { return first_[outlet]; }
  [[nodiscard]] std::uint32_t hop(std::uint32_t leg) const { return hop_[leg]; }
  [[nodiscard]] std::uint32_t tree(std::uint32_t leg) const { return tree_[leg]; }
  /// Whether it carries sums into a gate.
  [[nodiscard]] bool goes_up(std::uint32_t leg) const { return into_[leg] != kNone; }

  /// A gate is where an NPU waits for what is below it in a tree.
  [[nodiscard]] std::uint32_t num_gates() const { return static_cast<std::uint32_t>(out_.size()); }
  /// The gate that an up leg leads into; kNone for a down leg.
  [[nodiscard]] std::uint32_t into(std::uint32_t leg) const { return into_[leg]; }
  /// Up legs that lead into a gate.
  [[nodiscard]] std::span<const std::uint32_t> waits_for(std::uint32_t gate) const {
    return waits_[gate];
  }
  /// What the two kinds of lists above and below are slices of.
  [[nodiscard]] std::span<const std::uint32_t> all_waits() const { return waits_.all(); }
  [[nodiscard]] std::span<const std::uint32_t> all_next() const { return next_.all(); }
  /// The two legs between a root and its partner, from the partner and to it. They do not lead
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
  /// The up leg that a gate opens; kNone for that of a root, which opens opened_by_root(tree).
  [[nodiscard]] std::uint32_t opens(std::uint32_t gate) const { return out_[gate]; }
  [[nodiscard]] std::uint32_t tree_of_gate(std::uint32_t gate) const { return gate % trees_; }
  [[nodiscard]] bool is_root(std::uint32_t gate) const {
    return roots_[tree_of_gate(gate)] == gate / trees_;
  }
  /// Down legs that start where a down leg ends.
  [[nodiscard]] std::span<const std::uint32_t> next(std::uint32_t leg) const { return next_[leg]; }
  [[nodiscard]] std::span<const std::uint32_t> opened_by_root(std::uint32_t tree) const {
    return next_[std::size_t{num_legs()} + tree];
  }
  /// What is still to do from the start of this leg's transfer to the end of the chunk, in
  /// picoseconds, when nothing is in the way.
  [[nodiscard]] std::vector<std::int64_t> tails(const HopCosts& costs) const;

 private:
  using Numbers = std::vector<std::uint32_t>;
  void add_legs(const Fabric& fabric, const Packing& packing, bool mirrored);
  void add_meetings(const Packing& packing);
  void add_next(const Fabric& fabric, bool mirrored);
  void add_tails_up(const HopCosts& costs,
                    std::uint32_t tree,
                    std::int64_t whole,
                    std::vector<std::int64_t>& tail) const;
  /// The gate that opens an up leg, or that of the NPU where a down leg ends.
  [[nodiscard]] std::uint32_t gate_of(std::uint32_t leg) const {
    return node_[leg] * trees_ + tree_[leg];
  }

  std::uint32_t trees_;
  Numbers roots_;
  std::vector<Meeting> meetings_;
  Numbers first_;
  Numbers hop_;
  Numbers tree_;
  Numbers node_;
  Numbers into_;
  Numbers out_;
  /// Legs by gate, and by the leg or root that opens them.
  Csr<std::uint32_t> waits_;
  Csr<std::uint32_t> next_;
};

}  // namespace tacos::trees
