// SPDX-License-Identifier: MIT
// Cost: that of scheduling the messages of every number of pieces that is tried,
// O(moves + messages x links x log messages) each, up to kMostMoves moves.
#include "synthesis/baselines/baseline.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "replay/message_scheduler.h"
#include "synthesis/common/attempts.h"
#include "synthesis/common/deal.h"
#include "synthesis/common/work.h"

namespace tacos::baselines {
namespace {

/// More pieces are not tried beyond so many chunks moved at the default effort, ...
constexpr std::int64_t kMostMoves = 260'000;
/// (where each chunk goes its own way, and routing has been tried, none was ever the faster, in 396
/// All-to-Alls),
constexpr std::int64_t kMostBesideRouting = kMostMoves / 4;
/// ... or so many pieces, ...
constexpr std::int64_t kMostPieces = 1024;
/// ... or after so many numbers that did not help, by this part of the time at least, ...
constexpr int kPatience = 2;
constexpr std::int64_t kWorthwhile = 256;
/// ... or when what others reached is further away than the trend says, by this part of the time.
constexpr std::int64_t kTrendMayErr = 32;
/// The most pieces are taken at their word if they take no longer than promised by more than this
/// part.
constexpr std::int64_t kKeepsPromise = 1024;
/// Up to so many participants what was made under the other link model may be run under this one.
constexpr std::size_t kFewNpus = 16;

/// What is sent for one piece.
using Make = Algorithm::Make;

Make backwards(const Make& make, Op op) {
  return [make, op](std::uint32_t piece) { return make(piece).reversed(op); };
}

Make both_ways(const Make& make) {
  return [make](std::uint32_t piece) {
    Messages all = make(piece).reversed(Op::kReduce);
    all.append(make(piece));
    return all;
  };
}

/// A part of each participant, or of each pair, or one of all.
struct Recipe {
  Make make;
  bool one_part = false;
};

Recipe recipe_for(const Algorithm& algorithm, CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllGather:
      return {algorithm.gather};
    case CollectiveKind::kReduceScatter:
      return {backwards(algorithm.gather, Op::kReduce)};
    case CollectiveKind::kAllReduce:
      return algorithm.gather ? Recipe{both_ways(algorithm.gather)}
                              : Recipe{both_ways(algorithm.spread), true};
    case CollectiveKind::kBroadcast:
      return {algorithm.spread, true};
    case CollectiveKind::kReduce:
      return {backwards(algorithm.spread, Op::kReduce), true};
    case CollectiveKind::kScatter:
      return {algorithm.scatter};
    case CollectiveKind::kGather:
      return {backwards(algorithm.scatter, Op::kCopy)};
    case CollectiveKind::kAllToAll:
      return {algorithm.exchange};
    case CollectiveKind::kCustom:
      break;
  }
  return {};
}

class Search {
 public:
  Search(const Topology& topology, const Problem& problem, const EngineOptions& options)
      : topology_(topology), problem_(problem), options_(options), routes_(topology) {}

  Status add(const Recipe& recipe) {
    if (options_.beat) {
      const Result<bool> may_win = may_be_faster(recipe, *options_.beat);
      if (!may_win || !*may_win) {
        return may_win ? input_error("is not faster than what there is") : may_win.error();
      }
    }
    if (problem_.chunks) {
      const auto time = try_pieces(recipe, given_pieces(recipe), std::nullopt);
      return time ? ok() : Status(time.error());
    }
    return search_pieces(recipe);
  }

  [[nodiscard]] std::optional<Candidate>& best() { return best_; }

 private:
  [[nodiscard]] bool affordable(const Recipe& recipe, std::int64_t pieces) const {
    const bool beside_routing =
        options_.beat && traits(problem_.kind).chunks_per == ChunksPer::kPair;
    const std::int64_t most =
        at_effort(beside_routing ? kMostBesideRouting : kMostMoves, options_.effort);
    return pieces == 1 ||
           (pieces <= kMostPieces && static_cast<std::int64_t>(moves_of_piece_) * pieces <= most &&
            chunks_for(recipe, pieces));
  }

  /// Where messages cost links nothing but their bytes, and each doubling of the pieces gained half
  /// of what the one before gained, which three times tell, the most pieces promise most. What they
  /// then take, and how many they are; nothing elsewhere.
  struct Promise {
    std::int64_t pieces = 0;
    Ticks time;
  };
  /// By doublings; nothing where it is no less than the least so far, for then it is not known.
  using Times = std::vector<std::optional<Ticks>>;
  [[nodiscard]] std::optional<Promise> promise_of_most(const Recipe& recipe,
                                                       std::int64_t pieces,
                                                       const Times& times) const {
    constexpr std::int64_t kRegular = 64;
    const bool tell = times.size() == 3 && times[0] && times[1] && times[2];
    if (!tell || sharing_pays(topology_, options_.link_model)) {
      return std::nullopt;
    }
    const std::int64_t gain = times[1]->ps - times[2]->ps;
    const std::int64_t gain_before = times[0]->ps - times[1]->ps;
    if (gain <= 0 || std::abs(gain_before - 2 * gain) > gain / kRegular) {
      return std::nullopt;
    }
    std::int64_t most = pieces;
    while (affordable(recipe, 2 * most)) {
      most *= 2;
    }
    return Promise{most, {times[2]->ps - gain + gain * pieces / most}};
  }

  /// Powers of two of them, for as long as more help.
  Status search_pieces(const Recipe& recipe) {
    std::optional<Ticks> best;
    Times times;
    int disappointments = 0;
    for (std::int64_t pieces = 1; affordable(recipe, pieces) && disappointments < kPatience;
         pieces *= 2) {
      const Result<std::optional<Ticks>> time = try_pieces(recipe, pieces, best);
      if (!time) {
        return time.error();
      }
      const bool helped = *time && (!best || (*time)->ps < best->ps - best->ps / kWorthwhile);
      disappointments = helped ? 0 : disappointments + 1;
      if (*time && best && is_hopeless(*best, **time)) {
        break;
      }
      best = *time ? *time : best;
      times.push_back(*time);
      if (const auto most = promise_of_most(recipe, pieces, times)) {
        const Result<std::optional<Ticks>> kept = try_pieces(recipe, most->pieces, best);
        if (kept && *kept && **kept <= most->time + Ticks{most->time.ps / kKeepsPromise}) {
          break;
        }
      }
    }
    return ok();
  }

  [[nodiscard]] std::int64_t given_pieces(const Recipe& recipe) const {
    const auto participants = static_cast<std::int64_t>(problem_.participants.size());
    const bool by_phases = problem_.kind == CollectiveKind::kAllReduce && !recipe.one_part;
    return by_phases ? (*problem_.chunks + participants - 1) / participants : *problem_.chunks;
  }
  [[nodiscard]] Result<Collective> chunks_for(const Recipe& recipe, std::int64_t pieces) const {
    return recipe.one_part ? decided(problem_, pieces) : decided_by_phases(problem_, pieces);
  }

  /// Whether others are out of reach when twice the pieces took what was `before` down to `now`,
  /// and each doubling gains half as much as the one before.
  [[nodiscard]] bool is_hopeless(Ticks before, Ticks now) const {
    const std::int64_t least = 2 * now.ps - before.ps;
    return options_.beat && least - least / kTrendMayErr > options_.beat->ps;
  }

  /// Whether neither latencies nor bytes alone take as long as what others have reached.
  Result<bool> may_be_faster(const Recipe& recipe, Ticks beat) {
    const Result<Ticks> latencies = least_latency(recipe);
    if (!latencies || *latencies >= beat) {
      return latencies ? Result(false) : Result<bool>(latencies.error());
    }
    return bytes_fit(recipe, beat);
  }

  /// What messages that wait for each other, or for the ports of one NPU, take without their bytes.
  /// One piece's; others come beside it. Equal routes have equal latencies, so this holds for
  /// whatever they are.
  Result<Ticks> least_latency(const Recipe& recipe) {
    if (traits(problem_.kind).chunks_per == ChunksPer::kPair) {
      return Ticks{};
    }
    const Messages messages = recipe.make(0);
    const std::size_t participants = problem_.participants.size();
    std::vector<Ticks> ready(participants * participants);
    std::vector<Ticks> sending(participants);
    std::vector<Ticks> receiving(participants);
    Ticks last;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const auto [src, dst, op] = messages[i];
      const NodeId from = problem_.participants[src];
      const NodeId to = problem_.participants[dst];
      const std::optional<Ticks> latency = routes_.latency(from, to);
      if (!latency) {
        return no_route(from, to);
      }
      Ticks end;
      for (const std::uint32_t part : messages.parts(i)) {
        end = std::max(end, ready[src * participants + part]);
      }
      end += *latency;
      for (const std::uint32_t part : messages.parts(i)) {
        Ticks& there = ready[dst * participants + part];
        there = std::max(there, end);
      }
      sending[src] += least_busy(topology_.out_links(from));
      receiving[dst] += least_busy(topology_.in_links(to));
      last = std::max({last, end, sending[src], receiving[dst]});
    }
    return last;
  }

  /// What a message takes at least of the time that all these links have together, under either
  /// link model where both are tried.
  [[nodiscard]] Ticks least_busy(std::span<const LinkId> links) const {
    if (problem_.participants.size() <= kFewNpus) {
      return {};
    }
    Ticks least = kMaxTime;
    for (const LinkId id : links) {
      least = std::min(least, beside_bytes(topology_.link(id)));
    }
    return Ticks{least.ps / static_cast<std::int64_t>(links.size())};
  }

  /// Where a gap is longer than the latency, a message has arrived before its link is free again:
  /// the latency counts.
  [[nodiscard]] Ticks beside_bytes(const Link& link) const {
    return std::min(overhead(link, options_.link_model), link.latency);
  }

  /// Whether the fullest link has its bytes sent in time. Pieces choose among equal routes or
  /// orders, so a tenth is left to more of them: of four pieces of `themis` on a switch:2*fc:3 one
  /// order had two, and of sixteen none has more than its part.
  Result<bool> bytes_fit(const Recipe& recipe, Ticks beat) {
    constexpr std::int64_t kFew = 4;
    constexpr std::int64_t kMany = 16;
    constexpr std::size_t kManyNpus = 24;
    const std::int64_t wanted = problem_.participants.size() < kManyNpus ? kMany : kFew;
    const std::int64_t pieces = chunks_for(recipe, wanted) ? wanted : 1;
    const Result<Collective> collective = chunks_for(recipe, pieces);
    if (!collective) {
      return collective.error();
    }
    std::vector<Ticks> load(topology_.num_links());
    bool fit = true;
    const Status routed = route_each(recipe, *collective, pieces, [&](const Transfer& message) {
      const Bytes bytes = collective->chunks().bytes(message.chunks);
      for (const LinkId id : message.links) {
        Ticks& busy = load[id.index()];
        busy += serialization_time(bytes, topology_.link(id).bandwidth);
        fit = fit && busy.ps / 10 * 9 < beat.ps;
      }
      return fit;
    });
    return routed ? Result(fit) : Result<bool>(routed.error());
  }

  /// For how long the messages keep the link busy that they keep busy longest.
  [[nodiscard]] Ticks busiest(const Collective& collective, const TransferBatch& messages) const {
    std::vector<Ticks> load(topology_.num_links());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const Transfer message = messages[i];
      const Bytes bytes = collective.chunks().bytes(message.chunks);
      for (const LinkId id : message.links) {
        const Link& link = topology_.link(id);
        load[id.index()] += serialization_time(bytes, link.bandwidth) + beside_bytes(link);
      }
    }
    return *std::max_element(load.begin(), load.end());
  }

  /// Nothing when it takes as long as `best` or longer.
  Result<std::optional<Ticks>> try_pieces(const Recipe& recipe,
                                          std::int64_t pieces,
                                          std::optional<Ticks> best) {
    Result<Collective> collective = chunks_for(recipe, pieces);
    if (!collective) {
      return collective.error();
    }
    Result<TransferBatch> messages = route_all(recipe, *collective, pieces);
    if (!messages) {
      return messages.error();
    }
    if (best && busiest(*collective, *messages) >= *best) {
      return std::optional<Ticks>();
    }
    std::optional<Schedule> schedule = replay::schedule_messages(
        topology_, *collective, options_.link_model, *messages, best.value_or(kMaxTime));
    if (!schedule) {
      return best ? Result(std::optional<Ticks>()) : takes_too_long(topology_.name());
    }
    const Ticks time = schedule->collective_time();
    if (!best_ || time < best_->schedule.collective_time()) {
      best_ = Candidate{.collective = *std::move(collective), .schedule = *std::move(schedule)};
    }
    return std::optional(time);
  }

  Result<TransferBatch> route_all(const Recipe& recipe,
                                  const Collective& collective,
                                  std::int64_t pieces) {
    TransferBatch batch;
    const Status routed = route_each(recipe, collective, pieces, [&](const Transfer& message) {
      batch.append(message);
      return true;
    });
    return routed ? Result(std::move(batch)) : Result<TransferBatch>(routed.error());
  }
  /// Calls take(message) for each, for as long as it says so.
  template <class Take>
  Status route_each(const Recipe& recipe,
                    const Collective& collective,
                    std::int64_t pieces,
                    const Take& take) {
    routes_.unload();
    std::vector<ChunkId> chunks;
    for (std::uint32_t piece = 0; piece < pieces; ++piece) {
      const Messages messages = recipe.make(piece);
      moves_of_piece_ = messages.num_parts();
      for (std::size_t i = 0; i < messages.size(); ++i) {
        chunks.clear();
        for (const std::uint32_t part : messages.parts(i)) {
          chunks.emplace_back(static_cast<std::uint32_t>(part * pieces + piece));
        }
        std::sort(chunks.begin(), chunks.end());
        const NodeId src = problem_.participants[messages[i].src];
        const NodeId dst = problem_.participants[messages[i].dst];
        const auto links = routes_.route(src, dst, collective.chunks().bytes(chunks));
        if (links.empty()) {
          return no_route(src, dst);
        }
        if (!take(Transfer{.start = {}, .op = messages[i].op, .links = links, .chunks = chunks})) {
          return ok();
        }
      }
    }
    return ok();
  }

  [[nodiscard]] Error no_route(NodeId src, NodeId dst) const {
    return input_error(
        topology_.npus_forward()
            ? fmt::format("{} sends from NPU {} to NPU {}, which no route joins",
                          options_.engine,
                          src.value(),
                          dst.value())
            : fmt::format("{} sends from NPU {} to NPU {} past other NPUs, which do not forward; "
                          "use another engine, or a network with forward=yes",
                          options_.engine,
                          src.value(),
                          dst.value()),
        topology_.name());
  }

  const Topology& topology_;
  const Problem& problem_;
  const EngineOptions& options_;
  Routes routes_;
  std::size_t moves_of_piece_ = 0;
  std::optional<Candidate> best_;
};

}  // namespace

Setup::Setup(const Topology& topology, const Problem& problem)
    : topology_(topology),
      problem_(problem),
      near_(topology.with_forwarding(false)),
      near_routes_(near_) {
  if (problem.root) {
    const auto& participants = problem.participants;
    root_ = static_cast<std::uint32_t>(
        std::lower_bound(participants.begin(), participants.end(), *problem.root) -
        participants.begin());
  }
}

bool does(int what, CollectiveKind kind) {
  const auto can = [&](Does one) { return (what & static_cast<int>(one)) != 0; };
  switch (kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return can(Does::kGather);
    case CollectiveKind::kAllReduce:
      return can(Does::kGather) || can(Does::kSpread);
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
      return can(Does::kSpread);
    case CollectiveKind::kScatter:
    case CollectiveKind::kGather:
      return can(Does::kScatter);
    case CollectiveKind::kAllToAll:
      return can(Does::kExchange);
    case CollectiveKind::kCustom:
      break;
  }
  return false;
}

Result<Candidate> best_schedule(MakeAlgorithms make,
                                const Topology& topology,
                                const Problem& problem,
                                const EngineOptions& options) {
  const Setup setup(topology, problem);
  const Result<std::vector<Algorithm>> algorithms = make(setup);
  if (!algorithms) {
    return input_error(fmt::format("{} {}", options.engine, algorithms.error().message),
                       topology.name());
  }
  Search search(topology, problem, options);
  std::optional<Error> failure;
  for (const Algorithm& algorithm : *algorithms) {
    const Status tried = search.add(recipe_for(algorithm, problem.kind));
    if (!tried && !failure) {
      failure = tried.error();
    }
  }
  if (!search.best()) {
    return *failure;
  }
  return *std::move(search.best());
}

}  // namespace tacos::baselines
