// SPDX-License-Identifier: MIT
// Runs engines and keeps the fastest schedule.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tacos/synthesize.h"
#include "tacos/topology.h"

#include "base/parallel/progress.h"
#include "synthesis/common/deal.h"
#include "synthesis/other_model.h"
#include "synthesis/policy.h"

namespace tacos {

/// One after the other, a team all of it together: what an engine has to beat, and so what it gives
/// up, is the same however many there are.
class EngineRuns {
 public:
  EngineRuns(const Topology& topology, const Problem& problem, const EngineOptions& options)
      : topology_(topology),
        problem_(problem),
        options_(options),
        told_(topology.num_npus() > kFewNpus && level_of(options.effort).gives_up),
        other_model_(topology, problem, options) {}

  /// By every member of a team alike; for an engine that takes no time. What it reached, if it made
  /// something, which run() must then be told as the first of its engines.
  std::optional<Ticks> run_first(const EngineInfo& engine);

  Result<Synthesis> run(const EngineList& engines);

 private:
  Deal::Reached run_one(const EngineInfo& engine,
                        const EngineOptions& options,
                        std::optional<Candidate>& made);
  [[nodiscard]] bool is_enough(const EngineList& engines,
                               const StopRule& enough,
                               std::size_t next) const;
  [[nodiscard]] bool is_enough_after(const EngineList& engines,
                                     const StopRule& enough,
                                     std::size_t best,
                                     std::size_t next) const;
  /// The next engines that run side by side, of those that are worth it.
  [[nodiscard]] std::vector<std::size_t> take_together(const EngineList& engines,
                                                       const StopRule& enough,
                                                       std::size_t& next) const;
  void run_together(const EngineList& engines,
                    std::span<const std::size_t> together,
                    Ticks suffices,
                    JointProgress& progress);
  void keep_best(const EngineList& engines,
                 const StopRule& enough,
                 std::span<const std::size_t> together);
  Result<Synthesis> choose(const EngineList& engines, const StopRule& enough);

  const Topology& topology_;
  const Problem& problem_;
  const EngineOptions& options_;
  /// Whether engines are told what others have reached, and may give up.
  bool told_;
  OtherModel other_model_;
  /// By engine, of those that were run here and may be wanted.
  std::vector<std::optional<Candidate>> made_;
  bool has_first_ = false;
  /// By engine, of those that were run here.
  std::vector<Deal::Reached> reached_;
  std::optional<std::size_t> best_;
};

}  // namespace tacos
