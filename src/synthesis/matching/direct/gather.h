// SPDX-License-Identifier: MIT
// One All-Gather (or Broadcast) on direct links: the matcher that suits its size, the best of
// several trials.
#pragma once

#include <cstdint>
#include <span>

#include "tacos/collective.h"
#include "tacos/result.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"

#include "synthesis/common/engine.h"
#include "synthesis/matching/direct/gather_network.h"
#include "synthesis/matching/direct/gather_result.h"

namespace tacos::matching {

/// Up to this many deliveries the rarest-first choice is affordable.
inline constexpr std::uint64_t kSmallGather = std::uint64_t{1} << 18U;

/// One All-Gather to synthesize, and how.
struct GatherJob {
  const Topology& topology;
  const Collective& collective;
  const EngineOptions& options;
  /// Where chunks start, an equal part of them at each (spread_owners).
  std::span<const NodeId> owners;
  Direction direction = Direction::kWithLinks;

  [[nodiscard]] std::uint64_t deliveries() const {
    return std::uint64_t{topology.num_npus()} * collective.num_chunks();
  }
  [[nodiscard]] std::uint32_t chunks_per_owner() const {
    return collective.num_chunks() / static_cast<std::uint32_t>(owners.size());
  }
  /// As asked for, or else by size.
  [[nodiscard]] std::size_t trials() const;
  /// Whether the first trial takes what sources have had longest, even where the others take what
  /// is rarest. Not in an All-Reduce of several trials: its halves overlap, and there what is
  /// quickest is not known before both are made.
  [[nodiscard]] bool quick_first() const;
};

/// Fails when making `phases` large All-Gathers, keeping them and checking the result needs more
/// memory than there is, or than some machine of the team has for its members.
[[nodiscard]] Status check_memory(const GatherJob& job, std::uint32_t phases);

/// The best of several trials; among equals the one with the lowest number, on any thread count.
/// Every member of a team gets it, or its share of a log.
[[nodiscard]] Result<GatherResult> gather(const GatherJob& job);

}  // namespace tacos::matching
