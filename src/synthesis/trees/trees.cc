// SPDX-License-Identifier: MIT
// All-Reduce over packed spanning trees, and everything else that trees do: Broadcast and Reduce
// from one root, All-Gather and Reduce-Scatter with as many trees for each root, and all of them
// over groups in which other NPUs only pass chunks on.
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
// roots are packed side by side. From one root, by Edmonds (1973), as many trees fit as the
// narrowest cut has room for (arborescences.cc).
//
// Algorithm.
//   1. routes.cc, fabric.cc    hops: what a tree edge can be made of, a link or a route through
//                   switches, and what a chunk costs on it. A route keeps several links busy.
//   2. roots.cc     roots near the centre, spread where many NPUs are equally central.
//   3. planting.cc, packing.cc   one shortest-path tree per root, or one that is grown around
//                   loaded links; NPUs outside the group only where they are on the way. Then
//                   exchanges along augmenting paths until no link is busier than it must be,
//                   depth kept within a limit that is raised only when nothing else helps. How many
//                   trees: those counts for which whole numbers lose least (period_bound.cc).
//   4. round_plan.cc, round_search.cc
//                   on direct links a round, one chunk on every tree, is planned
//                   modulo the period, so that it can be repeated: any number of chunks costs no
//                   more than one on each tree. Where links are unequal, chunks share transfers
//                   over the fast ones if that promises more.
//   5. leg_scheduler.cc   or: chunks in turn over the trees, all of them simulated at once. A free
//                   hop sends what is most urgent: the place in the order of chunks, less twice
//                   the way that still lies ahead (four times on large networks where every tree
//                   has its own root). Then the same backwards in time and forwards
//                   again, each by the order that the pass before arrived at; but not many
//                   transfers from one root through switches.
//   6. search.cc, refine.cc
//                   the number of chunks. With K chunks, load l per chunk on the busiest hop
//                   and D hops up and down, the time under `hold` is about
//                   (K l + D) (latency + size / (K bandwidth)): too few chunks pay for the depth,
//                   too many for latency. Start from the best of that formula, then climb.
//   7. Small messages: few chunks, each number tried; several chunks in one transfer; trees around
//      an edge whose two ends exchange their sums (one hop less); recursive doubling, or halving
//      and doubling, where ids and links allow it (doubling.cc, halving.cc).
//
// Which of the two. Rounds: always with the least effort, and where there are more than some
// million transfers (mesh 32x32 and larger at 1 GiB); there they are faster as well, since list
// scheduling has no time to go back. On smaller networks both are made, and list scheduling wins by
// up to 7% where trees are shallow and have many roots: it fills links sooner at the beginning, and
// keeps them busy longer at the end, than what is repeated can. Through switches there is only list
// scheduling: a route would need a slot on each of its links at times that belong together.
//
// Cost. Packing O(trees * hops) per exchange in the worst case, 1 to 20 ms for 64 NPUs, 0.4 s for
// 15 trees of 40,000; planning 0.4 us for each tree and NPU. Simulation O(transfers), about 0.1 us
// each, 2 (N - 1) K of them, three passes and one to record. State is per tree and NPU, not per
// chunk.
//
// Tried and measured worse (1 GiB, `hold`, percent of the bandwidth bound):
//   - chunk order as the only urgency: mesh 8x8 93.7 instead of 94.9, torus 8x8 93.4 instead of 99;
//     longest way ahead only: starves, 92.5; weight 1 or 4 instead of 2: 94.3, 94.3;
//   - one forward pass without the way back: torus 8x8 95.0 instead of 99.1;
//   - two trees for a torus (edge-disjoint, 98.4% of its bandwidth): 92.2, since only many roots
//     keep all links busy at the beginning and at the end;
//   - exchanges only at the node itself, never turning a subtree round: mesh 4x4 with one dimension
//     four times as fast 66 instead of 99.6 (pipelined);
//   - several chunks in one transfer on uniform networks at 1 GiB: mesh 8x8 94.6 instead of 94.9;
//     without a limit at 1 MiB: 58 us instead of 39, since everything is ready at the start; single
//     transfers for the first and the last chunks only: no better than none;
//   - shortest-path trees alone, without growing around loaded links: Broadcast on a100:2 12
//     instead of 94, groups of a mesh 30 to 60 instead of 93 to 98; growing without exact
//     arborescences: Broadcast on mi250:1 76 instead of 92;
//   - meetings at 1 MiB under `hold`: mesh 8x8 42.0 us instead of 39.7; two links free at the same
//     time cost more than the hop that is saved.
//
// References: Nash-Williams, Edge-disjoint spanning trees of finite graphs, J. London Math. Soc. 36
// (1961); Edmonds, Minimum partition of a matroid into independent subsets (1965); Edmonds,
// Edge-disjoint branchings (1973); Lovasz, On two minimax theorems in graph (1976); Valls et al.,
// Justification and RCPSP, EJOR 165 (2005); docs/adr/0020-all-reduce-by-tree-packing.md.
#include "synthesis/trees/trees.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/numbers/rng.h"
#include "base/numbers/wide.h"
#include "synthesis/common/deal.h"
#include "synthesis/trees/exchange/doubling.h"
#include "synthesis/trees/exchange/halving.h"
#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/packing/packer.h"
#include "synthesis/trees/round_search.h"
#include "synthesis/trees/search.h"
#include "synthesis/trees/timing/periodic.h"
#include "synthesis/trees/timing/pipeline.h"

namespace tacos::trees {
namespace {

Status check(const Topology& topology, const Problem& problem) {
  if (!handles(topology, problem)) {
    return input_error(
        fmt::format("engine trees does not make {} on this network", to_string(problem.kind)));
  }
  // Size and number of chunks, before any work.
  const Result<Collective> collective = Collective::make(
      problem.kind, problem.size, problem.chunks.value_or(1), problem.participants, problem.root);
  if (!collective) {
    return collective.error();
  }
  // Sums of times stay far from overflow if the whole buffer over every link does.
  Int128 longest = 0;
  for (const Link& link : topology.links()) {
    const LinkCost whole = link_cost(link, problem.size, LinkModel::kHold);
    longest = std::max(longest,
                       Int128{whole.arrival.ps} * 64 +
                           Int128{std::max(link.latency, link.gap).ps} * 4 *
                               (topology.num_npus() + problem.chunks.value_or(1 << 20)));
  }
  if (longest >= kMaxTime.ps) {
    return takes_too_long(topology.name());
  }
  return ok();
}

Job make_job(const Topology& topology, const Problem& problem) {
  Job job;
  const CollectiveTraits& kind = traits(problem.kind);
  if (!kind.has_two_phases()) {
    job.flow = kind.reduces ? Flow::kUp : Flow::kDown;
  } else {
    job.flow = Flow::kUpAndDown;
  }
  job.everyones_own = kind.chunks_per == ChunksPer::kParticipant;
  job.takes_part.assign(topology.num_npus(), false);
  for (const NodeId npu : problem.participants) {
    job.participants.push_back(npu.value());
    job.takes_part[npu.index()] = true;
  }
  if (is_rooted(problem.kind)) {
    job.root = problem.root.value_or(problem.participants.front()).value();
  }
  return job;
}

/// A way to make an All-Reduce without trees, if it takes less than `time` with so many chunks.
template <class Way>
std::optional<Candidate> try_way(const Way& way,
                                 const Problem& problem,
                                 std::int64_t chunks,
                                 Ticks time) {
  Result<Collective> collective =
      Collective::make(problem.kind, problem.size, chunks, problem.participants);
  if (!collective || way.time(collective->chunks()) >= time) {
    return std::nullopt;
  }
  Schedule schedule = way.record(collective->chunks());
  return Candidate{.collective = std::move(*collective), .schedule = std::move(schedule)};
}

/// Recursive doubling, or halving and doubling, if that takes less than `time`.
std::optional<Candidate> try_doubling(const Topology& topology,
                                      const Fabric& fabric,
                                      const Problem& problem,
                                      LinkModel model,
                                      Ticks time) {
  if (!traits(problem.kind).has_two_phases() ||
      problem.participants.size() != topology.num_npus()) {
    return std::nullopt;
  }
  const auto doubling = Doubling::find(topology, fabric, model);
  if (!doubling) {
    return std::nullopt;
  }
  const std::int64_t chunks =
      problem.chunks.value_or(std::min<std::int64_t>(doubling->num_steps(), problem.size.count));
  std::optional<Candidate> best = try_way(*doubling, problem, chunks, time);
  const auto halving = Halving::make(*doubling);
  if (halving && problem.chunks.value_or(halving->num_chunks()) == halving->num_chunks()) {
    const Ticks least = best ? best->schedule.collective_time() : time;
    auto halved = try_way(*halving, problem, halving->num_chunks(), least);
    if (halved) {
      best = std::move(halved);
    }
  }
  return best;
}

/// From how many NPUs distances are measured to find the centre of a network. On small networks
/// from all of them, unless there is hardly any time for it.
std::uint32_t landmarks(const Fabric& fabric, int effort) {
  constexpr std::uint32_t kSmall = 512;
  constexpr std::uint32_t kSome = 32;
  constexpr std::uint32_t kFew = 12;
  return effort == 1 ? kFew : fabric.num_nodes() <= kSmall ? kSmall : kSome;
}

/// Whether list scheduling is worth a try beside a planned round: where it has so many transfers
/// that it sees them once only, it was never seen to gain more than half a percent. On small
/// networks there are many only if they are tiny, and it chooses fewer.
bool lists_too(const PipelineTask& task, const Draft& planned, int effort) {
  constexpr std::uint64_t kMostListed = 4'000'000;
  constexpr std::uint32_t kSmall = 128;
  if (effort >= kDefaultEffort && task.fabric.num_nodes() <= kSmall) {
    return true;
  }
  // Four times as many for each step of effort.
  const auto steps = static_cast<unsigned>(2 * std::abs(effort - kDefaultEffort));
  return task.job.transfers_per_chunk() * planned.chunks <=
         (effort < kDefaultEffort ? kMostListed >> steps : kMostListed << steps);
}

/// By list scheduling, or by a round that is planned once and repeated.
Draft best_draft(const PipelineTask& task,
                 std::optional<std::int64_t> chunks,
                 std::uint64_t seed,
                 const EngineOptions& options) {
  const int effort = options.effort;
  const ChunkTable some(task.size,
                        static_cast<std::uint32_t>(std::min<std::int64_t>(64, task.size.count)));
  const HopCosts costs(task.topology, task.fabric, some.max_bytes(), task.model);
  Packer packer(
      task.topology,
      task.fabric,
      task.job,
      find_centre(task.fabric, task.job, costs.arrivals(), landmarks(task.fabric, effort)),
      seed,
      effort);
  const auto fixed = [&]() -> std::optional<std::uint32_t> {
    return chunks ? std::optional(static_cast<std::uint32_t>(*chunks) * task.job.unit())
                  : std::nullopt;
  }();
  std::optional<Draft> planned;
  if (task.fabric.direct()) {
    planned = RoundSearch(task, packer, effort).best(fixed);
    if (planned && (planned->time <= options.suffices.ps || !lists_too(task, *planned, effort))) {
      return *std::move(planned);
    }
  }
  Search search(task, packer, options);
  Draft listed = fixed ? search.best_with(*fixed) : search.best();
  return planned && planned->time <= listed.time ? *std::move(planned) : std::move(listed);
}

Schedule to_schedule(const PipelineTask& task, const Draft& draft) {
  if (draft.plan) {
    return periodic(task, draft);
  }
  return draft.written ? *draft.written : listed(task, draft);
}

/// Where some NPUs only pass on, trees find their ways better than matching; else they are worth a
/// try on small direct networks. They are as many as participants: too many at scale.
bool handles_gathering(const Topology& topology, const Problem& problem) {
  constexpr std::size_t kMostPlaces = 4'000'000;
  constexpr std::uint32_t kMostDirect = 64;
  return problem.participants.size() < topology.num_npus()
             ? problem.participants.size() * topology.num_npus() <= kMostPlaces
             : topology.num_npus() <= kMostDirect && topology.num_switches() == 0;
}

}  // namespace

bool handles(const Topology& topology, const Problem& problem) {
  const CollectiveTraits& kind = traits(problem.kind);
  return kind.spreads() &&
         (kind.chunks_per == ChunksPer::kBuffer || handles_gathering(topology, problem));
}

Result<Candidate> synthesize(const Topology& topology,
                             const Problem& problem,
                             const EngineOptions& options) {
  if (Status usable = check(topology, problem); !usable) {
    return usable.error();
  }
  const Job job = make_job(topology, problem);
  const Result<Fabric> fabric = Fabric::make(topology, job);
  if (!fabric) {
    return fabric.error();
  }
  const std::int64_t trials = options.trials.value_or(1);
  const Deal deal(options.team);
  Draft best;
  std::optional<Bid> bid;
  for (std::int64_t trial = 0; trial < trials; ++trial) {
    if (!deal.mine(static_cast<std::size_t>(trial))) {
      continue;
    }
    Draft draft = best_draft({topology, *fabric, job, problem.size, options.link_model},
                             problem.chunks,
                             mix64(options.seed, static_cast<std::uint64_t>(trial)),
                             options);
    if (!bid || draft.time < best.time) {
      best = std::move(draft);
      bid = Bid{.time = {best.time}, .job = static_cast<std::uint64_t>(trial)};
    }
    if (options.progress) {
      options.progress(static_cast<double>(trial + 1) / static_cast<double>(trials + 1));
    }
  }
  const Bid winner = deal.best(bid).value();
  if (winner.time >= kMaxTime) {
    return takes_too_long(topology.name());
  }
  if (auto doubled = try_doubling(topology, *fabric, problem, options.link_model, winner.time)) {
    doubled->trials = trials;
    return std::move(*doubled);
  }
  if (winner.time.ps == kGivenUp) {
    return input_error("trees finds nothing that is faster than what there is", topology.name());
  }
  std::optional<Candidate> made;
  if (deal.mine(winner.job)) {
    Result<Collective> collective = decided(problem, best.chunks / job.unit());
    TACOS_ASSERT(collective.has_value(), "the buffer can be cut into as many chunks as were tried");
    made = Candidate{
        .collective = *std::move(collective),
        .schedule = to_schedule({topology, *fabric, job, problem.size, options.link_model}, best),
        .trials = trials};
  }
  return deal.to_leader(deal.owner(winner.job), std::move(made), topology, problem);
}

}  // namespace tacos::trees
