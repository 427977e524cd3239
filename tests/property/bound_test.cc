// SPDX-License-Identifier: MIT
// How bounds of different collectives on one network relate.
#include "tacos/bound.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/numbers/rng.h"
#include "support/problems.h"
#include "support/random_network.h"

namespace tacos {
namespace {

using testing::problem;

Bound best_bound(const Topology& topology,
                 CollectiveKind kind,
                 const std::vector<NodeId>& participants,
                 std::optional<NodeId> root = std::nullopt) {
  const Collective collective =
      Collective::make(kind, Bytes{54'321}, 1, participants, root).value();
  Bound best = compute_bounds(topology, collective).value().best;
  RC_ASSERT(check_certificate(topology, collective, best.certificate).value() == best.time);
  return best;
}

RC_GTEST_PROP(Bound, OfAllReduceIsNoLessThanOfEveryBroadcastAndReduceInIt, ()) {
  const auto number = *rc::gen::arbitrary<std::uint64_t>();
  const Topology topology = *rc::gen::arbitrary<bool>() ? testing::random_network(number)
                                                        : testing::random_switched_network(number);
  std::vector<NodeId> group = problem(topology, CollectiveKind::kAllReduce, 1).participants;
  if (*rc::gen::arbitrary<bool>()) {
    std::erase_if(group, [&](NodeId npu) { return mix64(number, npu.value()) % 3 == 0; });
  }
  RC_PRE(!group.empty());
  const Ticks whole = best_bound(topology, CollectiveKind::kAllReduce, group).time;
  for (const NodeId root : group) {
    RC_ASSERT(best_bound(topology, CollectiveKind::kBroadcast, group, root).time <= whole);
    RC_ASSERT(best_bound(topology, CollectiveKind::kReduce, group, root).time <= whole);
  }
}

}  // namespace
}  // namespace tacos
