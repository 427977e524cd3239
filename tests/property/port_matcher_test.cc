// SPDX-License-Identifier: MIT
// The port matcher against its rules, one by one, and against a limit.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tacos/schedule.h"

#include "support/problems.h"
#include "support/random_network.h"
#include "support/reference_ports.h"
#include "synthesis/common/deal.h"

namespace tacos {
namespace {

using matching::Duplicates;
using matching::match_ports;
using matching::PortOptions;
using matching::Rarity;
using matching::Sharing;

struct Case {
  Topology topology;
  Collective collective;
  PortOptions options;
  SpreadTask task;
};

/// Boxes and fat trees as people have them, or anything.
Topology any_network(std::uint64_t number) {
  constexpr std::array kSpecs{"a100:2",
                              "switch:5",
                              "switch:3*switch:2,bw=300GBps/25GBps",
                              "leaf-spine:2x2x2",
                              "rail:2x3",
                              "rfs:2x2x2",
                              "ring:2*switch:3,gap=0.2us"};
  Rng rng(number);
  switch (rng.below(3)) {
    case 0:
      return testing::network(kSpecs[rng.below(kSpecs.size())]);
    case 1:
      return testing::random_network(number, {.max_npus = 8});
    default:
      return testing::random_switched_network(number, 8);
  }
}

Case any_case() {
  const auto number = *rc::gen::arbitrary<std::uint64_t>();
  Topology topology = any_network(number);
  Rng rng(number + 1);
  const auto kind = rng.below(2) == 0 ? CollectiveKind::kAllGather : CollectiveKind::kBroadcast;
  Problem problem = testing::problem(topology, kind, std::int64_t{1} << (8U + rng.below(20)));
  if (rng.below(3) == 0) {
    std::erase_if(problem.participants, [](NodeId npu) { return npu.value() % 3 == 1; });
  }
  const std::int64_t chunks = 1 + rng.below(kind == CollectiveKind::kBroadcast ? 70 : 6);
  Collective collective = *decided(problem, chunks);
  PortOptions options{
      .direction = rng.below(2) == 0 ? Direction::kWithLinks : Direction::kAgainstLinks,
      .link_model = rng.below(2) == 0 ? LinkModel::kHold : LinkModel::kPipelined,
      .seed = rng.below(1'000),
      .share = std::array{1U, 1U, 2U, 4U, 1U << 20U}[rng.below(5)],
      .sharing = rng.below(2) == 0 ? Sharing::kAllLinks : Sharing::kFastLinks,
      .rarity = rng.below(2) == 0 ? Rarity::kNpus : Rarity::kNeighbourhoods,
      .duplicates =
          std::array{Duplicates::kAvoid, Duplicates::kAvoidAll, Duplicates::kAllow}[rng.below(3)],
      .pace = rng.below(2) == 0 ? matching::Pace::kArrival : matching::Pace::kBusy};
  // Against the links a gather runs from where its sums end.
  SpreadTask task = spread_task(collective, Direction::kWithLinks, topology.num_npus());
  return {std::move(topology), std::move(collective), options, std::move(task)};
}

bool equal(const TransferBatch& a, const TransferBatch& b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].start != b[i].start || !std::ranges::equal(a[i].links, b[i].links) ||
        !std::ranges::equal(a[i].chunks, b[i].chunks)) {
      return false;
    }
  }
  return true;
}

RC_GTEST_PROP(PortMatcher, DoesWhatItsRulesSay, ()) {
  const Case any = any_case();
  const auto made = match_ports(any.topology, any.task, any.options);
  const auto expected = testing::reference_match_ports(any.topology, any.task, any.options);
  RC_ASSERT(made.has_value() && expected.has_value());
  RC_ASSERT(equal(*made, *expected));
}

/// When the last transfer arrives.
Ticks end_of(const Case& any, const TransferBatch& transfers) {
  Ticks end;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const Transfer transfer = transfers[i];
    const auto count = static_cast<std::int64_t>(transfer.chunks.size());
    Ticks slowest;
    Ticks latency;
    for (const LinkId id : transfer.links) {
      const Link& link = any.topology.link(id);
      slowest = std::max(slowest, serialization_time(any.task.chunk_bytes, link.bandwidth) * count);
      latency += link.latency;
    }
    end = std::max(end, transfer.start + latency + slowest);
  }
  return end;
}

RC_GTEST_PROP(PortMatcher, GivesUpAtItsLimitAndNeverBelow, ()) {
  Case any = any_case();
  const auto made = match_ports(any.topology, any.task, any.options);
  RC_ASSERT(made.has_value());
  RC_PRE(!made->empty());
  const Ticks end = end_of(any, *made);
  any.options.limit = end + Ticks{1};
  const auto within = match_ports(any.topology, any.task, any.options);
  RC_ASSERT(within.has_value() && equal(*within, *made));
  any.options.limit = end;
  RC_ASSERT(!match_ports(any.topology, any.task, any.options).has_value());
}

}  // namespace
}  // namespace tacos
