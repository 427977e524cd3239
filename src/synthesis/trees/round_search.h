// SPDX-License-Identifier: MIT
// From a size to a periodic schedule: how many trees, how many rounds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tacos/topology.h"
#include "tacos/units.h"

#include "base/numbers/wide.h"
#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/network/job.h"
#include "synthesis/trees/packing/packer.h"
#include "synthesis/trees/packing/packing.h"
#include "synthesis/trees/timing/draft.h"
#include "synthesis/trees/timing/pipeline.h"
#include "synthesis/trees/timing/round_costs.h"
#include "synthesis/trees/timing/round_plan.h"

namespace tacos::trees {

class RoundSearch {
 public:
  /// On direct links.
  RoundSearch(const PipelineTask& task, Packer& packer, int effort);

  /// The best number of chunks for the size, or exactly `chunks`. Nothing when those cannot be
  /// dealt evenly to a number of trees that makes sense, or when a chunk could take too long.
  [[nodiscard]] std::optional<Draft> best(std::optional<std::uint32_t> chunks);

 private:
  /// A number of trees, and what the bound promises for it.
  struct Option {
    Int128 time = 0;
    std::uint32_t trees = 0;
    std::uint32_t rounds = 0;
  };
  [[nodiscard]] HopCosts costs(std::uint32_t chunks) const;
  [[nodiscard]] std::uint32_t most_chunks() const;
  [[nodiscard]] std::uint32_t guess_chunks() const;
  [[nodiscard]] std::vector<Option> options(std::uint32_t chunks, bool fixed) const;
  [[nodiscard]] std::optional<Draft> draft(const Option& option, bool fixed);
  [[nodiscard]] std::uint32_t plans_of(const Packing& packing) const;
  /// With so many chunks in a transfer at most, after so many plans that are part of the budget.
  [[nodiscard]] RoundPlan plan(const HopCosts& costs,
                               const Packing& packing,
                               std::uint32_t sharing,
                               std::uint32_t made);
  [[nodiscard]] std::vector<std::uint32_t> sharings(const std::vector<LinkKind>& kinds) const;
  [[nodiscard]] bool is_far_behind(Int128 time) const;
  [[nodiscard]] bool repeats_good(std::uint32_t trees) const;
  /// Add a plan to the packing of a draft, and decide its number of chunks unless that is given.
  void plan_alike(Draft& draft,
                  const std::vector<LinkKind>& kinds,
                  const HopCosts& some,
                  bool fixed);
  void plan_unequal(Draft& draft,
                    const std::vector<LinkKind>& kinds,
                    const HopCosts& some,
                    bool fixed);
  /// From a plan for so many chunks.
  [[nodiscard]] std::uint32_t choose_rounds(const RoundCosts& round,
                                            std::uint32_t trees,
                                            std::uint32_t chunks,
                                            std::int64_t span) const;

  const Topology& topology_;
  const Fabric& fabric_;
  const Job& job_;
  Bytes size_;
  LinkModel model_;
  Packer& packer_;
  int effort_;
  /// The first number of trees that were found to share links as evenly as can be; 0 until then.
  std::uint32_t good_trees_ = 0;
  /// Of the best draft so far.
  std::int64_t best_time_ = kMaxTime.ps;
};

}  // namespace tacos::trees
