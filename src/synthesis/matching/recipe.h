// SPDX-License-Identifier: MIT
// One way to make a schedule by matching, and making it.
#pragma once

#include <cstdint>
#include <optional>

#include "tacos/collective.h"
#include "tacos/result.h"
#include "tacos/topology.h"

#include "synthesis/common/engine.h"
#include "synthesis/matching/ports/port_matcher.h"

namespace tacos::matching {

struct Recipe {
  /// Of each participant, or of the buffer where there is a root.
  std::int64_t chunks = 1;
  /// Chunks in one transfer, by the port matcher; 0 stands for the matchers of direct links.
  std::uint32_t share = 0;
  Sharing sharing = Sharing::kAllLinks;
  Rarity rarity = Rarity::kNpus;
  Duplicates duplicates = Duplicates::kAvoid;
  Pace pace = Pace::kArrival;

  friend bool operator==(const Recipe&, const Recipe&) = default;
};

/// As much as there is in one transfer.
inline constexpr std::uint32_t kShareAll = 1U << 20U;

/// Makes schedules of one problem.
class RecipeMaker {
 public:
  RecipeMaker(const Topology& topology, const Problem& problem, const EngineOptions& options)
      : topology_(topology), problem_(problem), options_(options) {}

  /// Nothing when a phase would take until `limit` or longer, as far as the matcher minds.
  [[nodiscard]] Result<std::optional<Candidate>> make(const Recipe& recipe,
                                                      const EngineOptions& options,
                                                      Ticks limit) const;
  /// Whether a team has work to share out within the recipe: trials, or at scale NPUs.
  [[nodiscard]] static bool shares_work(const Recipe& recipe) { return recipe.share == 0; }
  /// Whether all links are equally fast for the chunks of the recipe, so that there are no
  /// neighbourhoods.
  [[nodiscard]] bool is_flat(const Recipe& recipe) const;
  /// Whether links fall into the same levels by either Pace.
  [[nodiscard]] bool paces_agree(const Recipe& recipe) const;

 private:
  [[nodiscard]] bool all_reduce() const { return traits(problem_.kind).has_two_phases(); }
  [[nodiscard]] Result<Collective> cut(const Recipe& recipe) const;
  [[nodiscard]] SpeedLevels levels(const Recipe& recipe, Pace pace) const;
  [[nodiscard]] Result<Candidate> by_arrival(const Collective& collective,
                                             EngineOptions options) const;
  [[nodiscard]] Result<std::optional<Candidate>> by_ports(const Collective& collective,
                                                          const Recipe& recipe,
                                                          Ticks limit) const;

  const Topology& topology_;
  const Problem& problem_;
  const EngineOptions& options_;
};

}  // namespace tacos::matching
