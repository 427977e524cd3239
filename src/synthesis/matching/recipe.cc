// SPDX-License-Identifier: MIT
#include "synthesis/matching/recipe.h"

#include <utility>
#include <vector>

#include "base/parallel/progress.h"
#include "base/parallel/threads.h"
#include "replay/relist.h"
#include "replay/retime.h"
#include "synthesis/common/deal.h"
#include "synthesis/common/spread_task.h"
#include "synthesis/matching/direct/gather.h"
#include "synthesis/matching/direct/gather_result.h"

namespace tacos::matching {
namespace {

/// Appends the transfers, `delay` later.
void append_later(const TransferBatch& transfers, Ticks delay, TransferBatch& out) {
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    Transfer transfer = transfers[i];
    transfer.start += delay;
    out.append(transfer);
  }
}

}  // namespace

Result<Collective> RecipeMaker::cut(const Recipe& recipe) const {
  return decided_by_phases(problem_, recipe.chunks);
}

SpeedLevels RecipeMaker::levels(const Recipe& recipe, Pace pace) const {
  const Result<Collective> collective = cut(recipe);
  const PortNetwork network(topology_,
                            Direction::kWithLinks,
                            collective ? collective->chunks().max_bytes() : Bytes{1},
                            options_.link_model,
                            pace);
  return {network.links(), network.num_nodes()};
}

bool RecipeMaker::is_flat(const Recipe& recipe) const {
  return levels(recipe, recipe.pace).num_levels() == 1;
}

bool RecipeMaker::paces_agree(const Recipe& recipe) const {
  return levels(recipe, Pace::kArrival) == levels(recipe, Pace::kBusy);
}

Result<std::optional<Candidate>> RecipeMaker::make(const Recipe& recipe,
                                                   const EngineOptions& options,
                                                   Ticks limit) const {
  const Result<Collective> collective = cut(recipe);
  if (!collective) {
    return collective.error();
  }
  if (recipe.share != 0) {
    return by_ports(*collective, recipe, limit);
  }
  Result<Candidate> made = by_arrival(*collective, options);
  return made ? Result(std::optional(*std::move(made)))
              : Result<std::optional<Candidate>>(made.error());
}

Result<Candidate> RecipeMaker::by_arrival(const Collective& collective,
                                          EngineOptions options) const {
  JointProgress phases(options.progress, all_reduce() ? 2 : 1);
  options.progress = phases.part(0);
  const std::vector<NodeId> owners = spread_owners(collective);
  GatherJob job{.topology = topology_,
                .collective = collective,
                .options = options,
                .owners = owners,
                .direction = Direction::kWithLinks};
  if (Status fits = check_memory(job, all_reduce() ? 2 : 1); !fits) {
    return fits.error();
  }
  const ArrivalClock clock(topology_, collective.chunks(), options_.link_model);
  ThreadPool pool(options_.threads);
  const auto candidate = [&](Schedule schedule) {
    return Candidate{collective, std::move(schedule), static_cast<std::int64_t>(job.trials())};
  };
  if (!collective.reduces()) {
    const Result<GatherResult> gathered = gather(job);
    return gathered ? Result(candidate(all_gather_schedule(*gathered, clock, pool)))
                    : Result<Candidate>(gathered.error());
  }
  job.direction = Direction::kAgainstLinks;
  const Result<GatherResult> scattered = gather(job);
  if (!scattered) {
    return scattered.error();
  }
  if (!all_reduce()) {
    return candidate(reduce_scatter_schedule(*scattered, clock, pool));
  }
  job.direction = Direction::kWithLinks;
  options.progress = phases.part(1);
  const Result<GatherResult> gathered = gather(job);
  if (!gathered) {
    return gathered.error();
  }
  if (scattered->planned_end + gathered->planned_end > kMaxTime) {
    return takes_too_long(topology_.name());
  }
  if (job.deliveries() <= kSmallGather) {
    TransferBatch both = replay::all_transfers(reduce_scatter_schedule(*scattered, clock, pool));
    append_later(replay::all_transfers(all_gather_schedule(*gathered, clock, pool)),
                 scattered->planned_end,
                 both);
    return candidate(replay::retime(topology_, collective, options_.link_model, both));
  }
  return candidate(all_reduce_schedule(*scattered, *gathered, clock, pool));
}

Result<std::optional<Candidate>> RecipeMaker::by_ports(const Collective& collective,
                                                       const Recipe& recipe,
                                                       Ticks limit) const {
  const auto phase = [&](Direction direction) {
    return match_ports(topology_,
                       spread_task(collective, direction, topology_.num_npus()),
                       {.direction = direction,
                        .link_model = options_.link_model,
                        .seed = options_.seed,
                        .share = recipe.share,
                        .sharing = recipe.sharing,
                        .rarity = recipe.rarity,
                        .duplicates = recipe.duplicates,
                        .pace = recipe.pace,
                        .limit = limit});
  };
  const auto nothing = [&]() -> Result<std::optional<Candidate>> {
    return limit < kMaxTime ? Result<std::optional<Candidate>>(std::nullopt)
                            : Result<std::optional<Candidate>>(takes_too_long(topology_.name()));
  };
  TransferBatch both;
  if (collective.reduces()) {
    const std::optional<TransferBatch> gather = phase(Direction::kAgainstLinks);
    if (!gather) {
      return nothing();
    }
    both = replay::mirrored(topology_, collective, *gather);
  }
  if (!collective.reduces() || all_reduce()) {
    const Ticks reduced = both.empty() ? Ticks{} : both.starts().back();
    const std::optional<TransferBatch> spread = phase(Direction::kWithLinks);
    if (!spread) {
      return nothing();
    }
    append_later(*spread, reduced, both);
  }
  Schedule made = replay::retime(topology_, collective, options_.link_model, both);
  if (collective.reduces() && replay::has_unequal_routes(topology_, both)) {
    if (const auto again = replay::relisted(topology_, collective, options_.link_model, both)) {
      Schedule other = replay::retime(topology_, collective, options_.link_model, *again);
      made = other.collective_time() < made.collective_time() ? std::move(other) : std::move(made);
    }
  }
  if (made.collective_time() > kMaxTime) {
    return takes_too_long(topology_.name());
  }
  return std::optional(Candidate{collective, std::move(made), 1});
}

}  // namespace tacos::matching
