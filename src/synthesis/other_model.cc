// SPDX-License-Identifier: MIT
#include "synthesis/other_model.h"

#include <algorithm>
#include <utility>

#include "tacos/bound.h"

#include "base/parallel/team.h"
#include "replay/replay.h"
#include "synthesis/policy.h"

namespace tacos {
namespace {

/// Before every number of chunks is tried (docs/adr/0089). Of 543 tries that took longer than 5 ms
/// with all of them, three led to what was taken in the end.
constexpr int kQuickEffort = 3;

bool may_be_shorter(const Topology& topology) {
  const auto links = topology.links();
  return std::all_of(
      links.begin(), links.end(), [](const Link& link) { return link.gap <= link.latency; });
}

/// A message for each NPU: quick, whatever the network.
bool is_one_ended(CollectiveKind kind) {
  return traits(kind).rooted() && !traits(kind).spreads();
}

}  // namespace

OtherModel::OtherModel(const Topology& topology,
                       const Problem& problem,
                       const EngineOptions& options)
    : topology_(topology),
      problem_(problem),
      worthwhile_(level_of(options.effort).other_model &&
                  options.link_model == LinkModel::kPipelined &&
                  topology.num_npus() <= kMostCompared && may_be_shorter(topology)),
      part_(topology.num_npus() > kMostTried && !is_one_ended(problem.kind)
                ? kFarFromBound
                : level_of(options.effort).as_good_as_bound),
      costly_(!is_one_ended(problem.kind) && topology.num_npus() > kFewNpus) {}

void OtherModel::try_it(const EngineInfo& engine, EngineOptions options, Candidate& made) const {
  const bool costly = costly_ && made.schedule.num_transfers() > kFewTransfers;
  // Algorithms from books are hardly led by times.
  const bool fixed = engine.id == EngineId::kBaseline && topology_.num_npus() > kFewNpus;
  const bool larger = costly && topology_.num_npus() > kMostTried;
  const bool quick = is_rooted(problem_.kind) || engine.id == EngineId::kRouting;
  if (!worthwhile_ || fixed || (larger && !quick) ||
      ((costly || !problem_.chunks) && is_behind(made, options)) ||
      (larger && chunks_are_short(made)) || near_bound(made, costly ? kFarFromBound : part_)) {
    return;
  }
  options.link_model = LinkModel::kHold;
  if (costly) {
    // Few chunks, and those quickly: it hardly ever gains, and then much.
    options.effort = std::min(options.effort, kQuickEffort);
  }
  Problem problem = problem_;
  if (larger) {
    // Not the whole search again.
    problem.chunks = made.collective.chunk_argument();
  }
  Result<Candidate> other = engine.run(topology_, problem, options);
  // Of a team only the leader has the transfers.
  const bool absent = options.team != nullptr && !options.team->leads();
  if (!other || absent) {
    return;
  }
  // A pattern is right as it is, and would fall into its transfers.
  Schedule sooner =
      engine.id == EngineId::kSymmetric
          ? std::move(other->schedule)
          : replay::replayed(topology_, other->collective, LinkModel::kPipelined, other->schedule);
  if (sooner.collective_time() < made.schedule.collective_time()) {
    made = Candidate{.collective = std::move(other->collective),
                     .schedule = std::move(sooner),
                     .trials = other->trials};
  }
}

/// Whether another engine has reached less, on a network where that was never made up for.
bool OtherModel::is_behind(const Candidate& made, const EngineOptions& options) const {
  return topology_.num_npus() > kFewNpus && options.beat &&
         made.schedule.collective_time() >= *options.beat;
}

/// Whether under `hold` as many chunks through the ports of the root would take longer, for their
/// latencies, than what was made.
bool OtherModel::chunks_are_short(const Candidate& made) const {
  if (!is_rooted(problem_.kind)) {
    return false;
  }
  const NodeId root = problem_.root.value_or(problem_.participants.front());
  const auto ports =
      traits(problem_.kind).reduces ? topology_.in_links(root) : topology_.out_links(root);
  const Bytes bytes = made.collective.chunks().max_bytes();
  const Ticks limit = made.schedule.collective_time();
  std::int64_t pass = 0;
  for (const LinkId port : ports) {
    pass += limit.ps / link_cost(topology_.link(port), bytes, LinkModel::kHold).busy.ps;
  }
  return pass < made.collective.num_chunks();
}

bool OtherModel::near_bound(const Candidate& made, std::int64_t part) const {
  const Result<BoundReport> bound =
      compute_bounds(topology_, made.collective, {.link_model = LinkModel::kPipelined});
  const std::int64_t least = bound ? bound->best.time.ps : 0;
  return made.schedule.collective_time().ps - least <= least / part;
}

}  // namespace tacos
