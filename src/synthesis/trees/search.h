// SPDX-License-Identifier: MIT
// From a size to a schedule: how many chunks, how many trees, what shares a transfer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "tacos/chunk_table.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "base/numbers/wide.h"
#include "synthesis/common/engine.h"
#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/network/job.h"
#include "synthesis/trees/packing/packer.h"
#include "synthesis/trees/packing/packing.h"
#include "synthesis/trees/packing/period_bound.h"
#include "synthesis/trees/timing/draft.h"
#include "synthesis/trees/timing/leg_scheduler.h"
#include "synthesis/trees/timing/legs.h"
#include "synthesis/trees/timing/pipeline.h"

namespace tacos::trees {

/// The time of a draft that cannot be as fast as it has to be.
inline constexpr std::int64_t kGivenUp = kMaxTime.ps - 1;

class Search {
 public:
  Search(const PipelineTask& task, Packer& packer, const EngineOptions& options);

  /// The best number of chunks for the size.
  [[nodiscard]] Draft best();
  /// The best schedule with exactly this many chunks.
  [[nodiscard]] Draft best_with(std::uint32_t chunks);

 private:
  [[nodiscard]] Bytes chunk_bytes(std::uint32_t chunks) const;
  [[nodiscard]] HopCosts costs(std::uint32_t chunks) const;
  [[nodiscard]] bool is_large(std::uint32_t chunks) const;
  [[nodiscard]] bool may_be_too_deep(const HopCosts& costs) const;
  [[nodiscard]] Packing pack(const HopCosts& costs, std::uint32_t chunks, Top top);
  [[nodiscard]] Packing pack_with(std::uint32_t trees,
                                  const HopCosts& costs,
                                  const PeriodBound& bound,
                                  std::uint32_t chunks,
                                  Top top);
  [[nodiscard]] Int128 promise(const Packing& packing, std::uint32_t chunks) const;
  [[nodiscard]] std::vector<std::uint32_t> tree_counts(const PeriodBound& bound,
                                                       std::uint32_t chunks) const;
  [[nodiscard]] std::uint32_t reference_chunks() const;
  [[nodiscard]] std::uint32_t guess_chunks(const Packing& packing) const;
  [[nodiscard]] bool is_far_behind(const HopCosts& some);
  [[nodiscard]] bool is_hopeless(const Draft& draft, std::int64_t goal) const;
  /// Who does not take less than `goal` need not be followed to the end.
  [[nodiscard]] Draft evaluate(std::uint32_t chunks, Shape shape, std::int64_t goal);
  /// Whether so many chunks make so many transfers that each simulation counts.
  [[nodiscard]] bool many(std::uint32_t chunks) const;
  /// schedule_legs, and the schedule where there are many.
  std::int64_t simulate(const LegProblem& problem,
                        const Urgency& urgency,
                        LegTable* ends,
                        std::int64_t limit,
                        std::optional<Schedule>& written) const;
  void improve_by_lists(const HopCosts& costs, std::int64_t goal, Draft& draft) const;
  [[nodiscard]] std::int64_t worth_justifying(std::int64_t goal) const;
  [[nodiscard]] bool affordable(std::uint32_t chunks) const;
  bool try_draft(std::uint32_t chunks, Shape shape, Draft& best);
  [[nodiscard]] bool may_pay_to_refine(const Draft& best) const;
  void refine(Draft& best);
  [[nodiscard]] std::vector<Shape> shapes(const Draft& plain) const;
  void climb(std::uint32_t from, Shape shape, Draft& best);
  /// Into so many the buffer can be cut, with at least a byte in each.
  [[nodiscard]] std::int64_t most_chunks() const { return size_.count / job_.unit() * job_.unit(); }
  [[nodiscard]] std::uint64_t transfers(std::uint64_t chunks) const {
    return chunks * job_.transfers_per_chunk();
  }

  const Topology& topology_;
  const Fabric& fabric_;
  const Job& job_;
  Bytes size_;
  LinkModel model_;
  int effort_;
  /// What another engine has reached.
  std::optional<Ticks> beat_;
  /// In picoseconds; whoever is as fast is fast enough.
  std::int64_t suffices_;
  Packer& packer_;
  bool fixed_ = false;
  /// Whether what is kept does not depend on the size of chunks.
  bool kept_arborescences_ = false;
  /// The first packing of each kind of top, for many chunks.
  std::array<Packing, 2> kept_;
  /// Transfers that may still be simulated in search of something better.
  std::int64_t budget_ = 0;
};

}  // namespace tacos::trees
