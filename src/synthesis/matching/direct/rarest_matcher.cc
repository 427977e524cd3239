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
// Choice: the links that arrive together at an NPU are matched with the chunks that the fewest NPUs
// hold: for g links the g rarest candidates of each are enough (the others take at most g-1 of
// them), and adding chunks in order of rarity along augmenting paths gives the lexicographically
// best maximum matching. Random choice loses 5 to 8% on tori against this; what a source has had
// longest (log_matcher) loses nothing on most networks, but up to a third where they are long and
// slow in one direction.
//
// Cost: scanning the difference of two bit rows for each delivery, O(C/64 + candidates) for C
// chunks; one thread.
#include "synthesis/matching/direct/rarest_matcher.h"

#include <algorithm>
#include <vector>

#include "base/numbers/rng.h"
#include "base/parallel/cancel.h"
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

class RarestMatcher {
 public:
  RarestMatcher(const GatherNetwork& network,
                const GatherTask& task,
                const RarestOptions& options,
                DeliveryBuffer& out)
      : network_(network),
        options_(options),
        out_(out),
        log_(network.num_npus(), task.num_chunks()),
        visible_(network.num_npus(), 0),
        links_(network.num_links()),
        rarity_(task.num_chunks(), network),
        remaining_(std::uint64_t{network.num_npus() - 1} * task.num_chunks()) {
    for (std::uint32_t chunk = 0; chunk < task.num_chunks(); ++chunk) {
      log_.append(task.start_of(chunk), chunk, 0);
      rarity_.start_at(task.start_of(chunk), chunk);
    }
  }

  bool run() {
    GridTime begin = 0;
    const auto places = static_cast<double>(remaining_);
    while (remaining_ > 0) {
      check_cancel();
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

  /// One NPU after the other, so that each sees how rare a chunk is by now; from a random one on.
  void run_window(GridTime begin, GridTime end) {
    const std::uint32_t npus = network_.num_npus();
    const std::uint32_t first = Rng(mix64(options_.seed, begin)).below(npus);
    for (std::uint32_t i = 0; i < npus; ++i) {
      run_npu(first + i < npus ? first + i : first + i - npus, begin, end);
    }
  }

  /// Everything that arrives at one NPU in the window.
  void run_npu(std::uint32_t npu, GridTime begin, GridTime end) {
    while (!log_.complete(npu)) {
      GridTime now = kNever;
      for (std::uint32_t at = network_.first_in(npu); at < network_.end_in(npu); ++at) {
        if (links_[at].arrival < now) {
          now = links_[at].arrival;
          group_.clear();
        }
        if (links_[at].arrival == now) {
          group_.push_back(at);
        }
      }
      if (now > end) {
        break;
      }
      rarity_.match(log_, npu, now, group_, mix64(options_.seed, mix64(now, npu)));
      const GridTime turn = now + npu;
      for (std::size_t i = 0; i < group_.size(); ++i) {
        arrive(npu, group_[(turn + i) % group_.size()], now, begin);
      }
    }
  }

  /// A transfer ends at `now`: bind it to a chunk, or find that there was nothing to send.
  void arrive(std::uint32_t npu, std::uint32_t at, GridTime now, GridTime begin) {
    const InLink& link = network_.in_links()[at];
    LinkState& state = links_[at];
    const GridTime start = now - link.delay;
    const std::uint32_t chunk = rarity_.choice(at);
    if (chunk == kNoChunk) {
      state.free = start;
      begin_next(npu, at, begin);
      return;
    }
    log_.append(npu, chunk, now);
    rarity_.deliver(npu, chunk, now);
    out_.add({.start = network_.time(start), .link = link.link, .chunk = ChunkId(chunk)});
    state.arrival = now + link.period;
    --remaining_;
  }

  const GatherNetwork& network_;
  RarestOptions options_;
  DeliveryBuffer& out_;
  ArrivalLog log_;
  /// Lengths of the logs when the window began.
  std::vector<std::uint32_t> visible_;
  std::vector<LinkState> links_;
  RarestChoice rarity_;
  /// Links that arrive together.
  std::vector<std::uint32_t> group_;
  std::uint64_t remaining_;
};

}  // namespace

bool match_rarest_first(const GatherNetwork& network,
                        const GatherTask& task,
                        const RarestOptions& options,
                        DeliveryBuffer& out) {
  return RarestMatcher(network, task, options, out).run();
}

}  // namespace tacos::matching
