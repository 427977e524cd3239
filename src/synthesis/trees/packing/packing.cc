// SPDX-License-Identifier: MIT
// Trees are planted or grown (planting.cc), then links that have the most to do are relieved by
// exchanges (exchanges.cc), at first among shallow trees only, then among deeper and deeper ones.
#include "synthesis/trees/packing/packing.h"

#include <algorithm>
#include <utility>

#include "base/numbers/wide.h"
#include "base/parallel/cancel.h"
#include "synthesis/trees/packing/exchanges.h"
#include "synthesis/trees/packing/forest.h"
#include "synthesis/trees/packing/planting.h"

namespace tacos::trees {
namespace {

Int128 time_of(const Packing& packing, std::int64_t rounds) {
  return static_cast<Int128>(rounds) * packing.period + packing.depth;
}

/// The best for so many rounds of chunks that comes up as nodes may hang deeper.
Packing improve(Forest& forest,
                std::int64_t rounds,
                std::int64_t least_period,
                std::int64_t& work) {
  constexpr std::int64_t kDepthSteps = 8;
  // Of one packing, through switches.
  constexpr std::int64_t kMostWork = 1'000'000;
  const std::int64_t work_before = std::clamp<std::int64_t>(work, 0, kMostWork);
  Exchanges exchanges(forest, work_before);
  const std::vector<std::int64_t> least = forest.limits();
  Packing best;
  for (std::int64_t step = 0; step <= kDepthSteps; ++step) {
    for (std::size_t s = 0; s < least.size(); ++s) {
      forest.limits()[s] = least[s] + least[s] * step / kDepthSteps;
    }
    while (forest.longest_time() > least_period && exchanges.lower(forest.longest_time() - 1)) {
      check_cancel();
    }
    for (std::uint32_t tree = 0; !forest.job().everybody() && tree < forest.num_trees(); ++tree) {
      forest.prune(tree);
    }
    const std::int64_t period = forest.longest_time();
    const std::int64_t depth = forest.current_depth();
    if (step == 0 || static_cast<Int128>(rounds) * period + depth < time_of(best, rounds)) {
      best = forest.snapshot(period, depth);
    }
    if (period <= least_period) {
      break;
    }
  }
  if (!forest.fabric().direct()) {
    work -= work_before - exchanges.work_left();
  }
  return best;
}

/// The longest way between a root and a node of its tree; `above` says which end of a hop is nearer
/// to the root.
template <class Above>
Int128 longest_way(const std::vector<std::uint32_t>& hops,
                   std::uint32_t num_nodes,
                   const HopCosts& costs,
                   const Above& above) {
  constexpr Int128 kUnknown = -1;
  std::vector<Int128> way(num_nodes);
  std::vector<std::uint32_t> below;
  Int128 longest = 0;
  for (std::size_t tree = 0; tree < hops.size(); tree += num_nodes) {
    std::fill(way.begin(), way.end(), kUnknown);
    for (std::uint32_t node = 0; node < num_nodes; ++node) {
      std::uint32_t at = node;
      for (; way[at] == kUnknown && hops[tree + at] != kNone; at = above(hops[tree + at])) {
        below.push_back(at);
      }
      Int128 sum = std::max(way[at], Int128{0});
      way[at] = sum;
      for (; !below.empty(); below.pop_back()) {
        sum += costs.arrival(hops[tree + below.back()]);
        way[below.back()] = sum;
      }
      longest = std::max(longest, way[node]);
    }
  }
  return longest;
}

}  // namespace

Packing pack_trees(const PackingTask& task, std::int64_t& work) {
  Forest planted(task);
  plant(planted, task.seed);
  Packing best = improve(planted, task.rounds, task.least_period, work);
  if (!task.grow || best.period <= task.least_period) {
    return best;
  }
  // Eighths of the least period, which may be far below what the network allows.
  for (const std::int64_t budget : {8, 9, 10, 12, 16, 24}) {
    Forest grown(task);
    grow(grown, task.seed, task.least_period / 8 * budget);
    Packing packing = improve(grown, task.rounds, task.least_period, work);
    if (time_of(packing, task.rounds) < time_of(best, task.rounds)) {
      best = std::move(packing);
    }
  }
  return best;
}

std::int64_t period_of(const Fabric& fabric, const Packing& packing, const HopCosts& costs) {
  std::vector<std::int64_t> busy(fabric.num_links(), 0);
  for (const std::vector<std::uint32_t>* hops : {&packing.up, &packing.down}) {
    for (const std::uint32_t hop : *hops) {
      if (hop != kNone) {
        for (const LinkId link : fabric.links(hop)) {
          busy[link.index()] += costs.busy(link.value());
        }
      }
    }
  }
  return *std::max_element(busy.begin(), busy.end());
}

Int128 depth_of(const Fabric& fabric, const Packing& packing, const HopCosts& costs) {
  const auto longest = [&](const std::vector<std::uint32_t>& hops, const auto& above) {
    return longest_way(hops, packing.num_nodes, costs, above);
  };
  return longest(packing.up, [&](std::uint32_t hop) { return fabric.target(hop); }) +
         longest(packing.down, [&](std::uint32_t hop) { return fabric.source(hop); });
}

}  // namespace tacos::trees
