// SPDX-License-Identifier: MIT
// All-Reduce over packed spanning trees.
//
// Problem. Sum the vectors of all NPUs and give the sum to each. Reduce-Scatter followed by
// All-Gather leaves links idle wherever the network is not edge-symmetric: in a mesh the links out
// of a corner work in the first half and those into it in the second.
//
// Theorem. A chunk that is summed up a spanning tree and sent down it again uses each edge of the
// tree once in each direction, wherever the root is. So on a symmetric network an All-Reduce is a
// fractional packing of spanning trees, and by Tutte and Nash-Williams (1961) the best packing has
// the weight min over partitions P of capacity across P / (|P| - 1), which is also an upper limit
// for every other way to do it: each of the parts must be sent from and sent to once per byte, but
// for one part each. Where the two directions of a link differ, in-trees and out-trees with common
// roots are packed side by side.
//
// Algorithm.
//   1. fabric.cc    channels: what a tree edge can be made of, and what a chunk costs on it.
//   2. roots.cc     roots near the centre, spread where many NPUs are equally central.
//   3. packing.cc   one shortest-path tree per root, then exchanges along augmenting paths until
//                   no channel is busier than it must be, depth kept within a limit that is raised
//                   only when nothing else helps. How many trees: those counts for which whole
//                   numbers lose least (period_bound.cc).
//   4. list_schedule.cc   chunks in turn over the trees, all of them simulated at once. A free
//                   channel sends what is most urgent: the place in the order of chunks, less twice
//                   the way that still lies ahead. Then the same backwards in time and forwards
//                   again, each by the order that the pass before arrived at.
//   5. search.cc    the number of chunks. With K chunks, load l per chunk on the busiest channel
//                   and D hops up and down, the time under `hold` is about
//                   (K l + D) (latency + size / (K bandwidth)): too few chunks pay for the depth,
//                   too many for latency. Start from the best of that formula, then climb.
//   6. Small messages: few chunks, each number tried; several chunks in one transfer; trees around
//      an edge whose two ends exchange their sums (one hop less); recursive doubling where ids and
//      links allow it (doubling.cc).
//
// Cost. Packing O(trees * channels) per exchange in the worst case, 1 to 20 ms for 64 NPUs.
// Simulation O(transfers), about 0.1 us each, 2 (N - 1) K of them, three passes and one to record;
// beyond 1.2 million transfers one pass only. State is per tree and NPU, not per chunk: 40,000 NPUs
// with 31 trees take 300 MB besides the schedule itself.
//
// Tried and measured worse (1 GiB, `hold`, percent of the bandwidth bound):
//   - chunk order as the only urgency: mesh 8x8 93.7 instead of 94.9, torus 8x8 93.4 instead of 99;
//     longest way ahead only: starves, 92.5; weight 1 or 4 instead of 2: 94.3, 94.3;
//   - one forward pass without the way back: torus 8x8 95.0 instead of 99.1;
//   - two trees for a torus (edge-disjoint, 98.4% of its bandwidth): 92.2, since only many roots
//     keep all links busy at the beginning and at the end;
//   - exchanges only at the node itself, never turning a subtree round: mesh 4x4 with one dimension
//     four times as fast 66 instead of 99.6 (pipelined);
//   - planning one round and repeating it every period (modulo scheduling): very fast, but waits of
//     up to a period add up along deep trees, mesh 64x64 59.6 instead of 82.8;
//   - several chunks in one transfer on uniform networks at 1 GiB: mesh 8x8 94.6 instead of 94.9;
//     without a limit at 1 MiB: 58 us instead of 39, since everything is ready at the start; single
//     transfers for the first and the last chunks only: no better than none;
//   - meetings at 1 MiB under `hold`: mesh 8x8 42.0 us instead of 39.7; two links free at the same
//     time cost more than the hop that is saved.
//
// References: Nash-Williams, Edge-disjoint spanning trees of finite graphs, J. London Math. Soc. 36
// (1961); Edmonds, Minimum partition of a matroid into independent subsets (1965); Valls et al.,
// Justification and RCPSP, EJOR 165 (2005); docs/adr/0020-all-reduce-by-tree-packing.md.
#include "synthesis/trees/trees.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/rng.h"
#include "base/wide.h"
#include "synthesis/deal.h"
#include "synthesis/trees/doubling.h"
#include "synthesis/trees/fabric.h"
#include "synthesis/trees/search.h"

namespace tacos {
namespace {

Status check(const Topology& topology, const Problem& problem) {
  if (problem.kind != CollectiveKind::kAllReduce) {
    return input_error(
        fmt::format("engine 'trees' makes all-reduce only, not {}", to_string(problem.kind)));
  }
  if (problem.participants.size() != topology.num_npus()) {
    return input_error("engine 'trees' needs every NPU of the network to take part");
  }
  // Size and number of chunks, before any work.
  const Result<Collective> collective = Collective::make(
      problem.kind, problem.size, problem.chunks.value_or(1), problem.participants);
  if (!collective) {
    return collective.error();
  }
  // Sums of times stay far from overflow if the whole buffer over every link does.
  Int128 longest = 0;
  for (const Link& link : topology.links()) {
    const LinkCost whole = link_cost(link, problem.size, LinkModel::kHold);
    longest = std::max(
        longest,
        Int128{whole.arrival.ps} * 64 +
            Int128{link.latency.ps} * 4 * (topology.num_npus() + problem.chunks.value_or(1 << 20)));
  }
  if (longest >= kMaxTime.ps) {
    return input_error("a link is so slow that the schedule would last longer than 53 days");
  }
  return ok();
}

trees::Search make_search(const Topology& topology,
                          const trees::Fabric& fabric,
                          const Problem& problem,
                          const SynthesisOptions& options,
                          std::int64_t trial) {
  return {topology,
          fabric,
          problem.size,
          options.link_model,
          mix64(options.seed, static_cast<std::uint64_t>(trial))};
}

/// Recursive doubling if that takes less than `time`.
std::optional<Candidate> try_doubling(const Topology& topology,
                                      const trees::Fabric& fabric,
                                      const Problem& problem,
                                      const SynthesisOptions& options,
                                      Ticks time) {
  const auto doubling = trees::Doubling::find(topology, fabric, options.link_model);
  if (!doubling) {
    return std::nullopt;
  }
  const std::int64_t chunks =
      problem.chunks.value_or(std::min<std::int64_t>(doubling->num_steps(), problem.size.count));
  Result<Collective> collective =
      Collective::make(problem.kind, problem.size, chunks, problem.participants);
  if (!collective || doubling->time(collective->chunks()) >= time) {
    return std::nullopt;
  }
  Schedule schedule = doubling->record(collective->chunks());
  return Candidate{.collective = std::move(*collective), .schedule = std::move(schedule)};
}

}  // namespace

bool trees_handles(const Topology& topology, const Problem& problem) {
  return problem.kind == CollectiveKind::kAllReduce && topology.num_switches() == 0 &&
         problem.participants.size() == topology.num_npus();
}

Result<Candidate> synthesize_trees(const Topology& topology,
                                   const Problem& problem,
                                   const SynthesisOptions& options) {
  if (Status usable = check(topology, problem); !usable) {
    return usable.error();
  }
  const Result<trees::Fabric> fabric = trees::Fabric::make(topology);
  if (!fabric) {
    return fabric.error();
  }
  const std::int64_t trials = options.trials.value_or(1);
  const Deal deal(options.team);
  trees::Plan best;
  std::optional<Bid> bid;
  for (std::int64_t trial = 0; trial < trials; ++trial) {
    if (!deal.mine(static_cast<std::size_t>(trial))) {
      continue;
    }
    trees::Search search = make_search(topology, *fabric, problem, options, trial);
    trees::Plan plan = problem.chunks
                           ? search.best_with(static_cast<std::uint32_t>(*problem.chunks))
                           : search.best();
    if (!bid || plan.time < best.time) {
      best = std::move(plan);
      bid = Bid{.time = {best.time}, .job = static_cast<std::uint64_t>(trial)};
    }
    if (options.progress) {
      options.progress(static_cast<double>(trial + 1) / static_cast<double>(trials + 1));
    }
  }
  const Bid winner = deal.best(bid).value();
  if (auto doubled = try_doubling(topology, *fabric, problem, options, winner.time)) {
    doubled->trials = trials;
    return std::move(*doubled);
  }
  std::optional<Candidate> made;
  if (deal.mine(winner.job)) {
    Result<Collective> collective =
        Collective::make(problem.kind, problem.size, best.chunks, problem.participants);
    TACOS_ASSERT(collective.has_value(), "the buffer can be cut into as many chunks as were tried");
    const trees::Search search = make_search(topology, *fabric, problem, options, 0);
    made = Candidate{
        .collective = *std::move(collective), .schedule = search.record(best), .trials = trials};
  }
  return deal.to_leader(deal.owner(winner.job), std::move(made), topology, problem);
}

}  // namespace tacos
