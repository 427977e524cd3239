// SPDX-License-Identifier: MIT
#include "synthesis/engines.h"

#include <array>

#include "synthesis/custom/custom.h"
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

constexpr std::array kEngines{
    EngineInfo{.id = EngineId::kSymmetric,
               .name = "symmetric",
               .handles = symmetric::handles,
               .run = symmetric::synthesize,
               .by_auto = true,
               .effort = effort_of_symmetric,
               .least = at_the_bound},
    EngineInfo{.id = EngineId::kTrees,
               .name = "trees",
               .handles = trees::handles,
               .run = trees::synthesize,
               .by_auto = true,
               .effort = effort_of_trees,
               .least = at_the_bound},
    EngineInfo{.id = EngineId::kMulticast,
               .name = "multicast",
               .handles = multicast::handles,
               .run = multicast::synthesize,
               .by_auto = true,
               .effort = effort_of_multicast,
               .least = at_the_bound},
    EngineInfo{.id = EngineId::kMatching,
               .name = "matching",
               .handles = matching::handles,
               .run = matching::synthesize,
               .by_auto = true,
               .effort = effort_of_matching,
               .least = by_phases},
    EngineInfo{.id = EngineId::kRouting,
               .name = "routing",
               .handles = routing::handles,
               .run = routing::synthesize,
               .by_auto = true,
               .effort = effort_of_routing,
               .least = at_the_bound},
    EngineInfo{.id = EngineId::kCustom,
               .name = "custom",
               .handles = custom::handles,
               .run = custom::synthesize,
               .by_auto = true,
               .effort = effort_of_custom,
               .least = at_the_bound},
};

/// "auto", then the engines.
constexpr auto kNames = [] {
  std::array<std::string_view, kEngines.size() + 1> names{"auto"};
  for (std::size_t i = 0; i < kEngines.size(); ++i) {
    names[i + 1] = kEngines[i].name;
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

}  // namespace tacos
