// SPDX-License-Identifier: MIT
// Recipes tried, side by side or dealt over a team, and the best of all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tacos/result.h"
#include "tacos/topology.h"

#include "synthesis/common/deal.h"
#include "synthesis/common/engine.h"
#include "synthesis/matching/recipe.h"

namespace tacos::matching {

class Trials {
 public:
  Trials(const Topology& topology, const Problem& problem, const EngineOptions& options)
      : topology_(topology),
        problem_(problem),
        options_(options),
        maker_(topology, problem, options),
        deal_(options.team) {}

  [[nodiscard]] const RecipeMaker& maker() const { return maker_; }

  /// Makes the schedules of those that were not tried before, and keeps the fastest of all so far;
  /// among equals the first. The port matcher gives up what is much slower than `best`.
  Status attempt(std::span<const Recipe> recipes, std::optional<Ticks> best = std::nullopt);
  /// Of a recipe that was tried; nothing if it was given up.
  [[nodiscard]] std::optional<Ticks> time_of(const Recipe& recipe) const;
  [[nodiscard]] bool gave_up(const Recipe& recipe) const;
  /// For the leader of a team.
  [[nodiscard]] Result<Candidate> take_best();

 private:
  struct Tried {
    Recipe recipe;
    Deal::Reached reached;
    /// Who of the team made it alone.
    std::optional<int> owner;
    /// Where it was made.
    std::optional<Candidate> made;

    [[nodiscard]] std::optional<Ticks> time() const {
      return reached.time == kGivenUp ? std::nullopt : std::optional(reached.time);
    }
  };
  static constexpr Ticks kGivenUp{std::numeric_limits<std::int64_t>::max()};

  [[nodiscard]] std::vector<Tried> run(std::span<const Recipe> recipes, Ticks limit) const;
  void keep(Tried tried);
  [[nodiscard]] auto find(const Recipe& recipe) const {
    return std::find_if(
        known_.begin(), known_.end(), [&](const auto& known) { return known.first == recipe; });
  }

  const Topology& topology_;
  const Problem& problem_;
  const EngineOptions& options_;
  RecipeMaker maker_;
  Deal deal_;
  std::optional<Tried> best_;
  std::vector<std::pair<Recipe, std::optional<Ticks>>> known_;
};

}  // namespace tacos::matching
