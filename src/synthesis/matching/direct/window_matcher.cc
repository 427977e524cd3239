// SPDX-License-Identifier: MIT
// Link-chunk matching (TACOS, arXiv 2304.05301, section IV), decided at the moment of arrival.
//
// The paper gives a link that becomes free a chunk that its source holds and its destination lacks.
// On unequal links that choice comes too early: by the time a slow link delivers, a faster one may
// have brought the chunk. Planning is offline, so the choice can wait: here a link only *begins* a
// transfer, and which chunk it was is decided when it ends, among the chunks that the source held
// when it began and the destination still lacks. Nothing is ever sent twice to one NPU, the
// earliest arrival wins by construction, and causality holds because the source's state at the
// beginning is what is consulted. (Relabelling by what the source holds at the *end*, as the
// authors' code does, is unsound.)
//
// State: per NPU an append-only log of (chunk, arrival), in arrival order; per link the time of its
// next arrival and a pointer into its source's log in front of which the destination has
// everything. "The destination has it" is permanent, so a pointer never goes back.
//
// Windows: time advances by the smallest delay of any link. What arrives in the window (t0, t1] was
// sent at t0 or before, so it depends only on logs up to t0: every NPU can decide alone, in any
// order or in parallel, with the same result. A link that finds nothing idles until its source's
// log grows.
//
// Choice: `oldest first` takes the entry at the pointer. `Rarest first` matches the
// links that arrive together at an NPU with the chunks that the fewest NPUs hold: for g links the g
// rarest candidates of each are enough (the others take at most g-1 of them), and adding chunks in
// order of rarity along augmenting paths gives the lexicographically best maximum matching. Random
// choice loses 5 to 8% on tori against this.
//
// Cost: with d links into an NPU and C chunks, oldest first probes each (link, log entry) once:
// O(links x C) in all plus O(d) per delivery. Rarest first scans the difference of two bit rows per
// delivery: O(C/64 + candidates).
#include "synthesis/matching/direct/window_matcher.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <numeric>

#include "base/numbers/rng.h"
#include "synthesis/matching/direct/rarest_choice.h"

namespace tacos::matching {
namespace {

struct LinkState {
  /// When the transfer under way arrives; kNever while the link idles.
  GridTime arrival = kNever;
  /// While idle: the earliest time at which a transfer may start.
  GridTime free = 0;
  /// The destination has every entry of the source's log before this one.
  std::uint32_t pointer = 0;
};

class WindowMatcher {
 public:
  WindowMatcher(const GatherNetwork& network,
                const GatherTask& task,
                const MatchOptions& options,
                ThreadPool& pool,
                DeliveryBuffer& out)
      : network_(network),
        options_(options),
        pool_(pool),
        out_(out),
        log_(network.num_npus(), task.num_chunks(), true),
        visible_(network.num_npus(), 0),
        links_(network.num_links()),
        rarity_(options.choice == Choice::kRarestFirst ? task.num_chunks() : 0, network) {
    for (std::uint32_t chunk = 0; chunk < task.num_chunks(); ++chunk) {
      log_.append(task.start_of(chunk), chunk, 0);
      rarity_.start_at(task.start_of(chunk), chunk);
    }
  }

  bool run() {
    GridTime begin = 0;
    const auto places = static_cast<double>(remaining_);
    while (remaining_ > 0) {
      std::copy(log_.lengths().begin(), log_.lengths().end(), visible_.begin());
      const GridTime first = first_arrival(begin);
      // Nothing arrives before `first`: a window may as well end there.
      const GridTime end = std::max(begin + network_.min_delay(), first);
      if (end >= network_.end_of_time()) {
        return false;
      }
      run_window(begin, end);
      begin = end;
      const GridTime reach = network_.max_delay();
      out_.flush_before(network_.time(begin > reach ? begin - reach : 0));
      if (options_.progress) {
        options_.progress(1.0 - static_cast<double>(remaining_) / places);
      }
    }
    out_.flush();
    return true;
  }

  void count_remaining() {
    remaining_ = 0;
    for (const std::uint32_t length : log_.lengths()) {
      remaining_ += log_.num_chunks() - length;
    }
  }

 private:
  /// Wakes idle links whose source has news, and returns the earliest arrival of all.
  GridTime first_arrival(GridTime begin) {
    GridTime first = kNever;
    for (std::uint32_t npu = 0; npu < network_.num_npus(); ++npu) {
      if (log_.complete(npu)) {
        continue;
      }
      for (std::uint32_t at = network_.first_in(npu); at < network_.end_in(npu); ++at) {
        LinkState& state = links_[at];
        if (state.arrival == kNever) {
          begin_next(npu, at, begin);
        }
        first = std::min(first, state.arrival);
      }
    }
    return first;
  }

  /// The link is free: let it start as soon as its source has something for the destination.
  void begin_next(std::uint32_t npu, std::uint32_t at, GridTime begin) {
    const InLink& link = network_.in_links()[at];
    LinkState& state = links_[at];
    const std::uint32_t* chunks = log_.chunks(link.src);
    const std::uint32_t visible = visible_[link.src];
    while (state.pointer < visible && log_.holds(npu, chunks[state.pointer])) {
      ++state.pointer;
    }
    if (state.pointer == visible) {
      state.arrival = kNever;
      return;
    }
    const GridTime start = std::max(state.free, log_.times(link.src)[state.pointer]);
    // Windows are over once past: an arrival belongs to this one or a later one.
    state.arrival = std::max(start + link.delay, begin + 1);
  }

  void run_window(GridTime begin, GridTime end) {
    const std::uint32_t npus = network_.num_npus();
    if (options_.choice == Choice::kRarestFirst) {
      // One after the other, so that each sees how rare a chunk is by now; from a random NPU on.
      const std::uint32_t first = Rng(mix64(options_.seed, begin)).below(npus);
      for (std::uint32_t i = 0; i < npus; ++i) {
        const std::uint32_t npu = first + i < npus ? first + i : first + i - npus;
        remaining_ -= run_npu(npu, begin, end, rare_group_, deliveries_);
      }
      drain(deliveries_);
      return;
    }
    constexpr std::size_t kGrain = 64;
    constexpr std::size_t kAhead = 4;
    pool_.for_ranges(npus, kGrain, [&](std::size_t from, std::size_t to) {
      std::vector<Delivery> made;
      Group group;
      std::uint64_t count = 0;
      for (std::size_t npu = from; npu < to; ++npu) {
        if (npu + kAhead < to) {
          prefetch(static_cast<std::uint32_t>(npu + kAhead));
        }
        count += run_npu(static_cast<std::uint32_t>(npu), begin, end, group, made);
      }
      const std::scoped_lock lock(drain_);
      remaining_ -= count;
      drain(made);
    });
  }

  /// What the links into an NPU will look at first.
  void prefetch(std::uint32_t npu) const {
    for (std::uint32_t at = network_.first_in(npu); at < network_.end_in(npu); ++at) {
      const std::uint32_t src = network_.in_links()[at].src;
      __builtin_prefetch(log_.chunks(src) + links_[at].pointer);
      __builtin_prefetch(log_.times(src) + links_[at].pointer);
    }
  }

  void drain(std::vector<Delivery>& made) {
    for (const Delivery& delivery : made) {
      out_.add(delivery);
    }
    made.clear();
  }

  using Group = std::vector<std::uint32_t>;

  /// Everything that arrives at one NPU in the window; returns how many deliveries.
  std::uint64_t run_npu(
      std::uint32_t npu, GridTime begin, GridTime end, Group& group, std::vector<Delivery>& made) {
    const std::uint32_t before = log_.length(npu);
    while (!log_.complete(npu)) {
      GridTime now = kNever;
      for (std::uint32_t at = network_.first_in(npu); at < network_.end_in(npu); ++at) {
        if (links_[at].arrival < now) {
          now = links_[at].arrival;
          group.clear();
        }
        if (links_[at].arrival == now) {
          group.push_back(at);
        }
      }
      if (now > end) {
        break;
      }
      if (options_.choice == Choice::kRarestFirst) {
        rarity_.match(log_, npu, now, group, mix64(options_.seed, mix64(now, npu)));
      }
      const GridTime turn = now + npu;
      for (std::size_t i = 0; i < group.size(); ++i) {
        arrive(npu, group[(turn + i) % group.size()], now, begin, made);
      }
    }
    return log_.length(npu) - before;
  }

  /// A transfer ends at `now`: bind it to a chunk, or find that there was nothing to send.
  void arrive(std::uint32_t npu,
              std::uint32_t at,
              GridTime now,
              GridTime begin,
              std::vector<Delivery>& made) {
    const InLink& link = network_.in_links()[at];
    LinkState& state = links_[at];
    const GridTime start = now - link.delay;
    const std::uint32_t chunk = options_.choice == Choice::kRarestFirst
                                    ? rarity_.choice(at)
                                    : oldest(npu, link, start, state);
    if (chunk == kNoChunk) {
      state.free = start;
      begin_next(npu, at, begin);
      return;
    }
    log_.append(npu, chunk, now);
    rarity_.deliver(npu, chunk, now);
    made.push_back({.start = network_.time(start), .link = link.link, .chunk = ChunkId(chunk)});
    state.arrival = now + link.period;
  }

  std::uint32_t oldest(std::uint32_t npu,
                       const InLink& link,
                       GridTime start,
                       LinkState& state) const {
    const std::uint32_t* chunks = log_.chunks(link.src);
    const GridTime* times = log_.times(link.src);
    const std::uint32_t visible = visible_[link.src];
    while (state.pointer < visible && times[state.pointer] <= start) {
      const std::uint32_t chunk = chunks[state.pointer++];
      if (!log_.holds(npu, chunk)) {
        return chunk;
      }
    }
    return kNoChunk;
  }

  const GatherNetwork& network_;
  MatchOptions options_;
  ThreadPool& pool_;
  DeliveryBuffer& out_;
  ArrivalLog log_;
  /// Lengths of the logs when the window began: what is beyond is still being written.
  std::vector<std::uint32_t> visible_;
  std::vector<LinkState> links_;
  RarestChoice rarity_;
  Group rare_group_;
  std::vector<Delivery> deliveries_;
  std::uint64_t remaining_ = 1;
  std::mutex drain_;
};

}  // namespace

bool match_in_windows(const GatherNetwork& network,
                      const GatherTask& task,
                      const MatchOptions& options,
                      ThreadPool& pool,
                      DeliveryBuffer& out) {
  WindowMatcher matcher(network, task, options, pool, out);
  matcher.count_remaining();
  return matcher.run();
}

}  // namespace tacos::matching
