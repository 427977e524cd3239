// SPDX-License-Identifier: MIT
// All-Gather and Broadcast of a group among other NPUs by packed trees; Reduce-Scatter and Reduce
// as their twins against the links, run backwards; All-Reduce as one after the other, and where
// every link has one that goes back also up and down the same trees, which uses each link of a tree
// once in each direction (trees/trees.cc).
//
// Problem: matching relays a chunk only towards somebody who wants it, since otherwise it would
// flood the network. So it leaves out detours, and of a group that sits together it uses only the
// links inside: half of what a row of a mesh could have.
//
// Idea: first where, then when, as in routing. Every chunk gets a tree over participants and others
// alike, balanced against each other (steiner_trees.cc); the hops of all trees are list scheduled,
// each when its chunk is there (replay/hop_scheduler.cc). Chunk counts, and which hop goes first,
// are searched.
//
// Cost: that of packing, O(links x log) for each tree and sweep, and about 0.7 us a transfer; 0.1
// to 2 s for groups among 64 NPUs.
#include "synthesis/multicast/multicast.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parallel/threads.h"
#include "replay/hop_scheduler.h"
#include "replay/retime.h"
#include "synthesis/common/attempts.h"
#include "synthesis/common/deal.h"
#include "synthesis/common/direction.h"
#include "synthesis/common/spread_task.h"
#include "synthesis/multicast/steiner_trees.h"
#include "synthesis/multicast/tree_hops.h"

namespace tacos::multicast {
namespace {

constexpr std::int64_t kMostChunks = 1024;
constexpr std::uint32_t kSweeps = 16;
/// More trees are no better; chunks take turns.
constexpr std::uint64_t kMostTrees = 512;
/// Of packing: links x trees x sweeps.
constexpr std::uint64_t kPackingWork = std::uint64_t{1} << 22U;

/// Deeper trees with fewer hops, or shallower ones (SteinerOptions): none is better everywhere.
constexpr std::array<std::uint32_t, 2> kDepthBits{18, 21};

struct Attempt {
  std::int64_t chunks = 1;
  bool balanced = true;
  std::uint32_t depth_bits = kDepthBits[0];
  /// All-Reduce up and down the same trees, instead of Reduce-Scatter and then All-Gather.
  bool joint = false;
};

/// A copying phase: the hops of all chunks, and the network on which they are.
struct Phase {
  replay::RouteTable routes;
  TreeMessages messages;
};

class Search {
 public:
  Search(const Topology& topology, const Problem& problem, const EngineOptions& options)
      : topology_(topology), turned_(topology.reversed()), problem_(problem), options_(options) {
    if (traits(problem.kind).has_two_phases()) {
      twins_ = twin_links(topology);
    }
  }

  /// Whether trees can be used both ways.
  [[nodiscard]] bool can_join() const { return !twins_.empty(); }

  Status run(const std::vector<Attempt>& attempts) {
    ThreadPool pool(options_.threads);
    pool.for_ranges(attempts.size(), 1, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        run_one(attempts[i], tried_ + i);
      }
    });
    tried_ += attempts.size();
    if (failure_) {
      return *failure_;
    }
    return ok();
  }

  /// Transfers of the first attempt.
  [[nodiscard]] std::uint64_t hops() const { return hops_; }
  std::optional<Candidate> take() { return std::move(best_); }

 private:
  static constexpr std::array kOrders{TreeOrder::kPaced, TreeOrder::kInTurn, TreeOrder::kDeepest};

  [[nodiscard]] const Topology& network(Direction direction) const {
    return direction == Direction::kWithLinks ? topology_ : turned_;
  }

  void run_one(const Attempt& attempt, std::size_t number) {
    const bool all_reduce = traits(problem_.kind).has_two_phases();
    const Result<Collective> collective = decided_by_phases(problem_, attempt.chunks);
    if (!collective) {
      const std::scoped_lock lock(mutex_);
      failure_ = collective.error();
      return;
    }
    std::optional<Phase> reduce;
    std::optional<Phase> spread;
    if (collective->reduces() && !attempt.joint) {
      reduce = make_phase(*collective, Direction::kAgainstLinks, attempt);
    }
    if (!collective->reduces() || all_reduce) {
      spread = make_phase(*collective, Direction::kWithLinks, attempt);
    }
    if (number == 0) {
      hops_ = (reduce ? reduce->messages.itineraries.hops.size() : 0) +
              (spread ? spread->messages.itineraries.hops.size() : 0);
    }
    std::size_t rank = kOrders.size() * 2 * number;
    for (const TreeOrder order : kOrders) {
      for (const std::int64_t patience : patiences(collective->chunks().max_bytes())) {
        if (attempt.joint && patience > 0) {
          // A transfer either copies or reduces all that it carries.
          continue;
        }
        offer(*collective, reduce, spread, order, patience, rank++);
      }
    }
  }

  /// Sharing saves what a transfer costs beyond its bytes.
  [[nodiscard]] std::vector<std::int64_t> patiences(Bytes chunk_bytes) const {
    const bool share = is_short(topology_, options_.link_model, chunk_bytes, kPatience);
    return share ? std::vector<std::int64_t>{0, kPatience} : std::vector<std::int64_t>{0};
  }

  [[nodiscard]] Phase make_phase(const Collective& collective,
                                 Direction direction,
                                 const Attempt& attempt) const {
    const Topology& network = this->network(direction);
    const std::vector<NodeId> roots = spread_owners(collective);
    const std::uint32_t chunks = collective.num_chunks() / static_cast<std::uint32_t>(roots.size());
    const std::uint64_t most = std::max<std::uint64_t>(1, kMostTrees / roots.size());
    const auto trees = static_cast<std::uint32_t>(std::min<std::uint64_t>(chunks, most));
    const std::uint64_t sweep = roots.size() * trees * network.num_working_links();
    const auto sweeps =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kPackingWork / sweep, 4, kSweeps));
    const SteinerTrees packed = pack_steiner_trees(
        network,
        problem_.participants,
        roots,
        trees,
        collective.chunks().max_bytes(),
        {.link_model = options_.link_model,
         .seed = options_.seed,
         .sweeps = attempt.balanced ? sweeps : 0,
         .depth_bits = attempt.depth_bits,
         .twins = attempt.joint ? std::span<const LinkId>(twins_) : std::span<const LinkId>()});
    Phase phase{replay::RouteTable(network), {}};
    phase.messages =
        attempt.joint
            ? make_all_reduce_messages(network, packed, trees, chunks, twins_, phase.routes)
            : make_tree_messages(network, packed, trees, chunks, phase.routes);
    return phase;
  }

  /// Appends the transfers of a phase; false when it would last too long.
  bool schedule(const Phase& phase,
                Direction direction,
                const Collective& collective,
                TreeOrder order,
                std::int64_t patience,
                TransferBatch& out) const {
    const Topology& network = this->network(direction);
    const Bytes chunk_bytes = collective.chunks().max_bytes();
    const std::uint32_t roots = static_cast<std::uint32_t>(spread_owners(collective).size());
    const std::vector<std::int64_t> ranks = tree_ranks(
        network, phase.messages, collective.num_chunks() / roots, phase.routes, chunk_bytes, order);
    const std::optional<replay::TimedHops> timed =
        replay::schedule_hops(network,
                              phase.routes,
                              phase.messages.itineraries,
                              {.link_model = options_.link_model,
                               .chunk_bytes = chunk_bytes,
                               .patience = patience,
                               .seed = options_.seed,
                               .ranks = ranks});
    if (!timed) {
      return false;
    }
    std::vector<ChunkId> chunks;
    const Ticks delay = out.empty() ? Ticks{} : out.starts().back();
    TransferBatch made;
    for (std::size_t i = 0; i < timed->transfers.size(); ++i) {
      chunks.clear();
      for (const std::uint32_t message : timed->messages_of(i)) {
        chunks.emplace_back(phase.messages.chunk[message]);
      }
      std::sort(chunks.begin(), chunks.end());
      const bool forwards = direction == Direction::kWithLinks;
      (forwards ? out : made)
          .append({.start = timed->transfers[i].start + delay,
                   .op = phase.messages.op[timed->messages_of(i).front()],
                   .links = phase.routes.links(timed->transfers[i].route),
                   .chunks = chunks});
    }
    if (direction == Direction::kAgainstLinks) {
      out = replay::mirrored(topology_, collective, made);
    }
    return true;
  }

  /// Schedules the phases and keeps the result when it is the shortest; among equals the lowest
  /// rank, on any thread count.
  void offer(const Collective& collective,
             const std::optional<Phase>& reduce,
             const std::optional<Phase>& spread,
             TreeOrder order,
             std::int64_t patience,
             std::size_t rank) {
    TransferBatch transfers;
    if ((reduce &&
         !schedule(*reduce, Direction::kAgainstLinks, collective, order, patience, transfers)) ||
        (spread &&
         !schedule(*spread, Direction::kWithLinks, collective, order, patience, transfers))) {
      return;
    }
    Schedule made = replay::retime(topology_, collective, options_.link_model, transfers);
    const Ticks time = made.collective_time();
    const std::scoped_lock lock(mutex_);
    if (!best_ || time < best_->schedule.collective_time() ||
        (time == best_->schedule.collective_time() && rank < best_rank_)) {
      best_ = Candidate{collective, std::move(made), 1};
      best_rank_ = rank;
    }
  }

  const Topology& topology_;
  const Topology turned_;
  const Problem& problem_;
  const EngineOptions& options_;
  /// For All-Reduce, where every link has one.
  std::vector<LinkId> twins_;
  std::size_t tried_ = 0;
  std::uint64_t hops_ = 0;
  std::mutex mutex_;
  std::optional<Error> failure_;
  std::optional<Candidate> best_;
  std::size_t best_rank_ = 0;
};

}  // namespace

bool handles(const Topology& topology, const Problem& problem) {
  return traits(problem.kind).spreads() && problem.participants.size() < topology.num_npus();
}

Result<Candidate> synthesize(const Topology& topology,
                             const Problem& problem,
                             const EngineOptions& options) {
  const auto parts = is_rooted(problem.kind)
                         ? std::int64_t{1}
                         : static_cast<std::int64_t>(problem.participants.size());
  const bool all_reduce = traits(problem.kind).has_two_phases();
  const std::int64_t asked = problem.chunks.value_or(1);
  const std::int64_t first = all_reduce ? (asked + parts - 1) / parts : asked;
  Search search(topology, problem, options);
  const auto add = [&](std::vector<Attempt>& attempts, std::int64_t chunks) {
    for (const std::uint32_t depth_bits : kDepthBits) {
      attempts.push_back({chunks, true, depth_bits});
      if (search.can_join()) {
        attempts.push_back({chunks, true, depth_bits, true});
      }
    }
  };
  std::vector<Attempt> attempts;
  add(attempts, first);
  attempts.push_back({first, false});
  if (Status status = search.run(attempts); !status) {
    return status.error();
  }
  if (!problem.chunks) {
    attempts.clear();
    const Bytes part{problem.size.count / parts};
    for (const std::int64_t count : more_chunks(part, search.hops(), kMostChunks)) {
      add(attempts, count);
    }
    if (Status status = search.run(attempts); !status) {
      return status.error();
    }
  }
  if (std::optional<Candidate> candidate = search.take()) {
    return std::move(*candidate);
  }
  return takes_too_long(topology.name());
}

}  // namespace tacos::multicast
