// SPDX-License-Identifier: MIT
// A random problem on a random small network, for property tests.
#pragma once

#include <cstdint>

#include <rapidcheck.h>

#include "tacos/synthesize.h"
#include "tacos/topology.h"

#include "support/problems.h"
#include "support/random_network.h"

namespace tacos::testing {

struct Task {
  Topology topology;
  Problem problem;
  std::uint64_t seed = 1;
};

[[nodiscard]] inline Task any_task() {
  const auto number = *rc::gen::arbitrary<std::uint64_t>();
  Rng rng(number);
  Task task{.topology = rng.below(2) == 0 ? random_network(number, {.max_npus = 8})
                                          : random_switched_network(number, 8),
            .problem = {},
            .seed = rng.below(1'000)};
  const auto kinds = collective_kinds();
  const CollectiveKind kind = kinds[rng.below(static_cast<std::uint32_t>(kinds.size()))];
  const std::int64_t size = std::int64_t{1} << (9 + rng.below(17));
  task.problem = problem(task.topology,
                         kind == CollectiveKind::kCustom ? CollectiveKind::kAllReduce : kind,
                         size + rng.below(64));
  if (rng.below(2) == 0) {
    task.problem.chunks = 1 + rng.below(3);
  }
  if (rng.below(2) == 0) {
    std::erase_if(task.problem.participants, [&](NodeId npu) { return npu.value() % 3 == 1; });
  }
  return task;
}

}  // namespace tacos::testing
