// SPDX-License-Identifier: MIT
// A network in which links have failed is one without them, but for the ids of those that are left.
#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tacos/bound.h"

#include "base/numbers/rng.h"
#include "support/listed_schedule.h"
#include "support/problems.h"
#include "support/random_network.h"

namespace tacos {
namespace {

struct Networks {
  /// With all links, of which some have failed.
  Topology marked;
  /// Without those.
  Topology left;
  /// Of the links that are left: their ids among all.
  std::vector<LinkId> ids;
};

Networks any_networks(Rng& rng) {
  const std::uint64_t seed = rng.next();
  const Topology whole = rng.below(2) == 0 ? testing::random_network(seed, {.max_npus = 8})
                                           : testing::random_switched_network(seed, 8);
  TopologyBuilder marked(whole.name(), whole.num_npus(), whole.num_switches());
  TopologyBuilder left(whole.name(), whole.num_npus(), whole.num_switches());
  Networks networks;
  for (std::uint32_t id = 0; id < whole.num_links(); ++id) {
    const Link& link = whole.link(LinkId(id));
    // Before each link that works some may have failed, as fast or faster, near it or elsewhere.
    while (rng.below(4) == 0) {
      Link failed = whole.link(LinkId(rng.below(whole.num_links())));
      failed.bandwidth.bytes_per_second *= 1 + rng.below(5);
      failed.latency.ps = failed.latency.ps * rng.below(4) / 2;
      marked.add_failed_link(failed);
    }
    left.add_link(link);
    marked.add_link(link);
  }
  networks.marked = std::move(marked).build().value();
  networks.left = std::move(left).build().value();
  for (std::uint32_t id = 0; id < networks.marked.num_links(); ++id) {
    if (!networks.marked.failed(LinkId(id))) {
      networks.ids.emplace_back(id);
    }
  }
  return networks;
}

/// The transfers, in an order that does not depend on ids, with links called by `ids` where given.
std::vector<test::ListedTransfer> transfers_of(const Schedule& schedule,
                                               const std::vector<LinkId>& ids) {
  std::vector<test::ListedTransfer> all = test::listed(schedule);
  for (test::ListedTransfer& transfer : all) {
    for (std::uint32_t& link : transfer.links) {
      link = ids.empty() ? link : ids[link].value();
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a.start, a.links, a.chunks) < std::tie(b.start, b.links, b.chunks);
  });
  return all;
}

RC_GTEST_PROP(FailedLinks, AreAsIfTheyWereNotThere, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const Networks networks = any_networks(rng);
  const auto kinds = collective_kinds();
  const CollectiveKind kind = kinds[rng.below(static_cast<std::uint32_t>(kinds.size()))];
  Problem problem =
      testing::problem(networks.left, kind, (std::int64_t{1} << (4 + rng.below(20))) + 7);
  if (rng.below(3) == 0) {
    std::erase_if(problem.participants, [&](NodeId npu) { return npu.value() % 3 == 1; });
  }
  for (const std::string_view engine : engine_names()) {
    const SynthesisOptions options{
        .engine = std::string(engine),
        .link_model = rng.below(2) == 0 ? LinkModel::kHold : LinkModel::kPipelined,
        .seed = 1 + rng.below(9)};
    const Result<Synthesis> left = synthesize(networks.left, problem, options);
    if (!left || left->status != SynthesisStatus::kFeasible) {
      RC_ASSERT(!left == !synthesize(networks.marked, problem, options));
      continue;
    }
    const Synthesis marked = testing::synthesize_verified(networks.marked, problem, options);
    RC_LOG() << engine;
    RC_ASSERT(transfers_of(*marked.schedule, {}) == transfers_of(*left->schedule, networks.ids));
    const std::array bounds{compute_bounds(networks.left, *left->collective).value(),
                            compute_bounds(networks.marked, *left->collective).value()};
    RC_ASSERT(bounds[0].best.time == bounds[1].best.time);
    RC_ASSERT(bounds[0].bandwidth.time == bounds[1].bandwidth.time);
    RC_ASSERT(check_certificate(networks.marked, *left->collective, bounds[1].best.certificate));
    RC_ASSERT(
        check_certificate(networks.marked, *left->collective, bounds[1].bandwidth.certificate));
  }
}

}  // namespace
}  // namespace tacos
