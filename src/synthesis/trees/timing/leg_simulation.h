// SPDX-License-Identifier: MIT
// The state of leg_scheduler.cc, which alone includes it: legs, gates, outlets and what is under
// way.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tacos/schedule.h"

#include "synthesis/trees/timing/durations.h"
#include "synthesis/trees/timing/events.h"
#include "synthesis/trees/timing/leg_scheduler.h"

namespace tacos::trees {

class LegSimulation {
 public:
  LegSimulation(const LegProblem& problem, const Urgency& urgency, const LegOutput& output);
  /// Starts what can start in the next instant; false when nothing is left to happen.
  bool step();
  /// When the last transfer so far ends.
  [[nodiscard]] std::int64_t end() const { return end_; }

 private:
  struct Sent {
    std::uint32_t leg = 0;
    std::uint32_t round = 0;
  };
  struct Started {
    std::uint32_t hop = 0;
    Op op = Op::kCopy;
    std::uint32_t first_chunk = 0;
    std::uint32_t num_chunks = 0;
  };
  struct LegInfo {
    std::uint32_t outlet = 0;
    /// kNone for a down leg.
    std::uint32_t gate = kNone;
    /// An up leg's place among those that its gate waits for; a down leg's first next leg.
    std::uint32_t first = 0;
    std::uint32_t num_next = 0;
    [[nodiscard]] bool goes_up() const { return gate != kNone; }
  };
  /// What changes about a leg: the urgency of its next chunk, how many wait, how many have gone.
  struct LegState {
    std::int64_t urgency = 0;
    std::uint32_t waiting = 0;
    std::uint32_t sent = 0;
  };
  /// What is asked most of a leg in which something waits, through switches: how urgent its next
  /// chunk is, and over which hop it goes.
  struct Next {
    std::int64_t urgency = 0;
    std::uint32_t hop = 0;
  };
  /// A leg as others refer to it, with what they need to know about it.
  struct LegRef {
    std::uint32_t leg = kNone;
    std::uint32_t outlet = kNone;
  };
  /// Rounds for which everything has come, and how many legs lack the next one.
  struct GateState {
    std::uint32_t rounds = 0;
    std::uint32_t missing = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    LegRef opens;
  };
  struct OutletState {
    std::int64_t free_at = 0;
    std::uint32_t first = 0;
    std::uint32_t num_ready = 0;
    bool touched = false;
    /// Through switches, while touched outlets are ordered: which of the ready it would send.
    std::uint32_t choice = kNone;
  };

  /// Of a hop through one switch, the link behind it and how long the head takes to get there;
  /// kNone elsewhere.
  struct LinkBehind {
    std::int64_t head_start = 0;
    std::uint32_t link = kNone;
  };

  // Inline for leg_scheduler.cc, where all of them are, and which nobody else needs.
  [[nodiscard]] LegRef ref(std::uint32_t leg) const {
    return {leg, problem_.fabric.outlet(legs_.hop(leg))};
  }
  inline void send(OutletState& outlet, std::uint32_t place);
  /// Whether the links behind the outlet will be free when the head of a transfer gets there.
  [[nodiscard]] bool can_start(std::uint32_t hop) const {
    if (const LinkBehind& behind = behind_[hop]; behind.link != kNone) {
      return free_at_[behind.link] <= now_ + behind.head_start;
    }
    const auto links = problem_.fabric.links(hop);
    const std::uint32_t place = problem_.fabric.first_place(hop);
    for (std::uint32_t n = 1; n < links.size(); ++n) {
      if (free_at_[links[n].index()] > now_ + problem_.costs.head_start(place + n)) {
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] inline std::uint32_t most_urgent(std::uint32_t number,
                                                 const OutletState& outlet) const;
  [[nodiscard]] inline std::uint32_t most_urgent_behind(const OutletState& outlet) const;
  inline void start_meeting(std::uint32_t outlet, std::uint32_t place);
  inline void occupy(std::uint32_t outlet, std::uint32_t hop, std::uint32_t count);
  inline void launch(std::uint32_t outlet, std::uint32_t hop, Op op);
  inline void flush_records();
  inline void offer(LegRef leg, std::uint32_t mark, std::uint32_t count);
  inline void meet(std::uint32_t tree);
  void touch(std::uint32_t outlet, OutletState& state) {
    if (!state.touched) {
      state.touched = true;
      touched_.push_back(outlet);
    }
  }
  inline void freed(std::uint32_t link);
  inline void order_touched();
  inline void arrive(std::uint32_t leg);
  inline void open(std::uint32_t gate);
  inline void start(std::uint32_t outlet);
  inline void start_touched();
  inline void prefetch(std::uint32_t what, int steps) const;
  inline void apply_happened();
  inline void offer_first();

  const LegProblem& problem_;
  const Legs& legs_;
  const Urgency& urgency_;
  const LegOutput& output_;
  bool begun_ = false;
  Durations durations_;
  EventLists events_;
  /// Whether an outlet is free when what it sent arrives.
  bool free_on_arrival_;
  std::int64_t now_ = 0;
  std::int64_t end_ = 0;
  std::vector<LegInfo> info_;
  std::vector<LegState> leg_;
  std::vector<GateState> gate_;
  /// Per tree, for how many rounds both ends of its meeting have been ready.
  std::vector<std::uint32_t> met_;
  /// Per gate, how many chunks have come from each leg that it waits for.
  std::vector<std::uint32_t> arrived_;
  std::vector<LegRef> next_;
  /// Per outlet, where its legs would lie: those of them in which something waits, with kDown.
  std::vector<std::uint32_t> ready_;
  /// Beside each of these, where there are switches.
  std::vector<Next> next_of_ready_;
  std::vector<OutletState> outlet_;
  /// By link, when it is free again; of the links behind switches.
  std::vector<std::int64_t> free_at_;
  /// By hop, where there are switches.
  std::vector<LinkBehind> behind_;
  std::vector<std::uint32_t> touched_;
  /// What order_touched sorts by.
  std::vector<std::pair<std::int64_t, std::uint32_t>> by_urgency_;
  std::vector<std::uint32_t> happened_;
  // The transfer that is being started.
  std::vector<Sent> shared_;
  // Those of this instant, to be recorded.
  std::vector<Started> started_;
  std::vector<ChunkId> chunks_;
};

}  // namespace tacos::trees
