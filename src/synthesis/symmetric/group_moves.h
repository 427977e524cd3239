// SPDX-License-Identifier: MIT
// What NPUs can do on a network with a regular group of symmetries, whatever the group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "base/numbers/permutation.h"
#include "schedule/patterns/orbits.h"
#include "synthesis/symmetric/moves.h"

namespace tacos::symmetric {

class GroupMoves {
 public:
  /// The generators, permutations of the nodes, are those of find_regular_group.
  GroupMoves(const Topology& topology, std::span<const Permutation> generators);

  [[nodiscard]] const Moves& moves() const { return moves_; }
  /// The motif as what the chunks of NPU 0 do, and the group.
  [[nodiscard]] Schedule schedule(const Motif& motif) const;

 private:
  void find_translations(std::span<const Permutation> generators);
  /// By element: where its translation takes a link of NPU 0.
  [[nodiscard]] std::vector<std::uint32_t> translated(LinkId link) const;
  void add_links(const Topology& topology);
  void add_ports(const Topology& topology);
  void add_port(const Topology& topology, LinkId up, LinkId down);

  Moves moves_;
  /// A pattern without entries.
  OrbitPattern frame_;
  /// By way and element: the link out of it, and that out of a switch into it.
  std::vector<std::uint32_t> links_;
  std::vector<std::uint32_t> downs_;
};

}  // namespace tacos::symmetric
