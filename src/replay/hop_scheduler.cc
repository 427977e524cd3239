// SPDX-License-Identifier: MIT
// List scheduling of hops, one event after the other.
//
// Problem: every message has its hops; each hop needs all links of its route at once (each from the
// moment the head of the message reaches it), and may start when the hop before has arrived. When
// does each start, so that the last ends soon?
//
// Idea: no link that has something to send ever waits, and the message with the longest way still
// to go leaves first. So the links that limit the collective are fed early, and what is left at the
// end is near its destination. On large tori, where every link must always be busy, some link is
// idle early again and again and then has work left when all others are done; adding to the way
// when the fullest link ahead could be done brings such links their messages first. Where several
// routes begin with one link (a port of a switch), it takes the route whose fullest link has most
// to do, plus the way to go after it; ports that become free together choose in that order. So
// ports that must always be busy find a partner first, which is what keeps a switch from ending
// with one port that has everything left to do.
//
// Sharing: under `hold` each transfer pays the latency of its link, so short messages that take the
// same hop go together, up to `patience` latencies. But a long transfer keeps the next hop waiting,
// which costs most at the beginning and at the end, when not everything is busy; so the length of
// a shared transfer is also limited to a part of the time since the beginning and of the time that
// its links still have to work. Waiting: transfers of unequal length fall out of step, and a
// message that comes a moment after its link has started waits for a whole latency; hop after hop
// that adds up to twice the distance. So a link may wait for messages that are already on their way
// to it, a part of its latency at most (All-to-All of 1 KB on mesh 8x8: 11.5 us, waiting 7.08,
// bound 7.00).
//
// Invariant: a link's `free` never goes back, and a transfer starts only when each of its links is
// free when the head arrives there: links are never busy twice. A message is in one queue or on one
// hop: it leaves only after it came.
//
// Cost: O(log messages) per hop, and per start at a port a look at the routes that begin there and
// have something waiting.
#include "replay/hop_scheduler.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

#include "base/parallel/cancel.h"
#include "replay/message_queues.h"
#include "replay/waiting_messages.h"

namespace tacos::replay {
namespace {

constexpr RouteId kNoRoute = ~RouteId{0};
/// A shared transfer takes at most this part of the time before and after it...
constexpr std::int64_t kRamp = 4;
/// ... but may always take this many latencies.
constexpr std::int64_t kAlways = 2;

/// Sharing does not look at latencies beyond this: about a second.
constexpr std::int64_t kLongLatency = std::int64_t{1} << 40U;
constexpr std::int64_t kMostPatience = 1024;

/// At most kMaxTime.
Ticks sum(Ticks a, Ticks b) {
  return a >= kMaxTime - b ? kMaxTime : a + b;
}

class HopScheduler {
 public:
  HopScheduler(const Topology& topology,
               const RouteTable& routes,
               const Itineraries& itineraries,
               const HopOptions& options)
      : topology_(topology),
        routes_(routes),
        hops_(itineraries.hops),
        first_hop_(itineraries.first),
        waiting_(itineraries),
        options_(options),
        queues_(routes.size(), itineraries.num_messages(), options.seed),
        position_(itineraries.first.begin(), itineraries.first.end() - 1),
        way_(itineraries.num_messages()),
        links_(topology.num_links()),
        next_active_(routes.size(), kNoRoute),
        previous_active_(routes.size(), kNoRoute),
        duration_(routes.size()) {
    for (std::uint32_t link = 0; link < topology.num_links(); ++link) {
      const Link& made = topology.link(LinkId(link));
      links_[link].latency = made.latency;
      links_[link].overhead = overhead(made, options.link_model);
      links_[link].serialization = serialization_time(options.chunk_bytes, made.bandwidth);
      links_[link].to_npu = topology.is_npu(made.dst);
    }
    for (RouteId route = 0; route < routes.size(); ++route) {
      Ticks slowest;
      for (const LinkId link : routes.links(route)) {
        duration_[route] = sum(duration_[route], links_[link.index()].latency);
        slowest = std::max(slowest, links_[link.index()].serialization);
      }
      duration_[route] = sum(duration_[route], slowest);
    }
  }

  std::optional<TimedHops> run() {
    if (!count_work()) {
      return std::nullopt;
    }
    timed_.transfers.reserve(options_.patience == 0 ? hops_.size() : 0);
    timed_.messages.reserve(hops_.size());
    for (std::uint32_t message = 0; message < position_.size(); ++message) {
      if (waiting_.may_start(message)) {
        enqueue(message);
      }
    }
    decide({});
    CancelPoll poll;
    while (!events_.empty() && timed_.end <= kMaxTime) {
      poll();
      const Ticks now = events_.top().time;
      now_ = now;
      while (!events_.empty() && events_.top().time == now) {
        const Event event = events_.top();
        events_.pop();
        if (event.arrives) {
          arrive(event.id);
        } else if (links_[event.id].wake == now) {
          links_[event.id].wake = kMaxTime;
          awaken(event.id);
        }
      }
      decide(now);
      report_progress();
    }
    return timed_.end <= kMaxTime ? std::optional(std::move(timed_)) : std::nullopt;
  }

 private:
  struct LinkState {
    Ticks latency;
    /// Of a transfer, beyond its bytes.
    Ticks overhead;
    /// Of one message.
    Ticks serialization;
    /// The link takes nothing new before.
    Ticks free;
    /// How long the messages still to come will keep it busy.
    Ticks work;
    /// When it will look for something to send; kMaxTime when nothing waits.
    Ticks wake = kMaxTime;
    /// The first of the routes that begin here and have messages waiting.
    RouteId active = kNoRoute;
    bool to_npu = true;
    bool awake = false;
    /// How long it has waited for company at most; kMaxTime when it does not wait.
    Ticks patient_until = kMaxTime;
    /// When messages on their way will be there to be sent over it, the last one up to now last.
    std::vector<Ticks> expected;
  };

  /// A transfer arrives, or a link wakes.
  struct Event {
    Ticks time;
    bool arrives = false;
    std::uint32_t id = 0;
    friend bool operator>(const Event& a, const Event& b) {
      return std::tuple(a.time, a.arrives, a.id) > std::tuple(b.time, b.arrives, b.id);
    }
  };

  struct Choice {
    std::int64_t score = -1;
    std::uint32_t link = 0;
    RouteId route = kNoRoute;

    /// The heap's front is the largest score, then the lowest link.
    friend bool operator<(const Choice& a, const Choice& b) {
      return a.score != b.score ? a.score < b.score : a.link > b.link;
    }
  };

  void report_progress() {
    constexpr std::size_t kEvery = std::size_t{1} << 16U;
    if (options_.progress && timed_.messages.size() >= reported_ + kEvery) {
      reported_ = timed_.messages.size();
      options_.progress(static_cast<double>(reported_) / static_cast<double>(hops_.size()));
    }
  }

  [[nodiscard]] static Ticks busy(const LinkState& link, Ticks serialization) {
    return sum(link.overhead, serialization);
  }

  /// False when some message, or all messages on some link, take longer than there is time.
  bool count_work() {
    Ticks longest;
    for (std::uint32_t message = 0; message < way_.size(); ++message) {
      for (std::uint32_t at = first_hop_[message]; at < first_hop_[message + 1]; ++at) {
        way_[message] = sum(way_[message], duration_[hops_[at]]);
        for (const LinkId id : routes_.links(hops_[at])) {
          LinkState& link = links_[id.index()];
          link.work = sum(link.work, busy(link, link.serialization));
          timed_.fullest = std::max(timed_.fullest, link.work);
        }
      }
      longest = std::max(longest, way_[message]);
    }
    longest = std::max(longest, timed_.fullest);
    // From a time below kMaxTime on, a transfer then ends without an overflow, shared or not.
    return longest < kMaxTime - Ticks{kLongLatency * kMostPatience};
  }

  [[nodiscard]] std::int64_t rank(std::uint32_t message) const {
    if (!options_.ranks.empty()) {
      return options_.ranks[position_[message]];
    }
    if (options_.ranking == Ranking::kWay) {
      return way_[message].ps;
    }
    // Links that were never idle are all expected to end when they were at first, so that ranks
    // given at different times compare.
    Ticks latest;
    for (std::uint32_t at = position_[message] + 1; at < first_hop_[message + 1]; ++at) {
      for (const LinkId id : routes_.links(hops_[at])) {
        const LinkState& link = links_[id.index()];
        latest = std::max(latest, std::max(link.free, now_) + link.work);
      }
    }
    return sum(way_[message], std::min(latest, kMaxTime)).ps;
  }

  void enqueue(std::uint32_t message) {
    const RouteId route = hops_[position_[message]];
    const std::uint32_t first = routes_.links(route).front().value();
    if (queues_.empty(route)) {
      RouteId& head = links_[first].active;
      next_active_[route] = head;
      previous_active_[route] = kNoRoute;
      if (head != kNoRoute) {
        previous_active_[head] = route;
      }
      head = route;
    }
    way_[message].ps -= duration_[route].ps;
    queues_.push(route, message, rank(message));
    awaken(first);
  }

  void deactivate(RouteId route) {
    const RouteId next = next_active_[route];
    const RouteId previous = previous_active_[route];
    if (next != kNoRoute) {
      previous_active_[next] = previous;
    }
    RouteId& link_to_next = previous != kNoRoute
                                ? next_active_[previous]
                                : links_[routes_.links(route).front().index()].active;
    link_to_next = next;
  }

  void awaken(std::uint32_t link) {
    if (!links_[link].awake) {
      links_[link].awake = true;
      awake_.push_back(link);
    }
  }

  void wake_at(std::uint32_t link, Ticks time) {
    if (time < links_[link].wake) {
      links_[link].wake = time;
      events_.push({.time = time, .arrives = false, .id = link});
    }
  }

  void arrive(std::uint32_t transfer) {
    const std::uint32_t first = routes_.links(timed_.transfers[transfer].route).front().value();
    if (links_[first].active != kNoRoute) {
      awaken(first);
    }
    for (const std::uint32_t message : timed_.messages_of(transfer)) {
      waiting_.arrived(position_[message], [&](std::uint32_t waiting) { enqueue(waiting); });
      if (++position_[message] < first_hop_[message + 1]) {
        enqueue(message);
      }
    }
  }

  /// The earliest time at which a transfer over the route could start.
  [[nodiscard]] Ticks ready(RouteId route) const {
    Ticks offset;
    Ticks time;
    for (const LinkId id : routes_.links(route)) {
      const LinkState& link = links_[id.index()];
      time = std::max(time, link.free - offset);
      offset += link.latency;
    }
    return time;
  }

  [[nodiscard]] std::int64_t score(RouteId route) const {
    const std::int64_t rank = queues_.key(queues_.top(route));
    if (!options_.ranks.empty()) {
      return rank;
    }
    Ticks work;
    for (const LinkId id : routes_.links(route)) {
      work = std::max(work, links_[id.index()].work);
    }
    return work.ps / 2 + rank / 2;
  }

  /// Whether the link should wait for messages that will soon be there, to send them together with
  /// those that are; arranges to look again.
  bool waits_for_company(std::uint32_t number, Ticks now) {
    LinkState& link = links_[number];
    if (options_.wait_percent == 0 || link.active == kNoRoute || link.free > now) {
      return false;
    }
    if (link.patient_until == kMaxTime) {
      const std::int64_t saved = std::min(link.overhead.ps, kLongLatency);
      link.patient_until = now + Ticks{saved * options_.wait_percent / 100};
    }
    std::erase_if(link.expected, [&](Ticks time) { return time <= now; });
    Ticks latest = now;
    for (const Ticks time : link.expected) {
      latest = time <= link.patient_until ? std::max(latest, time) : latest;
    }
    if (latest == now) {
      link.patient_until = kMaxTime;
      return false;
    }
    wake_at(number, latest);
    return true;
  }

  /// Tells the links over which the messages of a transfer go on when to expect them.
  void announce(std::uint32_t transfer, Ticks end) {
    if (options_.wait_percent == 0) {
      return;
    }
    for (const std::uint32_t message : timed_.messages_of(transfer)) {
      const std::uint32_t next = position_[message] + 1;
      if (next < first_hop_[message + 1]) {
        std::vector<Ticks>& expected = links_[routes_.links(hops_[next]).front().index()].expected;
        if (expected.empty() || expected.back() != end) {
          expected.push_back(end);
        }
      }
    }
  }

  /// The best route that can start now; kNoRoute after arranging to look again.
  Choice choose(std::uint32_t link, Ticks now) {
    if (waits_for_company(link, now)) {
      return {};
    }
    Choice best{.score = -1, .link = link, .route = kNoRoute};
    Ticks soonest = kMaxTime;
    for (RouteId route = links_[link].active; route != kNoRoute; route = next_active_[route]) {
      const Ticks time = ready(route);
      if (time > now) {
        soonest = std::min(soonest, time);
        continue;
      }
      const std::int64_t found = score(route);
      if (found > best.score || (found == best.score && route < best.route)) {
        best = {.score = found, .link = link, .route = route};
      }
    }
    if (best.route == kNoRoute) {
      wake_at(link, soonest);
    }
    return best;
  }

  /// Starts all that can start now.
  void decide(Ticks now) {
    choices_.clear();
    for (const std::uint32_t link : awake_) {
      links_[link].awake = false;
      const Choice choice = choose(link, now);
      if (choice.route == kNoRoute) {
        continue;
      }
      if (links_[link].to_npu) {
        start(choice.route, now);
      } else {
        choices_.push_back(choice);
      }
    }
    awake_.clear();
    std::make_heap(choices_.begin(), choices_.end());
    while (!choices_.empty()) {
      std::pop_heap(choices_.begin(), choices_.end());
      const Choice choice = choices_.back();
      choices_.pop_back();
      if (ready(choice.route) <= now) {
        start(choice.route, now);
      } else if (const Choice other = choose(choice.link, now); other.route != kNoRoute) {
        choices_.push_back(other);
        std::push_heap(choices_.begin(), choices_.end());
      }
    }
  }

  /// How many messages may share a transfer over the route.
  [[nodiscard]] std::int64_t most_together(RouteId route, Ticks now) const {
    std::int64_t most = kNoMessage;
    for (const LinkId id : routes_.links(route)) {
      const LinkState& link = links_[id.index()];
      const std::int64_t saved = std::min(link.overhead.ps, kLongLatency);
      const std::int64_t ramp = std::min(now, link.work).ps / kRamp;
      const std::int64_t span = std::min(std::min(options_.patience, kMostPatience) * saved,
                                         std::max(kAlways * saved, ramp));
      most = std::min(most, 1 + span / link.serialization.ps);
    }
    return most;
  }

  void start(RouteId route, Ticks now) {
    const std::int64_t most = most_together(route, now);
    const auto first_message = static_cast<std::uint32_t>(timed_.messages.size());
    std::int64_t together = 0;
    for (; together < most && !queues_.empty(route); ++together) {
      timed_.messages.push_back(queues_.pop(route));
    }
    if (queues_.empty(route)) {
      deactivate(route);
    }
    Ticks head = now;
    Ticks slowest;
    for (const LinkId id : routes_.links(route)) {
      LinkState& link = links_[id.index()];
      const Ticks serialization = together == 1
                                      ? link.serialization
                                      : serialization_time({options_.chunk_bytes.count * together},
                                                           topology_.link(id).bandwidth);
      link.free = head + busy(link, serialization);
      link.work.ps -= busy(link, link.serialization).ps * together;
      slowest = std::max(slowest, serialization);
      head += link.latency;
    }
    const Ticks end = head + slowest;
    timed_.end = std::max(timed_.end, end);
    events_.push(
        {.time = end, .arrives = true, .id = static_cast<std::uint32_t>(timed_.transfers.size())});
    timed_.transfers.push_back(
        {.start = now, .end = end, .route = route, .first_message = first_message});
    announce(static_cast<std::uint32_t>(timed_.transfers.size() - 1), end);
    const std::uint32_t first = routes_.links(route).front().value();
    // On a direct link under `hold` the arrival wakes it.
    if (links_[first].active != kNoRoute && links_[first].free != end) {
      wake_at(first, links_[first].free);
    }
  }

  const Topology& topology_;
  const RouteTable& routes_;
  const std::vector<RouteId>& hops_;
  const std::vector<std::uint32_t>& first_hop_;
  WaitingMessages waiting_;
  HopOptions options_;
  MessageQueues queues_;
  /// Of each message: the hop that it waits for or is on.
  std::vector<std::uint32_t> position_;
  /// Of each message: how long it needs for the hops after that.
  std::vector<Ticks> way_;
  std::vector<LinkState> links_;
  /// Routes with messages waiting, a list for each first link.
  std::vector<RouteId> next_active_;
  std::vector<RouteId> previous_active_;
  /// Of each route, for one message.
  std::vector<Ticks> duration_;
  /// Links that may have something to start now.
  std::vector<std::uint32_t> awake_;
  std::vector<Choice> choices_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Ticks now_;
  /// Hops under way when progress was last reported.
  std::size_t reported_ = 0;
  TimedHops timed_;
};

}  // namespace

std::optional<TimedHops> schedule_hops(const Topology& topology,
                                       const RouteTable& routes,
                                       const Itineraries& itineraries,
                                       const HopOptions& options) {
  return HopScheduler(topology, routes, itineraries, options).run();
}

}  // namespace tacos::replay
