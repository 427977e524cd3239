// SPDX-License-Identifier: MIT
// All-Gather and Broadcast by matching; Reduce-Scatter and Reduce as their twins against the links,
// run backwards; All-Reduce as one after the other, each chunk going on as soon as it is complete.
//
// Two matchers: on direct links the one that decides at arrival (gather.h), and wherever there are
// switches, fast and slow links, or messages so small that chunks should share transfers, the one
// that knows ports (port_matcher.h). Chunk counts and sharing are searched, which pays more than
// seeds: powers of two until it gets worse twice, then sharing around the best. Small
// problems are tried both ways, large ones only the way that scales.
#include "synthesis/matching/matching.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/parallel/progress.h"
#include "base/parallel/threads.h"
#include "replay/relist.h"
#include "replay/retime.h"
#include "synthesis/common/attempts.h"
#include "synthesis/common/deal.h"
#include "synthesis/common/spread_task.h"
#include "synthesis/matching/direct/gather.h"
#include "synthesis/matching/direct/gather_result.h"
#include "synthesis/matching/ports/port_matcher.h"

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

/// One way to make a schedule: how many chunks per participant, and how.
struct Recipe {
  std::int64_t chunks = 1;
  /// Chunks in one transfer, by the port matcher; 0 stands for the matchers of direct links.
  std::uint32_t share = 0;
  Sharing sharing = Sharing::kAllLinks;
  Rarity rarity = Rarity::kNpus;
  Duplicates duplicates = Duplicates::kAvoid;
};

class Search {
 public:
  Search(const Topology& topology, const Problem& problem, const EngineOptions& options)
      : topology_(topology), problem_(problem), options_(options), deal_(options.team) {
    const bool rooted = is_rooted(problem.kind);
    parts_ = rooted ? 1 : static_cast<std::int64_t>(problem.participants.size());
    per_chunk_ = topology.num_npus() * static_cast<std::uint64_t>(parts_);
    most_chunks_ = rooted ? 1024 : 64;
    if (problem.chunks) {
      // For All-Reduce rounded up to a multiple of the participants, since each reduces its part.
      fixed_ = all_reduce() ? (*problem.chunks + parts_ - 1) / parts_ : *problem.chunks;
    }
    const auto [least, most] = std::minmax_element(
        topology.links().begin(), topology.links().end(), [](const Link& a, const Link& b) {
          return a.bandwidth < b.bandwidth;
        });
    const Bytes part{std::max<std::int64_t>(1, problem.size.count / parts_)};
    const Ticks shortest = serialization_time(part, most->bandwidth);
    // Latency matters when it is a good part of even the largest chunk's time.
    small_message_ =
        std::any_of(topology.links().begin(), topology.links().end(), [&](const Link& l) {
          return std::max(l.latency, l.gap).ps > shortest.ps / 8;
        });
    layered_ = topology.num_switches() > 0 || least->bandwidth != most->bandwidth;
  }

  Result<Candidate> run() {
    const bool direct =
        topology_.num_switches() == 0 && problem_.participants.size() == topology_.num_npus();
    const bool ports = !direct || ((layered_ || small_message_) && per_chunk_ <= kPortWork / 2);
    if (direct) {
      if (Status searched = search_chunks(0, kSmallGather / 2); !searched) {
        return searched.error();
      }
    }
    if (ports) {
      if (Status searched = search_chunks(1, kPortWork); !searched) {
        return searched.error();
      }
      if (Status searched = search_shares(); !searched) {
        return searched.error();
      }
    }
    if (direct && !ports && small_message_ && per_chunk_ <= kShareWork) {
      // With everything in few transfers the port matcher reaches further.
      const std::array<Recipe, 2> recipes{Recipe{.chunks = fixed_.value_or(1), .share = kAll},
                                          Recipe{.chunks = fixed_.value_or(1), .share = 32}};
      if (Status tried = attempt_all(recipes); !tried) {
        return tried.error();
      }
    }
    TACOS_ASSERT(best_.has_value(), "at least one recipe was tried");
    return best_->owner
               ? deal_.to_leader(*best_->owner, std::move(best_->made), topology_, problem_)
               : *std::move(best_->made);
  }

 private:
  /// Beyond this many deliveries the port matcher is tried with one chunk per NPU only.
  static constexpr std::uint64_t kPortWork = std::uint64_t{1} << 18U;
  static constexpr std::uint64_t kShareWork = std::uint64_t{1} << 21U;
  static constexpr std::uint32_t kAll = 1U << 20U;

  [[nodiscard]] bool all_reduce() const { return traits(problem_.kind).has_two_phases(); }

  /// Whether cutting each part into `chunks` is possible and cheap enough.
  [[nodiscard]] bool affordable(std::int64_t chunks, std::uint64_t work) const {
    return chunks == 1 || (per_chunk_ * static_cast<std::uint64_t>(chunks) <= work &&
                           problem_.size.count / parts_ >= chunks);
  }

  Status search_chunks(std::uint32_t share, std::uint64_t work) {
    if (fixed_) {
      const Recipe recipe{.chunks = *fixed_, .share = share};
      return attempt_all({&recipe, 1});
    }
    std::optional<Ticks> best;
    int worse = 0;
    const auto enough = [&](Ticks time) {
      worse = !best || time < *best ? 0 : worse + 1;
      best = best ? std::min(*best, time) : time;
      return worse == 2;
    };
    // The port matcher is one thread: a team looks ahead, at a count for each member, and forgets
    // what one process would not have tried. Elsewhere it shares the work on each count.
    const std::size_t at_once = share == 0 ? 1 : deal_.members();
    std::vector<Recipe> recipes;
    for (std::int64_t chunks = 1; chunks <= most_chunks_ && affordable(chunks, work);) {
      recipes.clear();
      for (; recipes.size() < at_once && chunks <= most_chunks_ && affordable(chunks, work);
           chunks *= 2) {
        recipes.push_back({.chunks = chunks, .share = share});
      }
      if (Status tried = attempt_all(recipes, enough); !tried || worse == 2) {
        return tried;
      }
    }
    return ok();
  }

  /// Lets chunks share transfers, and counts rarity the other way, around the best so far.
  Status search_shares() {
    const std::int64_t around = best_->recipe.chunks;
    std::vector<Recipe> recipes;
    if (small_message_) {
      recipes = {{around, kAll}, {around, 4}, {1, kAll}, {1, 16}, {2, kAll}, {4, kAll}};
    } else {
      for (const Rarity rarity : {Rarity::kNpus, Rarity::kNeighbourhoods}) {
        recipes.insert(recipes.end(),
                       {{around, 1, Sharing::kAllLinks, rarity},
                        {2 * around, 2, Sharing::kAllLinks, rarity},
                        {4 * around, 4, Sharing::kAllLinks, rarity},
                        {around, 2, Sharing::kAllLinks, rarity},
                        {around, 4, Sharing::kFastLinks, rarity},
                        {2 * around, 16, Sharing::kFastLinks, rarity},
                        {4 * around, 16, Sharing::kFastLinks, rarity},
                        {around, 1, Sharing::kAllLinks, rarity, Duplicates::kAvoidAll},
                        {2 * around, 2, Sharing::kAllLinks, rarity, Duplicates::kAvoidAll}});
      }
    }
    const bool alone = !sharing_pays(topology_, options_.link_model);
    std::erase_if(recipes, [&](Recipe& recipe) {
      recipe.chunks = fixed_.value_or(recipe.chunks);
      return (alone && recipe.share > 1) ||
             (!fixed_ &&
              (recipe.chunks > 2 * most_chunks_ || !affordable(recipe.chunks, 2 * kPortWork)));
    });
    return attempt_all(recipes);
  }

  static bool never(Ticks /*time*/) { return false; }

  /// Makes the schedules, in parallel or dealt over the team, and keeps the fastest of all so far;
  /// among equals the first. Looks at no more of them when one's time is `enough`.
  template <class Enough = bool (*)(Ticks)>
  Status attempt_all(std::span<const Recipe> recipes, const Enough& enough = never) {
    const bool together = !deal_.alone() && recipes.size() == 1 && shares_work(recipes.front());
    const bool dealt = !deal_.alone() && !together;
    EngineOptions options = options_;
    options.team = together ? options_.team : nullptr;
    std::vector<std::optional<Candidate>> made(recipes.size());
    std::vector<Deal::Reached> reached(recipes.size());
    ThreadPool pool(recipes.size() > 1 ? options_.threads : 1);
    pool.for_ranges(recipes.size(), 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        if (!dealt || deal_.mine(i)) {
          reached[i] = attempt(recipes[i], options, made[i]);
        }
      }
    });
    if (dealt) {
      reached = deal_.share(std::move(reached));
    }
    for (std::size_t i = 0; i < recipes.size(); ++i) {
      if (reached[i].failure) {
        return *reached[i].failure;
      }
      if (!best_ || reached[i].time < best_->time) {
        best_ = Best{.time = reached[i].time,
                     .recipe = recipes[i],
                     .owner = dealt ? std::optional(deal_.owner(i)) : std::nullopt,
                     .made = std::move(made[i])};
      }
      if (enough(reached[i].time)) {
        break;
      }
    }
    return ok();
  }

  Deal::Reached attempt(const Recipe& recipe,
                        const EngineOptions& options,
                        std::optional<Candidate>& made) const {
    Result<Candidate> candidate = make(recipe, options);
    if (!candidate) {
      return {.failure = candidate.error(), .time = {}};
    }
    made = *std::move(candidate);
    return {.failure = std::nullopt, .time = made->schedule.collective_time()};
  }

  [[nodiscard]] Result<Collective> cut(const Recipe& recipe) const {
    return decided_by_phases(problem_, recipe.chunks);
  }

  /// Whether a team has work to share out within the recipe: trials, or at scale NPUs.
  [[nodiscard]] static bool shares_work(const Recipe& recipe) { return recipe.share == 0; }

  [[nodiscard]] Result<Candidate> make(const Recipe& recipe, const EngineOptions& options) const {
    const Result<Collective> collective = cut(recipe);
    if (!collective) {
      return collective.error();
    }
    return recipe.share == 0 ? by_arrival(*collective, options) : by_ports(*collective, recipe);
  }

  Result<Candidate> by_arrival(const Collective& collective, EngineOptions options) const {
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

  Result<Candidate> by_ports(const Collective& collective, const Recipe& recipe) const {
    const auto phase = [&](Direction direction) {
      return match_ports(topology_,
                         spread_task(collective, direction, topology_.num_npus()),
                         {.direction = direction,
                          .link_model = options_.link_model,
                          .seed = options_.seed,
                          .share = recipe.share,
                          .sharing = recipe.sharing,
                          .rarity = recipe.rarity,
                          .duplicates = recipe.duplicates});
    };
    TransferBatch both;
    if (collective.reduces()) {
      const std::optional<TransferBatch> gather = phase(Direction::kAgainstLinks);
      if (!gather) {
        return takes_too_long(topology_.name());
      }
      both = replay::mirrored(topology_, collective, *gather);
    }
    if (!collective.reduces() || all_reduce()) {
      const Ticks reduced = both.empty() ? Ticks{} : both.starts().back();
      const std::optional<TransferBatch> spread = phase(Direction::kWithLinks);
      if (!spread) {
        return takes_too_long(topology_.name());
      }
      append_later(*spread, reduced, both);
    }
    Schedule made = replay::retime(topology_, collective, options_.link_model, both);
    if (collective.reduces() && replay::has_unequal_routes(topology_, both)) {
      if (const auto again = replay::relisted(topology_, collective, options_.link_model, both)) {
        Schedule other = replay::retime(topology_, collective, options_.link_model, *again);
        made =
            other.collective_time() < made.collective_time() ? std::move(other) : std::move(made);
      }
    }
    if (made.collective_time() > kMaxTime) {
      return takes_too_long(topology_.name());
    }
    return Candidate{collective, std::move(made), 1};
  }

  const Topology& topology_;
  const Problem& problem_;
  const EngineOptions& options_;
  /// Into how many parts the buffer falls before each is cut into chunks.
  std::int64_t parts_ = 1;
  std::int64_t most_chunks_ = 64;
  /// Deliveries for each chunk of every part.
  std::uint64_t per_chunk_ = 0;
  std::optional<std::int64_t> fixed_;
  bool small_message_ = false;
  /// Switches, or links of unequal speed.
  bool layered_ = false;
  struct Best {
    Ticks time;
    Recipe recipe;
    /// Who of the team made it alone.
    std::optional<int> owner;
    /// Where it was made.
    std::optional<Candidate> made;
  };
  Deal deal_;
  std::optional<Best> best_;
};

}  // namespace

bool handles(const Topology& /*topology*/, const Problem& problem) {
  return traits(problem.kind).spreads();
}

Result<Candidate> synthesize(const Topology& topology,
                             const Problem& problem,
                             const EngineOptions& options) {
  return Search(topology, problem, options).run();
}

}  // namespace tacos::matching
