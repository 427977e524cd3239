// SPDX-License-Identifier: MIT
// First who waits for whom: at every place (an NPU's copy of a chunk) a message that sends it waits
// for those before it that arrive there, one that arrives waits for those before it that send it,
// and a copy and what arrives before and after it keep their order.
//
// Then time goes from event to event. What can start is tried in order of precedence. Messages of
// one route find the same links taken, so they wait in one line, of which the first is tried; a
// line that finds a link taken waits in the queue of that link, of which only the first is tried
// again when the link is free for it. Routes get to a link some time after their start, so a link
// has a queue for each such delay.
#include "replay/message_scheduler.h"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "base/csr.h"
#include "base/event_queue.h"
#include "base/parallel/cancel.h"
#include "replay/retime.h"
#include "replay/route_table.h"

namespace tacos::replay {
namespace {

constexpr std::uint32_t kNothing = ~std::uint32_t{0};

/// For each message, those that it waits for; some may be listed twice.
class Dependencies {
 public:
  Dependencies(const Topology& topology, std::uint32_t num_chunks, const TransferBatch& messages)
      : num_chunks_(num_chunks),
        places_(std::size_t{topology.num_npus()} * num_chunks),
        missing_(messages.size()) {
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
      add(topology, messages[i], i);
    }
    followers_ = {messages.size(), [&](const auto& add_follower) {
                    for (const auto& [before, after] : pairs_) {
                      add_follower(before, after);
                    }
                  }};
    pairs_ = {};
  }

  [[nodiscard]] bool may_start(std::uint32_t message) const { return missing_[message] == 0; }
  /// Calls start(message) for all that waited for this one alone.
  template <class Start>
  void arrived(std::uint32_t message, const Start& start) {
    for (const std::uint32_t follower : followers_[message]) {
      if (--missing_[follower] == 0) {
        start(follower);
      }
    }
  }

 private:
  /// Lists of messages, each the first of a chain of nodes.
  struct Place {
    std::uint32_t arrivals = kNothing;
    std::uint32_t sends = kNothing;
    /// The last arrival that was a copy.
    std::uint32_t copied = kNothing;
  };
  struct Node {
    std::uint32_t message = 0;
    std::uint32_t next = kNothing;
  };

  void wait_for(std::uint32_t message, std::uint32_t list) {
    for (std::uint32_t node = list; node != kNothing; node = nodes_[node].next) {
      const std::pair pair(nodes_[node].message, message);
      if (pairs_.empty() || pairs_.back() != pair) {
        pairs_.push_back(pair);
        ++missing_[message];
      }
    }
  }
  void push(std::uint32_t& list, std::uint32_t message) {
    nodes_.push_back({message, list});
    list = static_cast<std::uint32_t>(nodes_.size() - 1);
  }

  void add(const Topology& topology, const Transfer& transfer, std::uint32_t message) {
    const std::size_t src = topology.link(transfer.links.front()).src.index() * num_chunks_;
    const std::size_t dst = topology.link(transfer.links.back()).dst.index() * num_chunks_;
    for (const ChunkId chunk : transfer.chunks) {
      wait_for(message, places_[src + chunk.index()].arrivals);
    }
    for (const ChunkId chunk : transfer.chunks) {
      Place& place = places_[dst + chunk.index()];
      wait_for(message, place.sends);
      wait_for(message, transfer.op == Op::kCopy ? place.arrivals : place.copied);
    }
    for (const ChunkId chunk : transfer.chunks) {
      push(places_[src + chunk.index()].sends, message);
      Place& place = places_[dst + chunk.index()];
      if (transfer.op == Op::kCopy) {
        // Whoever comes later waits for this one, which waits for those before it.
        place = {};
        push(place.copied, message);
      }
      push(place.arrivals, message);
    }
  }

  std::size_t num_chunks_;
  std::vector<Place> places_;
  std::vector<Node> nodes_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
  std::vector<std::uint32_t> missing_;
  Csr<std::uint32_t> followers_;
};

class Scheduler {
 public:
  Scheduler(const Topology& topology,
            const Collective& collective,
            LinkModel model,
            const TransferBatch& messages,
            Ticks limit)
      : topology_(topology),
        collective_(collective),
        model_(model),
        messages_(messages),
        limit_(limit),
        dependencies_(topology, collective.num_chunks(), messages),
        routes_(topology),
        start_(messages.size()),
        end_(messages.size()),
        free_(topology.num_links()),
        queues_of_(topology.num_links()) {
    route_of_.reserve(messages.size());
    for (std::uint32_t message = 0; message < messages.size(); ++message) {
      const auto links = messages[message].links;
      RouteId route = links.front().value();
      for (const LinkId link : links.subspan(1)) {
        route = routes_.extend(route, link);
      }
      route_of_.push_back(route);
    }
    lines_.resize(routes_.size());
  }

  std::optional<Schedule> run(const Beginning& beginning) {
    under_way_ = static_cast<std::uint32_t>(beginning.under_way);
    for (std::uint32_t message = 0; message < under_way_; ++message) {
      start(message, messages_[message].start);
    }
    for (std::uint32_t message = under_way_; message < messages_.size(); ++message) {
      if (dependencies_.may_start(message)) {
        join(message, beginning.at);
      }
    }
    start_what_can(beginning.at);
    CancelPoll poll;
    while (events_.next_time() != EventQueue<Event>::kNever) {
      poll();
      const Ticks now = events_.next_time();
      if (now >= limit_) {
        return std::nullopt;
      }
      events_.take_next(happening_);
      for (const Event& event : happening_) {
        happen(event);
      }
      start_what_can(now);
    }
    return with_times(topology_, messages_, start_, end_);
  }

 private:
  /// A message arrives, or a link is free for the first of a queue.
  struct Event {
    Ticks time;
    std::uint32_t message = kNothing;
    std::uint32_t queue = kNothing;
  };
  template <class T>
  using Smallest = std::priority_queue<T, std::vector<T>, std::greater<>>;
  /// Messages of one route that wait for its links alone.
  struct Line {
    Smallest<std::uint32_t> messages;
    /// Where it waits; kNothing while it is tried, or empty.
    std::uint32_t queue = kNothing;
    /// The queue that it was taken from to be tried.
    std::uint32_t from = kNothing;
  };
  /// The first message of a line when it was put there, and the line. It may have moved on, or have
  /// another first message, and then another entry too.
  using Entry = std::pair<std::uint32_t, RouteId>;
  /// Lines that wait for a link that they get to so long after their start.
  struct Queue {
    LinkId link;
    Ticks head;
    Smallest<Entry> lines;
    /// For when the last event is that tells that the link is free.
    Ticks called{-1};
  };

  void happen(const Event& event) {
    if (event.queue == kNothing) {
      dependencies_.arrived(event.message, [&](std::uint32_t next) {
        if (next >= under_way_) {
          join(next, event.time);
        }
      });
      return;
    }
    // Else the link was taken once more, and an event will tell when it is free again.
    if (is_free(queues_[event.queue], event.time)) {
      pop(event.queue);
    }
  }
  [[nodiscard]] bool is_free(const Queue& queue, Ticks now) const {
    return free_[queue.link.index()] - queue.head <= now;
  }

  /// A message waits for nothing but links from now on.
  void join(std::uint32_t message, Ticks now) {
    const RouteId route = route_of_[message];
    Line& line = lines_[route];
    line.messages.push(message);
    if (line.messages.top() != message) {
      return;
    }
    if (line.queue != kNothing && !is_free(queues_[line.queue], now)) {
      queues_[line.queue].lines.emplace(message, route);
    } else {
      line.queue = kNothing;
      ready_.emplace(message, route);
    }
  }
  [[nodiscard]] bool is_current(const Entry& entry, std::uint32_t queue) const {
    const Line& line = lines_[entry.second];
    return line.queue == queue && !line.messages.empty() && line.messages.top() == entry.first;
  }
  /// Drops what has moved on; whether anything is left.
  bool has_lines(std::uint32_t id) {
    auto& lines = queues_[id].lines;
    while (!lines.empty() && !is_current(lines.top(), id)) {
      lines.pop();
    }
    return !lines.empty();
  }
  /// Lets the first line of a queue be tried.
  void pop(std::uint32_t id) {
    if (has_lines(id)) {
      const Entry entry = queues_[id].lines.top();
      queues_[id].lines.pop();
      lines_[entry.second].queue = kNothing;
      lines_[entry.second].from = id;
      ready_.push(entry);
    }
  }

  void start_what_can(Ticks now) {
    while (!ready_.empty()) {
      const auto [message, route] = ready_.top();
      ready_.pop();
      if (!is_current({message, route}, kNothing)) {
        continue;
      }
      Line& line = lines_[route];
      const std::uint32_t from = std::exchange(line.from, kNothing);
      const std::uint32_t queue = blocking_queue(routes_.links(route), now);
      if (queue != kNothing) {
        wait_in(queue, route, now);
      } else {
        start(message, now);
        line.messages.pop();
        if (!line.messages.empty()) {
          ready_.emplace(line.messages.top(), route);
        }
      }
      // If the link that it waited for is still free, the next may try.
      if (from != kNothing && is_free(queues_[from], now)) {
        pop(from);
      }
    }
  }

  /// Where a line has to wait, kNothing if its first message can start.
  std::uint32_t blocking_queue(std::span<const LinkId> links, Ticks now) {
    Ticks head;
    Ticks latest = now;
    LinkId link;
    Ticks head_there;
    for (const LinkId id : links) {
      if (free_[id.index()] - head > latest) {
        latest = free_[id.index()] - head;
        link = id;
        head_there = head;
      }
      head += topology_.link(id).latency;
    }
    return latest == now ? kNothing : queue_of(link, head_there);
  }
  std::uint32_t queue_of(LinkId link, Ticks head) {
    std::vector<std::uint32_t>& ids = queues_of_[link.index()];
    const auto found = std::find_if(
        ids.begin(), ids.end(), [&](std::uint32_t id) { return queues_[id].head == head; });
    if (found != ids.end()) {
      return *found;
    }
    queues_.push_back({.link = link, .head = head, .lines = {}});
    ids.push_back(static_cast<std::uint32_t>(queues_.size() - 1));
    return ids.back();
  }
  void wait_in(std::uint32_t id, RouteId route, Ticks now) {
    lines_[route].queue = id;
    queues_[id].lines.emplace(lines_[route].messages.top(), route);
    call(id, now);
  }
  /// When the link is free for the queue.
  void call(std::uint32_t id, Ticks now) {
    Queue& queue = queues_[id];
    const Ticks time = std::max(now, free_[queue.link.index()] - queue.head);
    if (queue.called != time) {
      queue.called = time;
      events_.push(now, {.time = time, .queue = id});
    }
  }

  void start(std::uint32_t message, Ticks now) {
    const Transfer transfer = messages_[message];
    const Bytes bytes = collective_.chunks().bytes(transfer.chunks);
    start_[message] = now;
    end_[message] = now + route_time(topology_, transfer.links, bytes);
    events_.push(now, {.time = end_[message], .message = message});
    Ticks head = now;
    for (const LinkId id : transfer.links) {
      const Link& link = topology_.link(id);
      free_[id.index()] = std::max(free_[id.index()], head + link_cost(link, bytes, model_).busy);
      head += link.latency;
      for (const std::uint32_t queue : queues_of_[id.index()]) {
        if (has_lines(queue)) {
          call(queue, now);
        }
      }
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  LinkModel model_;
  const TransferBatch& messages_;
  Ticks limit_;
  /// The first messages, which start when they say.
  std::uint32_t under_way_ = 0;
  Dependencies dependencies_;
  RouteTable routes_;
  /// By message.
  std::vector<RouteId> route_of_;
  std::vector<Ticks> start_;
  std::vector<Ticks> end_;
  std::vector<Ticks> free_;
  EventQueue<Event> events_;
  std::vector<Event> happening_;
  /// By route.
  std::vector<Line> lines_;
  /// What may start now, by precedence.
  Smallest<Entry> ready_;
  std::vector<Queue> queues_;
  std::vector<std::vector<std::uint32_t>> queues_of_;
};

}  // namespace

std::optional<Schedule> schedule_messages(const Topology& topology,
                                          const Collective& collective,
                                          LinkModel model,
                                          const TransferBatch& messages,
                                          Ticks limit,
                                          const Beginning& beginning) {
  return Scheduler(topology, collective, model, messages, limit).run(beginning);
}

}  // namespace tacos::replay
