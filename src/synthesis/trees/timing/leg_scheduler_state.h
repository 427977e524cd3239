// SPDX-License-Identifier: MIT
// The state of list_schedule.cc: lanes, gates, ports and what is under way.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tacos/schedule.h"

#include "synthesis/trees/durations.h"
#include "synthesis/trees/events.h"
#include "synthesis/trees/list_schedule.h"

namespace tacos::trees {

class ListScheduler {
 public:
  ListScheduler(const ListProblem& problem, const Urgency& urgency, const ListOutput& output);
  /// Starts what can start in the next instant; false when nothing is left to happen.
  bool step();
  /// When the last transfer so far ends.
  [[nodiscard]] std::int64_t end() const { return end_; }

 private:
  struct Sent {
    std::uint32_t lane = 0;
    std::uint32_t round = 0;
  };
  struct Started {
    std::uint32_t channel = 0;
    Op op = Op::kCopy;
    std::uint32_t first_chunk = 0;
    std::uint32_t num_chunks = 0;
  };
  struct LaneInfo {
    std::uint32_t port = 0;
    /// kNone for a down lane.
    std::uint32_t gate = kNone;
    /// An up lane's place among those that its gate waits for; a down lane's first next lane.
    std::uint32_t first = 0;
    std::uint32_t num_next = 0;
    [[nodiscard]] bool goes_up() const { return gate != kNone; }
  };
  /// What changes about a lane: the urgency of its next chunk, how many wait, how many have gone.
  struct LaneState {
    std::int64_t urgency = 0;
    std::uint32_t waiting = 0;
    std::uint32_t sent = 0;
  };
  /// A lane as others refer to it, with what they need to know about it.
  struct LaneRef {
    std::uint32_t lane = kNone;
    std::uint32_t port = kNone;
  };
  /// Rounds for which everything has come, and how many lanes lack the next one.
  struct GateState {
    std::uint32_t rounds = 0;
    std::uint32_t missing = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    LaneRef opens;
  };
  struct PortState {
    std::int64_t free_at = 0;
    std::uint32_t first = 0;
    std::uint32_t num_ready = 0;
    bool touched = false;
  };

  // Inline for list_schedule.cc, where all of them are, and which nobody else needs.
  [[nodiscard]] LaneRef ref(std::uint32_t lane) const {
    return {lane, problem_.fabric.port(lanes_.channel(lane))};
  }
  inline void send(PortState& port, std::uint32_t place);
  [[nodiscard]] inline bool can_start(std::uint32_t channel) const;
  [[nodiscard]] inline std::uint32_t most_urgent(std::uint32_t number, const PortState& port) const;
  inline void start_meeting(std::uint32_t port, std::uint32_t place);
  inline void occupy(std::uint32_t port, std::uint32_t channel, std::uint32_t count);
  inline void launch(std::uint32_t port, std::uint32_t channel, Op op);
  inline void flush_records();
  inline void offer(LaneRef lane, std::uint32_t mark, std::uint32_t count);
  inline void meet(std::uint32_t tree);
  void touch(std::uint32_t port, PortState& state) {
    if (!state.touched) {
      state.touched = true;
      touched_.push_back(port);
    }
  }
  inline void freed(std::uint32_t link);
  inline void order_touched();
  inline void arrive(std::uint32_t lane);
  inline void open(std::uint32_t gate);
  inline void start(std::uint32_t port);
  inline void start_touched();
  inline void prefetch(std::uint32_t what, int steps) const;
  inline void apply_happened();
  inline void offer_first();

  const ListProblem& problem_;
  const Lanes& lanes_;
  const Urgency& urgency_;
  const ListOutput& output_;
  bool begun_ = false;
  Durations durations_;
  EventLists events_;
  /// Whether a port is free when what it sent arrives.
  bool free_on_arrival_;
  std::int64_t now_ = 0;
  std::int64_t end_ = 0;
  std::vector<LaneInfo> info_;
  std::vector<LaneState> lane_;
  std::vector<GateState> gate_;
  /// Per tree, for how many rounds both ends of its meeting have been ready.
  std::vector<std::uint32_t> met_;
  /// Per gate, how many chunks have come from each lane that it waits for.
  std::vector<std::uint32_t> arrived_;
  std::vector<LaneRef> next_;
  /// Per port, where its lanes would lie: those of them in which something waits, with kDown.
  std::vector<std::uint32_t> ready_;
  std::vector<PortState> port_;
  /// By link, when it is free again; of the links behind switches.
  std::vector<std::int64_t> free_at_;
  std::vector<std::uint32_t> touched_;
  /// What order_touched sorts by.
  std::vector<std::pair<std::int64_t, std::uint32_t>> by_urgency_;
  std::vector<std::uint32_t> happened_;
  // The transfer that is being started.
  std::vector<Sent> group_;
  // Those of this instant, to be recorded.
  std::vector<Started> started_;
  std::vector<ChunkId> chunks_;
};

}  // namespace tacos::trees
