// SPDX-License-Identifier: MIT
// The engines, a row each: a new one is a row in engines.cc, and what `auto` makes of it in
// policy.cc.
#pragma once

#include <span>
#include <string_view>

#include "tacos/synthesize.h"
#include "tacos/topology.h"

#include "synthesis/common/engine.h"
#include "synthesis/need.h"

namespace tacos {

enum class EngineId {
  kSymmetric,
  kTrees,
  kMulticast,
  kMatching,
  kRouting,
  kExchange,
  kCustom,
  kBaseline
};

/// What no schedule of some kind beats; 0 where it is not known.
struct Limits {
  /// By anything: the bandwidth bound.
  Ticks bandwidth;
  /// By a Reduce-Scatter followed by an All-Gather, each at its bandwidth bound.
  Ticks phases;
  /// By anything, latencies counted.
  Ticks whole;
  /// By an All-Reduce of phases: the latencies of the longest way to a part's owner and back.
  Ticks there_and_back;
};

inline constexpr int kOnRequest = kMostEffort + 1;

struct EngineInfo {
  EngineId id;
  std::string_view name;
  /// Whether it can make something of the problem.
  bool (*handles)(const Topology& topology, const Problem& problem);
  Engine run;
  /// From which effort on `auto` runs it; kOnRequest: only for who asks.
  int from_effort;
  Need (*need)(const Topology& topology, const Problem& problem);
  /// The least that it can reach, or was ever seen to reach.
  Ticks (*least)(const Limits& limits);
  /// Whether it was never seen to win beyond kMostTried NPUs, where only who asks for all gets it.
  bool for_few = false;
};

/// In the order in which `auto` runs them; of equally good results it keeps that of the first.
[[nodiscard]] std::span<const EngineInfo> all_engines();

}  // namespace tacos
