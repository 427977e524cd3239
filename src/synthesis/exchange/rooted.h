// SPDX-License-Identifier: MIT
// From one to all through relays: a tree of participants, and when each hands on what it has got.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "synthesis/exchange/clocks.h"
#include "synthesis/exchange/costs.h"
#include "synthesis/exchange/hops.h"
#include "synthesis/exchange/routine.h"

namespace tacos::exchange {

/// One participant gives to another what is for it and for those that it will hand on to.
struct Handover {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t hop = 0;
};

/// Each participant but the root gets one, after that of whom it gets it from.
using Tree = std::vector<Handover>;

struct FoundTree {
  Tree tree;
  /// When each of its handovers starts.
  std::vector<std::int64_t> start;
  RoutineTime time;
};

/// `kSame` is a Broadcast, `kPairs` a Scatter. Nothing when some cannot be reached, or only beyond
/// kLongest. O(participants^3 + participants x trees that are tried).
[[nodiscard]] std::optional<FoundTree> find_tree(
    const Hops& hops, const Costs& costs, Content content, std::uint32_t root, std::uint64_t seed);

/// By participant, whom it hands parts on to, itself among them.
[[nodiscard]] Csr<std::uint32_t> reached_through(const Tree& tree, std::uint32_t participants);

}  // namespace tacos::exchange
