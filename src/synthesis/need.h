// SPDX-License-Identifier: MIT
// What an engine will need, known before it runs, and what is refused because of it.
#pragma once

#include <cstdint>
#include <string_view>

#include "tacos/synthesize.h"
#include "tacos/topology.h"

#include "synthesis/common/engine.h"

namespace tacos {

/// At least, for the fewest chunks that the problem allows. More than 64 bits hold is as much as
/// they hold.
struct Need {
  /// Beside the network, while synthesizing and verifying.
  std::uint64_t bytes = 0;
  /// Of one core of 2020, to synthesize and to verify.
  std::uint64_t seconds = 0;
};

// Of an engine that handles the problem. O(links).
[[nodiscard]] Need need_of_symmetric(const Topology& topology, const Problem& problem);
[[nodiscard]] Need need_of_trees(const Topology& topology, const Problem& problem);
[[nodiscard]] Need need_of_multicast(const Topology& topology, const Problem& problem);
[[nodiscard]] Need need_of_matching(const Topology& topology, const Problem& problem);
[[nodiscard]] Need need_of_routing(const Topology& topology, const Problem& problem);
[[nodiscard]] Need need_of_exchange(const Topology& topology, const Problem& problem);
[[nodiscard]] Need need_of_custom(const Topology& topology, const Problem& problem);
[[nodiscard]] Need need_of_baseline(const Topology& topology, const Problem& problem);

/// What takes longer is refused, and so are more chunks of a participant, a pair or a buffer, which
/// only pay latency more often.
inline constexpr std::uint64_t kMostHours = 2;
inline constexpr std::int64_t kMostChunksEach = std::int64_t{1} << 22U;

/// Fails when the engine of that name would take longer or cut finer than that, or need more memory
/// than there is. Members of a team agree.
[[nodiscard]] Status check_need(const Need& need,
                                std::string_view engine,
                                const Topology& topology,
                                const Problem& problem,
                                const EngineOptions& options);

}  // namespace tacos
