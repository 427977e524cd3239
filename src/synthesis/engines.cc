// SPDX-License-Identifier: MIT
#include "synthesis/engines.h"

#include <algorithm>
#include <array>

#include "synthesis/baselines/baseline.h"
#include "synthesis/custom/custom.h"
#include "synthesis/exchange/exchange.h"
#include "synthesis/matching/matching.h"
#include "synthesis/multicast/multicast.h"
#include "synthesis/routing/routing.h"
#include "synthesis/symmetric/symmetric.h"
#include "synthesis/trees/trees.h"

namespace tacos {
namespace {

constexpr Ticks at_the_bound(const Limits& limits) {
  return limits.bandwidth;
}

/// Its All-Reduce is two phases.
constexpr Ticks by_phases(const Limits& limits) {
  return std::max(limits.bandwidth, limits.phases);
}

using baselines::Does;

/// They take hundredths of a second each, and win where a message costs a port its latency.
constexpr int kWithBaselines = 4;

/// Algorithms that others know.
template <baselines::MakeAlgorithms Make, int What>
constexpr EngineInfo baseline(std::string_view name) {
  return {.id = EngineId::kBaseline,
          .name = name,
          .handles = baselines::handles<What>,
          .run = baselines::synthesize<Make>,
          .from_effort = kWithBaselines,
          .need = need_of_baseline,
          .least = at_the_bound};
}

/// Bruck's are for these two alone.
bool is_for_bruck(const Topology& /*topology*/, const Problem& problem) {
  return problem.kind == CollectiveKind::kAllGather || problem.kind == CollectiveKind::kAllToAll;
}

constexpr EngineInfo bruck() {
  EngineInfo row = baseline<baselines::bruck, Does::kGather | Does::kExchange>("bruck");
  row.handles = is_for_bruck;
  return row;
}

/// Matching's All-Reduce is a Reduce-Scatter and an All-Gather.
bool is_for_phases(const Topology& topology, const Problem& problem) {
  return problem.kind == CollectiveKind::kAllReduce && matching::handles(topology, problem);
}

constexpr int kSpread = static_cast<int>(Does::kSpread);
constexpr int kGather = static_cast<int>(Does::kGather);
constexpr int kExchange = static_cast<int>(Does::kExchange);
constexpr int kRooted = Does::kSpread | Does::kScatter;

/// Its trees take long to grow through switches: 4% of the time of bench/quick.py, in which it won
/// five cases of 8 and 16 NPUs.
constexpr EngineInfo multitree() {
  EngineInfo row = baseline<baselines::multitree, kGather>("multitree");
  row.for_few = true;
  return row;
}

constexpr std::array kEngines{
    EngineInfo{.id = EngineId::kSymmetric,
               .name = "symmetric",
               .handles = symmetric::handles,
               .run = symmetric::synthesize,
               .from_effort = kLeastEffort,
               .need = need_of_symmetric,
               .least = at_the_bound},
    EngineInfo{.id = EngineId::kTrees,
               .name = "trees",
               .handles = trees::handles,
               .run = trees::synthesize,
               .from_effort = kLeastEffort,
               .need = need_of_trees,
               .least = at_the_bound},
    EngineInfo{.id = EngineId::kMulticast,
               .name = "multicast",
               .handles = multicast::handles,
               .run = multicast::synthesize,
               .from_effort = kLeastEffort,
               .need = need_of_multicast,
               .least = at_the_bound},
    EngineInfo{.id = EngineId::kMatching,
               .name = "matching",
               .handles = matching::handles,
               .run = matching::synthesize,
               .from_effort = kLeastEffort,
               .need = need_of_matching,
               .least = by_phases},
    EngineInfo{.id = EngineId::kRouting,
               .name = "routing",
               .handles = routing::handles,
               .run = routing::synthesize,
               .from_effort = kLeastEffort,
               .need = need_of_routing,
               .least = at_the_bound},
    EngineInfo{.id = EngineId::kExchange,
               .name = "exchange",
               .handles = exchange::handles,
               .run = exchange::synthesize,
               .from_effort = kLeastEffort,
               .need = need_of_exchange,
               .least = at_the_bound},
    EngineInfo{.id = EngineId::kCustom,
               .name = "custom",
               .handles = custom::handles,
               .run = custom::synthesize,
               .from_effort = kLeastEffort,
               .need = need_of_custom,
               .least = at_the_bound},
    baseline<baselines::ring, Does::kGather | Does::kSpread>("ring"),
    baseline<baselines::bidirectional_ring, Does::kGather | Does::kSpread>("bidirectional-ring"),
    baseline<baselines::direct, kGather | kRooted | kExchange>("direct"),
    baseline<baselines::halving_doubling, kGather>("halving-doubling"),
    baseline<baselines::double_binary_tree, kSpread>("double-binary-tree"),
    baseline<baselines::blueconnect, kGather>("blueconnect"),
    baseline<baselines::themis, kGather>("themis"),
    multitree(),
    baseline<baselines::hierarchical, kGather>("hierarchical"),
    bruck(),
    baseline<baselines::pairwise, kExchange>("pairwise"),
    baseline<baselines::binomial, kRooted>("binomial"),
    EngineInfo{.id = EngineId::kBaseline,
               .name = "rs-ag",
               .handles = is_for_phases,
               .run = matching::synthesize,
               .from_effort = kOnRequest,
               .need = need_of_matching,
               .least = by_phases},
};

/// "auto", then the engines.
constexpr auto kNames = [] {
  std::array<std::string_view, kEngines.size() + 1> names{"auto"};
  for (std::size_t i = 0; i < kEngines.size(); ++i) {
    names[i + 1] = kEngines[i].name;
  }
  return names;
}();

constexpr auto is_baseline(const EngineInfo& engine) {
  return engine.id == EngineId::kBaseline;
}
constexpr auto kBaselineNames = [] {
  std::array<std::string_view, std::count_if(kEngines.begin(), kEngines.end(), is_baseline)> names;
  std::size_t next = 0;
  for (const EngineInfo& engine : kEngines) {
    if (is_baseline(engine)) {
      names[next++] = engine.name;
    }
  }
  return names;
}();

}  // namespace

std::span<const EngineInfo> all_engines() {
  return kEngines;
}

std::span<const std::string_view> engine_names() {
  return kNames;
}

std::span<const std::string_view> baseline_names() {
  return kBaselineNames;
}

bool engine_handles(std::string_view engine, const Topology& topology, const Problem& problem) {
  return std::any_of(kEngines.begin(), kEngines.end(), [&](const EngineInfo& info) {
    return info.name == engine && info.handles(topology, problem);
  });
}

}  // namespace tacos
