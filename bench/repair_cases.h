// SPDX-License-Identifier: MIT
// What the programs that measure repairs have in common.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tacos/bundle.h"
#include "tacos/synthesize.h"

#include "base/numbers/rng.h"

namespace tacos {

inline double cpu_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

[[noreturn]] inline void give_up(const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::exit(1);
}

template <class T>
T taken(Result<T> result) {
  if (!result) {
    give_up(result.error().to_string());
  }
  return *std::move(result);
}

inline Problem problem_of(const Topology& topology, CollectiveKind kind) {
  Problem problem{.kind = kind, .size = {1LL << 30U}, .participants = {}};
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    problem.participants.emplace_back(npu);
  }
  if (is_rooted(kind)) {
    problem.root = NodeId(0);
  }
  return problem;
}

inline Bundle bundle_of(const Topology& topology, CollectiveKind kind, int effort) {
  Synthesis made = taken(synthesize(topology, problem_of(topology, kind), {.effort = effort}));
  return {.topology = topology,
          .collective = *std::move(made.collective),
          .link_model = LinkModel::kHold,
          .schedule = *std::move(made.schedule),
          .engine = std::move(made.engine),
          .seed = 1};
}

/// Different ones, the same in every run; all of them where there are fewer.
inline std::vector<std::string> cables_of(const Topology& topology, std::size_t count) {
  Rng rng(1);
  std::vector<std::string> cables;
  const std::size_t attempts = 100 * count;
  for (std::size_t i = 0; i < attempts && cables.size() < count; ++i) {
    const Link& link = topology.link(LinkId(rng.below(topology.num_links())));
    const auto ends = std::minmax(link.src, link.dst);
    std::string cable = fmt::format("link:{}-{}", ends.first.value(), ends.second.value());
    if (std::find(cables.begin(), cables.end(), cable) == cables.end()) {
      cables.push_back(std::move(cable));
    }
  }
  return cables;
}

}  // namespace tacos
