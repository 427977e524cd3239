// SPDX-License-Identifier: MIT
// All-to-All, Gather and Scatter by routing: first where, then when.
//
// Problem: each chunk starts at one NPU and must end at another, over any network. Nothing can be
// gained by copying, so a chunk takes a path; the time is limited by the link that has most to do,
// and by how well the paths can be fitted together in time.
//
// Idea: choose paths so that the fullest link has as little to do as possible (path_balance.cc),
// cut them at the NPUs into hops (route_table.cc), and start hops so that no link waits while it
// could work (hop_scheduler.cc). Each half is nearly exact on its own: paths come within 1% of the
// concurrent-flow optimum, and list scheduling adds about as much again. More chunks per pair
// balance better and fill pipelines sooner, fewer pay less latency, so the count is searched; under
// `hold` each count is tried with chunks sharing transfers, with links that wait for more to share,
// and without, and one chunk per pair also on plain shortest paths, which is best when there is
// little but latency.
//
// Gather is easy for list scheduling: what limits it is near the root, at the end of all paths, and
// is always busy once something has come near. Scatter is not: what leaves the root first decides
// what happens much later. So a Scatter is the Gather of the network with every link turned round,
// run backwards. That is exact as long as all links of a route are equally fast (a direct link
// always is); otherwise the hops are scheduled again in the mirrored order, and also without it.
//
// Invariant: timed hops are a valid schedule for chunks of the largest size; smaller ones end
// earlier and disturb nothing.
//
// Cost: see the files above; all-to-all of n NPUs makes n^2 x chunks x hops transfers, and takes
// about 0.7 us for each on one core.
//
// Tried and measured worse (1 GiB, hold, % of the bandwidth bound): All-to-All on shortest paths
// instead of balanced ones (mesh 8x8 52, dgx2:2 22); one ranking for everything (by the way to go:
// torus 6x6x6 91.6, else 97.7; with the work of the links ahead: mesh 16x16 96.8, else 99.3, Gather
// on mi250:1 95.7, else 97.1); Scatter scheduled forwards (h100:4 61, a100:2 76, switch 8x4 84;
// mirrored 97 to 99); transfers of a fixed number of chunks (Gather on a dragonfly 97.0, with
// shared transfers that grow and shrink 97.8).
#include "synthesis/routing/routing.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/numbers/rng.h"
#include "base/parallel/threads.h"
#include "replay/hop_scheduler.h"
#include "synthesis/common/attempts.h"
#include "synthesis/common/deal.h"
#include "synthesis/common/path_balance.h"
#include "synthesis/routing/to_schedule.h"

namespace tacos::routing {
namespace {

constexpr std::int64_t kMostChunks = 128;
/// Paths are reconsidered so often, less when there are many.
constexpr std::uint32_t kSweeps = 24;
constexpr std::uint32_t kFewSweeps = 12;
constexpr std::uint32_t kManyMessages = std::uint32_t{1} << 17U;
/// With so many messages both rankings are tried.
constexpr std::uint32_t kRankedMessages = std::uint32_t{1} << 15U;
/// Of many messages, a way to list them is good enough when it takes one part in so many longer
/// than the fullest link of its paths.
constexpr std::int64_t kNearlyFull = 100;
/// Shortest paths are tried as well for few messages, and for short ones: these take no longer than
/// so many latencies.
constexpr std::int64_t kFewMessages = std::int64_t{1} << 13U;
constexpr std::int64_t kTiny = 4;

/// One way to do the job: how to cut, where to go, what to share.
struct Attempt {
  std::int64_t chunks = 1;
  bool balanced = true;
  std::uint64_t seed = 1;
};

/// Of replay::HopOptions.
struct WayToList {
  replay::Ranking ranking = replay::Ranking::kWay;
  std::int64_t patience = 0;
  std::int64_t wait_percent = 0;
};

/// Timed hops and all that their numbers refer to.
struct Offer {
  Collective collective;
  Demand demand;
  replay::RouteTable routes;
  RouteOrder order = RouteOrder::kAsStored;
  replay::TimedHops timed;
};

class Router {
 public:
  Router(const Topology& topology, const Problem& problem, const EngineOptions& options)
      : topology_(topology),
        turned_(topology.reversed()),
        problem_(problem),
        options_(options),
        deal_(options.team) {}

  /// Runs attempts, in parallel and dealt over the team, and keeps the best of all so far.
  Status run(const std::vector<Attempt>& attempts) {
    progress_total_ = static_cast<double>(attempts.size());
    progress_done_ = 0;
    ThreadPool pool(options_.threads);
    pool.for_ranges(attempts.size(), 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        if (deal_.mine(tried_ + i)) {
          run_one(attempts[i], tried_ + i);
        }
      }
    });
    tried_ += attempts.size();
    if (!deal_.alone()) {
      failure_ = first_error(*options_.team, failure_);
      hops_ = broadcast(*options_.team, deal_.owner(0), hops_);
    }
    if (failure_) {
      return *failure_;
    }
    return ok();
  }

  /// Of the best attempt, which is then gone; nothing when every one lasts too long.
  std::optional<Candidate> take(std::int64_t trials) {
    const std::optional<Bid> winner =
        deal_.best(best_ ? std::optional(Bid{best_->timed.end, best_rank_}) : std::nullopt);
    if (!winner) {
      return std::nullopt;
    }
    const std::size_t attempt = winner->job / kRanks;
    std::optional<Candidate> made;
    if (deal_.mine(attempt)) {
      Schedule schedule = to_schedule(
          topology_, best_->collective, best_->demand, best_->routes, best_->order, best_->timed);
      made = Candidate{std::move(best_->collective), std::move(schedule), trials};
    }
    return deal_.to_leader(deal_.owner(attempt), std::move(made), topology_, problem_);
  }

  /// Hops of the paths of the first attempt.
  [[nodiscard]] std::uint64_t hops() const { return hops_; }

 private:
  /// Ways to list one attempt, at most.
  static constexpr std::size_t kRanks = 16;

  void run_one(const Attempt& attempt, std::size_t number) {
    const Result<Collective> collective = Collective::make(
        problem_.kind, problem_.size, attempt.chunks, problem_.participants, problem_.root);
    if (!collective) {
      const std::scoped_lock lock(mutex_);
      failure_ = collective.error();
      return;
    }
    const Demand demand = make_demand(*collective);
    // Searches fan out from the one NPU that all messages of a Gather or Scatter share.
    const bool gathers = traits(problem_.kind).after == Holder::kRoot;
    const bool scatters = traits(problem_.kind).before == Holder::kRoot;
    const BalanceOptions balance{
        .link_model = options_.link_model, .seed = attempt.seed, .sweeps = sweeps(attempt, demand)};
    Paths paths = gathers ? balance_paths(turned_, reversed(demand), balance)
                          : balance_paths(topology_, demand, balance);
    if (number == 0) {
      hops_ = paths.links.size();
    }
    if (gathers || scatters) {
      paths.reverse_each();
    }
    const Topology& network = scatters ? turned_ : topology_;
    replay::RouteTable routes(network);
    const replay::Itineraries itineraries = make_itineraries(network, paths, routes);
    std::size_t rank = kRanks * number;
    // Paths take about as long as one list.
    const std::vector<WayToList> ways = ways_to_list(demand);
    const double part = 1.0 / static_cast<double>(ways.size() + 1);
    advance(part);
    for (const auto& [ranking, patience, wait_percent] : ways) {
      double reported = 0;
      const replay::HopOptions list{.link_model = options_.link_model,
                                    .chunk_bytes = demand.chunk_bytes,
                                    .patience = patience,
                                    .wait_percent = wait_percent,
                                    .seed = attempt.seed,
                                    .ranking = ranking,
                                    .ranks = {},
                                    .progress = [&](double share) {
                                      advance(part * (share - std::exchange(reported, share)));
                                    }};
      rank += 2;
      std::optional<replay::TimedHops> timed =
          replay::schedule_hops(network, routes, itineraries, list);
      advance(part * (1 - reported));
      if (!timed) {
        continue;
      }
      const bool full = timed->end.ps - timed->fullest.ps <= timed->fullest.ps / kNearlyFull;
      if (!scatters) {
        offer({*collective, demand, routes, RouteOrder::kAsStored, std::move(*timed)}, rank);
      } else if (std::optional<replay::TimedHops> turned = mirrored(network, routes, *timed)) {
        offer({*collective, demand, routes, RouteOrder::kBackwards, std::move(*turned)}, rank);
      } else {
        paths.reverse_each();
        scatter_again(
            *collective, demand, paths, replay::mirrored_ranks(itineraries, *timed), list, rank);
        paths.reverse_each();
      }
      if (full && many(demand)) {
        break;
      }
    }
  }

  /// Reports that so much more of an attempt is done.
  void advance(double part) {
    if (options_.progress) {
      const std::scoped_lock lock(mutex_);
      progress_done_ += part;
      options_.progress(std::min(1.0, progress_done_ / progress_total_));
    }
  }

  /// Schedules a Scatter forwards, in the mirrored order and in its own.
  void scatter_again(const Collective& collective,
                     const Demand& demand,
                     const Paths& paths,
                     const std::vector<std::int64_t>& ranks,
                     replay::HopOptions list,
                     std::size_t rank) {
    list.progress = {};
    replay::RouteTable routes(topology_);
    const replay::Itineraries itineraries = make_itineraries(topology_, paths, routes);
    for (const bool mirror : {true, false}) {
      list.ranks = mirror ? std::span(ranks) : std::span<const std::int64_t>();
      if (std::optional<replay::TimedHops> timed =
              replay::schedule_hops(topology_, routes, itineraries, list)) {
        offer({collective, demand, routes, RouteOrder::kAsStored, std::move(*timed)}, rank);
      }
      ++rank;
    }
  }

  /// Sharing saves what a transfer costs beyond its bytes. Few messages have chunk counts to
  /// choose from instead of rankings.
  [[nodiscard]] std::vector<WayToList> ways_to_list(const Demand& demand) const {
    const bool share = is_short(topology_, options_.link_model, demand.chunk_bytes, kPatience);
    const WayToList first{.ranking = replay::Ranking::kWay, .patience = share ? kPatience : 0};
    std::vector<WayToList> ways{first};
    const auto add = [&](auto change) {
      ways.push_back(first);
      change(ways.back());
    };
    if (share &&
        (!many(demand) || is_short(topology_, options_.link_model, demand.chunk_bytes, kTiny))) {
      add([](WayToList& way) { way.wait_percent = 30; });
    }
    if (share && !many(demand)) {
      add([](WayToList& way) { way.wait_percent = 60; });
      add([](WayToList& way) { way.patience = 0; });
    }
    if (demand.num_messages() >= kRankedMessages && !is_rooted(problem_.kind)) {
      add([](WayToList& way) { way.ranking = replay::Ranking::kWayAndWork; });
    }
    return ways;
  }

  static bool many(const Demand& demand) { return demand.num_messages() >= kManyMessages; }

  static std::uint32_t sweeps(const Attempt& attempt, const Demand& demand) {
    if (!attempt.balanced) {
      return 0;
    }
    return many(demand) ? kFewSweeps : kSweeps;
  }

  /// Keeps what was made when it is the shortest; among equals the lowest rank, on any thread
  /// count.
  void offer(Offer offered, std::size_t rank) {
    const std::scoped_lock lock(mutex_);
    if (!best_ || offered.timed.end < best_->timed.end ||
        (offered.timed.end == best_->timed.end && rank < best_rank_)) {
      best_ = std::move(offered);
      best_rank_ = rank;
    }
  }

  const Topology& topology_;
  const Topology turned_;
  const Problem& problem_;
  const EngineOptions& options_;
  Deal deal_;
  std::size_t tried_ = 0;
  std::uint64_t hops_ = 0;
  std::mutex mutex_;
  std::optional<Error> failure_;
  std::optional<Offer> best_;
  std::size_t best_rank_ = 0;
  /// Of the attempts under way, counted in attempts.
  double progress_total_ = 1;
  double progress_done_ = 0;
};

}  // namespace
}  // namespace tacos::routing

namespace tacos::routing {

bool handles(const Topology& /*topology*/, const Problem& problem) {
  return !problem.custom && !traits(problem.kind).spreads();
}

Result<Candidate> synthesize(const Topology& topology,
                             const Problem& problem,
                             const EngineOptions& options) {
  if (!handles(topology, problem)) {
    return input_error(fmt::format("engine routing does all-to-all, gather and scatter, not {}",
                                   to_string(problem.kind)));
  }
  const std::int64_t trials = options.trials.value_or(1);
  const std::int64_t first = problem.chunks.value_or(1);
  std::vector<Attempt> attempts{{.chunks = first, .balanced = true, .seed = options.seed}};
  const auto participants = static_cast<std::int64_t>(problem.participants.size());
  const std::int64_t pairs = is_rooted(problem.kind) ? participants : participants * participants;
  if (pairs <= kFewMessages / first ||
      is_short(topology, LinkModel::kHold, {problem.size.count / participants / first}, kTiny)) {
    attempts.push_back({.chunks = first, .balanced = false, .seed = options.seed});
  }
  const auto add = [&](std::int64_t chunks, std::int64_t from_trial) {
    for (std::int64_t trial = from_trial; trial < trials; ++trial) {
      const std::uint64_t seed =
          trial == 0 ? options.seed : mix64(options.seed, static_cast<std::uint64_t>(trial));
      attempts.push_back({.chunks = chunks, .balanced = true, .seed = seed});
    }
  };
  add(first, 1);
  Router router(topology, problem, options);
  if (Status status = router.run(attempts); !status) {
    return status.error();
  }
  if (!problem.chunks) {
    attempts.clear();
    const Bytes part{problem.size.count / participants};
    for (const std::int64_t count : more_chunks(part, router.hops(), kMostChunks)) {
      add(count, 0);
    }
    if (Status status = router.run(attempts); !status) {
      return status.error();
    }
  }
  if (std::optional<Candidate> candidate = router.take(trials)) {
    return std::move(*candidate);
  }
  return takes_too_long(topology.name());
}

}  // namespace tacos::routing
