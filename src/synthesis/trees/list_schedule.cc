// SPDX-License-Identifier: MIT
// An event simulation whose state is per lane, not per chunk and node: how many chunks are ready to
// enter the lane, have entered it, have left it. A channel keeps a heap of its lanes that have
// something ready, by urgency of the next chunk.
//
// Transfers that last equally long end in the order in which they began, so the events are one
// first-in-first-out list per distinct duration, and a heap of those lists: on uniform networks an
// event costs O(1). In all O(transfers * log(lanes per channel * durations)).
//
// All arrivals of an instant are applied before anything starts in it, and what starts in it is
// decided channel by channel in ascending order, so the result depends on nothing else.
#include "synthesis/trees/list_schedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/assert.h"

namespace tacos::trees {
namespace {

/// Events in time order. `begin` of an event must not be earlier than that of any before it.
class EventLists {
 public:
  explicit EventLists(std::size_t num_durations) : lists_(num_durations) {}

  void push(std::uint32_t duration, std::int64_t time, std::uint32_t what) {
    const std::uint32_t node = take_node();
    nodes_[node] = {time, what, kNone};
    List& list = lists_[duration];
    if (list.head == kNone) {
      list.head = node;
      heap_.emplace_back(time, duration);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    } else {
      nodes_[list.tail].next = node;
    }
    list.tail = node;
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::int64_t next_time() const { return heap_.front().first; }
  /// Appends everything that happens at next_time().
  void take(std::vector<std::uint32_t>& happened) {
    const std::int64_t now = next_time();
    while (!heap_.empty() && heap_.front().first == now) {
      const std::uint32_t duration = heap_.front().second;
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.pop_back();
      List& list = lists_[duration];
      while (list.head != kNone && nodes_[list.head].time == now) {
        happened.push_back(nodes_[list.head].what);
        const std::uint32_t next = nodes_[list.head].next;
        nodes_[list.head].next = free_;
        free_ = list.head;
        list.head = next;
      }
      if (list.head != kNone) {
        heap_.emplace_back(nodes_[list.head].time, duration);
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      }
    }
  }

 private:
  struct Node {
    std::int64_t time = 0;
    std::uint32_t what = 0;
    std::uint32_t next = kNone;
  };
  struct List {
    std::uint32_t head = kNone;
    std::uint32_t tail = kNone;
  };

  std::uint32_t take_node() {
    if (free_ == kNone) {
      nodes_.emplace_back();
      return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    return std::exchange(free_, nodes_[free_].next);
  }

  std::vector<List> lists_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::vector<std::pair<std::int64_t, std::uint32_t>> heap_;
};

/// Durations of transfers of 1.. chunks per channel, numbered.
class Durations {
 public:
  struct Times {
    std::int64_t busy = 0;
    std::int64_t arrival = 0;
    std::uint32_t busy_number = 0;
    std::uint32_t arrival_number = 0;
  };

  explicit Durations(const ListProblem& problem) : most_(problem.grouping.most()) {
    const std::uint32_t channels = problem.fabric.num_channels();
    times_.resize(std::size_t{channels} * most_);
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
      for (std::uint32_t count = 1; count <= problem.grouping.of(channel); ++count) {
        const LinkCost cost = problem.costs.of(channel, count);
        times_[std::size_t{channel} * most_ + count - 1] = {cost.busy.ps, cost.arrival.ps, 0, 0};
        distinct_.push_back(cost.busy.ps);
        distinct_.push_back(cost.arrival.ps);
      }
    }
    std::sort(distinct_.begin(), distinct_.end());
    distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
    for (Times& times : times_) {
      times.busy_number = number(times.busy);
      times.arrival_number = number(times.arrival);
    }
  }
  [[nodiscard]] std::size_t count() const { return distinct_.size(); }
  [[nodiscard]] const Times& of(std::uint32_t channel, std::uint32_t chunks) const {
    return times_[std::size_t{channel} * most_ + chunks - 1];
  }

 private:
  [[nodiscard]] std::uint32_t number(std::int64_t time) const {
    return static_cast<std::uint32_t>(
        std::lower_bound(distinct_.begin(), distinct_.end(), time) - distinct_.begin());
  }

  std::uint32_t most_;
  std::vector<Times> times_;
  std::vector<std::int64_t> distinct_;
};

class ListScheduler {
 public:
  ListScheduler(const ListProblem& problem, const Urgency& urgency, const ListOutput& output);
  std::int64_t run();

 private:
  struct Waiting {
    std::int64_t urgency = 0;
    std::uint32_t lane = 0;
    // Makes a max-heap put the least first.
    friend bool operator<(const Waiting& a, const Waiting& b) {
      return std::pair(a.urgency, a.lane) > std::pair(b.urgency, b.lane);
    }
  };
  struct Sent {
    std::uint32_t lane = 0;
    std::uint32_t round = 0;
  };
  struct LaneState {
    std::uint32_t ready = 0;
    std::uint32_t sent = 0;
    std::uint32_t arrived = 0;
  };
  /// Rounds for which everything that a node waits for has come, and lanes that lack the next one.
  struct Gather {
    std::uint32_t rounds = 0;
    std::uint32_t missing = 0;
  };

  [[nodiscard]] std::int64_t urgency_of(std::uint32_t lane) const {
    const std::uint32_t round = lane_[lane].sent;
    return urgency_.table != nullptr ? urgency_.table->at(lane, round)
                                     : urgency_.base[lane] + round * urgency_.step;
  }
  void push(std::uint32_t lane);
  void pop(std::uint32_t channel);
  void offer(std::uint32_t lane, std::uint32_t count);
  void touch(std::uint32_t channel) {
    if (!touched_[channel]) {
      touched_[channel] = true;
      touched_list_.push_back(channel);
    }
  }
  void arrive(std::uint32_t lane);
  void gathered(std::uint32_t lane);
  void start(std::uint32_t channel);
  void record(std::uint32_t channel, Op op);

  const ListProblem& problem_;
  const Lanes& lanes_;
  const Urgency& urgency_;
  const ListOutput& output_;
  Durations durations_;
  EventLists events_;
  bool hold_;
  std::int64_t now_ = 0;
  std::int64_t end_ = 0;
  std::vector<LaneState> lane_;
  /// By the node's up lane, also a root's.
  std::vector<Gather> gather_;
  std::vector<std::uint32_t> heap_first_;
  std::vector<std::uint32_t> heap_size_;
  std::vector<Waiting> heap_;
  std::vector<std::int64_t> free_at_;
  std::vector<bool> touched_;
  std::vector<std::uint32_t> touched_list_;
  std::vector<std::uint32_t> happened_;
  // The transfer that is being started.
  std::vector<Sent> group_;
  std::vector<ChunkId> chunks_;
};

/// Events that are not an arrival in a lane say that a channel is free.
constexpr std::uint32_t kFreed = 1U << 31U;

ListScheduler::ListScheduler(const ListProblem& problem,
                             const Urgency& urgency,
                             const ListOutput& output)
    : problem_(problem),
      lanes_(problem.lanes),
      urgency_(urgency),
      output_(output),
      durations_(problem),
      events_(durations_.count()),
      hold_(problem.costs.model() == LinkModel::kHold),
      lane_(lanes_.num_lanes()),
      gather_(lanes_.num_lanes()),
      heap_first_(problem.fabric.num_channels() + 1, 0),
      heap_size_(problem.fabric.num_channels(), 0),
      free_at_(problem.fabric.num_channels(), 0),
      touched_(problem.fabric.num_channels(), false) {
  TACOS_ASSERT(lanes_.num_lanes() < kFreed, "lane numbers leave a bit for events");
  for (std::uint32_t lane = 0; lane < lanes_.num_lanes(); ++lane) {
    if (lanes_.channel(lane) != kNone) {
      ++heap_first_[lanes_.channel(lane) + 1];
    }
  }
  std::partial_sum(heap_first_.begin(), heap_first_.end(), heap_first_.begin());
  heap_.resize(heap_first_.back());
}

void ListScheduler::push(std::uint32_t lane) {
  const std::uint32_t channel = lanes_.channel(lane);
  const auto begin = heap_.begin() + heap_first_[channel];
  begin[heap_size_[channel]++] = {urgency_of(lane), lane};
  std::push_heap(begin, begin + heap_size_[channel]);
}

void ListScheduler::pop(std::uint32_t channel) {
  const auto begin = heap_.begin() + heap_first_[channel];
  std::pop_heap(begin, begin + heap_size_[channel]);
  --heap_size_[channel];
}

/// `count` more chunks may enter the lane.
void ListScheduler::offer(std::uint32_t lane, std::uint32_t count) {
  LaneState& state = lane_[lane];
  const bool waiting = state.ready > state.sent;
  state.ready += count;
  if (!waiting) {
    push(lane);
    touch(lanes_.channel(lane));
  }
}

/// Everything below the node of this up lane has arrived for one more round.
void ListScheduler::gathered(std::uint32_t lane) {
  Gather& gather = gather_[lane];
  ++gather.rounds;
  gather.missing = 0;
  for (const std::uint32_t below : lanes_.next(lane)) {
    gather.missing += lane_[below].arrived <= gather.rounds ? 1 : 0;
  }
  if (lanes_.channel(lane) != kNone) {
    offer(lane, 1);
    return;
  }
  for (const std::uint32_t down : lanes_.next(lanes_.mirror(lane))) {
    offer(down, 1);
  }
}

void ListScheduler::arrive(std::uint32_t lane) {
  const std::uint32_t round = lane_[lane].arrived++;
  if (!lanes_.goes_up(lane)) {
    for (const std::uint32_t down : lanes_.next(lane)) {
      offer(down, 1);
    }
    return;
  }
  const std::uint32_t above = lane - lanes_.node(lane) + lanes_.parent(lane);
  if (gather_[above].rounds == round && --gather_[above].missing == 0) {
    gathered(above);
    // Rounds complete in order: others may have run ahead.
    while (gather_[above].missing == 0) {
      gathered(above);
    }
  }
}

void ListScheduler::record(std::uint32_t channel, Op op) {
  chunks_.clear();
  for (const Sent& sent : group_) {
    chunks_.emplace_back(sent.round * lanes_.num_trees() + lanes_.tree(sent.lane));
  }
  std::sort(chunks_.begin(), chunks_.end());
  std::int64_t bytes = 0;
  for (const ChunkId chunk : chunks_) {
    bytes += output_.chunks->bytes(chunk).count;
  }
  const LinkId link = problem_.fabric.link(channel);
  const Ticks start{now_};
  const LinkCost cost =
      link_cost(output_.topology->link(link), {bytes}, problem_.costs.model());
  output_.builder->append({.start = start, .op = op, .links = {&link, 1}, .chunks = chunks_},
                          start + cost.arrival);
}

/// Sends the most urgent chunk, and with it as many more of the same kind as the channel may.
void ListScheduler::start(std::uint32_t channel) {
  if (free_at_[channel] > now_ || heap_size_[channel] == 0) {
    return;
  }
  const std::uint32_t limit = problem_.grouping.of(channel);
  const auto& top = heap_[heap_first_[channel]];
  const bool up = lanes_.goes_up(top.lane);
  group_.clear();
  while (group_.size() < limit && heap_size_[channel] > 0 && lanes_.goes_up(top.lane) == up) {
    const std::uint32_t lane = top.lane;
    group_.push_back({lane, lane_[lane].sent});
    pop(channel);
    if (++lane_[lane].sent < lane_[lane].ready) {
      push(lane);
    }
  }
  const Durations::Times& times =
      durations_.of(channel, static_cast<std::uint32_t>(group_.size()));
  free_at_[channel] = now_ + times.busy;
  for (const Sent& sent : group_) {
    events_.push(times.arrival_number, now_ + times.arrival, sent.lane);
    if (output_.ends != nullptr) {
      output_.ends->at(sent.lane, sent.round) = now_ + times.arrival;
    }
  }
  if (!hold_) {
    events_.push(times.busy_number, now_ + times.busy, kFreed | channel);
  }
  end_ = std::max(end_, now_ + times.arrival);
  if (output_.builder != nullptr) {
    record(channel, up ? Op::kReduce : Op::kCopy);
  }
}

std::int64_t ListScheduler::run() {
  const std::uint32_t trees = lanes_.num_trees();
  for (std::uint32_t lane = 0; lane < lanes_.num_lanes(); ++lane) {
    if (!lanes_.goes_up(lane)) {
      continue;
    }
    gather_[lane].missing = static_cast<std::uint32_t>(lanes_.next(lane).size());
    if (gather_[lane].missing == 0) {
      offer(lane, rounds_of(lanes_.tree(lane), trees, problem_.num_chunks));
    }
  }
  for (;;) {
    if (output_.builder != nullptr) {
      std::sort(touched_list_.begin(), touched_list_.end());
    }
    for (const std::uint32_t channel : touched_list_) {
      touched_[channel] = false;
      start(channel);
    }
    touched_list_.clear();
    if (events_.empty()) {
      return end_;
    }
    now_ = events_.next_time();
    happened_.clear();
    events_.take(happened_);
    for (const std::uint32_t what : happened_) {
      if ((what & kFreed) != 0) {
        touch(what & ~kFreed);
        continue;
      }
      touch(lanes_.channel(what));
      arrive(what);
    }
  }
}

}  // namespace

LaneTable::LaneTable(const Lanes& lanes, std::uint32_t num_chunks)
    : rounds_((num_chunks + lanes.num_trees() - 1) / lanes.num_trees()),
      values_(std::size_t{lanes.num_lanes()} * rounds_, 0) {}

std::uint32_t Grouping::most() const {
  return limit.empty() ? 1 : *std::max_element(limit.begin(), limit.end());
}

std::int64_t list_schedule(const ListProblem& problem,
                           const Urgency& urgency,
                           const ListOutput& output) {
  return ListScheduler(problem, urgency, output).run();
}

}  // namespace tacos::trees
