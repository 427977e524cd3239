// SPDX-License-Identifier: MIT
// A queue for each server, all of them the same log: what has arrived, in order of arrival. A
// server that is free takes the first entry of the log that it can send to an element that lacks
// it. "The element has it, or is being sent it" is permanent, so the server's position in the log
// only grows, and each (server, arrival) pair is looked at once. A port of a switch can send an
// arrival to any element of its line; for every line and chunk a second position says which
// elements are done.
//
// On networks of one speed this is all, and it is optimal wherever tried: on every torus all
// servers are busy until the last step. Where servers differ in speed, a slow one must not carry a
// chunk into a neighbourhood (the elements that faster servers reach from there) that has it
// already, since the fast servers spread it within for less; but it should when they have more to
// do than it has (the back-log rule of ADR 6). So a slow server looks for a
// new neighbourhood first, and when there is none and the fast servers' backlog is long, for any
// element that lacks the chunk: two positions in the log, both of which only grow.
//
// Cost: O(chunks x NPUs x servers) probes, and O(servers) for each point in time at which something
// starts or arrives. Measured: ADR 40.
#include "synthesis/symmetric/broadcast.h"

#include <algorithm>
#include <utility>

#include "base/numbers/wide.h"
#include "base/parallel/cancel.h"

namespace tacos::symmetric {
namespace {

/// The elements that fast servers reach from one another.
struct Neighbourhoods {
  std::vector<std::uint32_t> fast;
  /// By element: the first one of its neighbourhood. Empty when each element is its own.
  std::vector<std::uint32_t> first;
  std::uint32_t size = 1;
  /// How many (element, chunk) pairs lack what their neighbourhood has or is being sent.
  std::uint64_t backlog = 0;
  /// How often the fast servers together start in 2^40 ps.
  std::uint64_t rate = 0;
  /// By chunk and first element of a neighbourhood; empty when each element is its own.
  std::vector<std::uint8_t> entered;
};

/// A chunk at an element.
struct Place {
  std::uint32_t element = 0;
  std::uint32_t chunk = 0;
};

/// How far a server has looked: entries of the log before `next` cannot be sent any more. For
/// ports, `line` has for each chunk and line the first member that may still be sent to.
struct Position {
  std::size_t next = 0;
  std::vector<std::uint32_t> line;
};

struct ServerState {
  Ticks free_at;
  Position to_new;
  Position to_lacking;
  std::uint32_t neighbourhoods = 0;
  std::uint32_t flight = 0;
};

/// Transfers of equal duration arrive in the order in which they started.
struct Flight {
  Ticks duration;
  std::vector<Place> places;
  std::vector<Ticks> times;
  std::size_t next = 0;
};

class Broadcaster {
 public:
  explicit Broadcaster(const BroadcastTask& task)
      : task_(task),
        states_(task.servers.size()),
        left_(std::uint64_t{task.elements} * task.chunks),
        claimed_(left_, 0) {
    for (std::size_t s = 0; s < states_.size(); ++s) {
      states_[s].neighbourhoods = find_neighbourhoods(task.servers[s]);
      states_[s].flight = find_flight(task.servers[s].duration);
      if (task.ways[s].is_port()) {
        states_[s].to_new.line.assign(claimed_.size(), 0);
        states_[s].to_lacking.line.assign(claimed_.size(), 0);
      }
    }
    made_.entries.reserve(left_);
    log_.reserve(left_);
    for (std::uint32_t chunk = 0; chunk < task.chunks; ++chunk) {
      claim({.element = 0, .chunk = chunk});
      log_.push_back({.element = 0, .chunk = chunk});
    }
  }

  Broadcast run(Ticks give_up) {
    Ticks now;
    while (left_ > 0 && now < give_up) {
      check_cancel();
      for (const std::uint32_t s : task_.order) {
        if (states_[s].free_at <= now) {
          serve(s, now);
        }
      }
      now = next_event(now);
      receive(now);
    }
    made_.end = left_ > 0 ? give_up : std::min(give_up, made_.end);
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::size_t index(Place place) const {
    return std::size_t{place.chunk} * task_.elements + place.element;
  }

  std::uint32_t find_neighbourhoods(const Server& slow) {
    Neighbourhoods found;
    for (std::uint32_t s = 0; s < task_.servers.size(); ++s) {
      const Server& server = task_.servers[s];
      // Speeds within a third of each other are one level.
      if (server.period.ps + server.period.ps / 3 >= slow.period.ps) {
        continue;
      }
      found.rate += (std::uint64_t{1} << 40U) / static_cast<std::uint64_t>(server.period.ps);
      found.fast.push_back(s);
    }
    for (std::uint32_t known = 0; known < neighbourhoods_.size(); ++known) {
      if (neighbourhoods_[known].fast == found.fast) {
        return known;
      }
    }
    if (!found.fast.empty()) {
      spread(found);
    }
    found.entered.assign(found.size > 1 ? claimed_.size() : 0, 0);
    neighbourhoods_.push_back(std::move(found));
    return static_cast<std::uint32_t>(neighbourhoods_.size() - 1);
  }

  /// Finds out which elements are in one neighbourhood: as many in each, by symmetry.
  void spread(Neighbourhoods& found) const {
    found.first.assign(task_.elements, task_.elements);
    std::vector<std::uint32_t> reached;
    for (std::uint32_t first = 0; first < task_.elements; ++first) {
      if (found.first[first] != task_.elements) {
        continue;
      }
      const auto reach = [&](std::uint32_t element) {
        if (found.first[element] == task_.elements) {
          found.first[element] = first;
          reached.push_back(element);
        }
      };
      reached.clear();
      reach(first);
      for (std::size_t next = 0; next < reached.size(); ++next) {
        for (const std::uint32_t s : found.fast) {
          const std::span<const std::uint32_t> there = task_.ways[s].reach(reached[next]);
          std::for_each(there.begin(), there.end(), reach);
        }
      }
      found.size = static_cast<std::uint32_t>(reached.size());
    }
  }

  std::uint32_t find_flight(Ticks duration) {
    for (std::uint32_t known = 0; known < flights_.size(); ++known) {
      if (flights_[known].duration == duration) {
        return known;
      }
    }
    flights_.push_back({.duration = duration, .places = {}, .times = {}, .next = 0});
    return static_cast<std::uint32_t>(flights_.size() - 1);
  }

  [[nodiscard]] static Place first_of(const Neighbourhoods& all, Place place) {
    return {.element = all.first[place.element], .chunk = place.chunk};
  }

  void claim(Place place) {
    claimed_[index(place)] = 1;
    --left_;
    for (Neighbourhoods& all : neighbourhoods_) {
      if (all.size > 1) {
        std::uint8_t& entered = all.entered[index(first_of(all, place))];
        all.backlog += entered == 0 ? all.size : 0;
        entered = 1;
        --all.backlog;
      }
    }
  }

  [[nodiscard]] bool lacking(Place place) const { return claimed_[index(place)] == 0; }
  [[nodiscard]] bool is_new(const Neighbourhoods& all, Place place) const {
    return all.size == 1 ? lacking(place) : all.entered[index(first_of(all, place))] == 0;
  }

  /// Moves the position on to something that the server can send to a place that is `wanted`; the
  /// element to send to, or as many as there are when there is nothing.
  template <class Wanted>
  std::uint32_t find(const Way& way, Position& position, const Wanted& wanted) const {
    for (; position.next < log_.size(); ++position.next) {
      const Place from = log_[position.next];
      const std::uint32_t to = way.to[from.element];
      if (!way.is_port()) {
        if (wanted(Place{.element = to, .chunk = from.chunk})) {
          return to;
        }
        continue;
      }
      std::uint32_t& member = position.line[index({.element = to, .chunk = from.chunk})];
      const std::uint32_t* const line = &way.members[way.lines[to]];
      const std::uint32_t length = way.lines[to + 1] - way.lines[to];
      while (member < length && !wanted(Place{.element = line[member], .chunk = from.chunk})) {
        ++member;
      }
      if (member < length) {
        return line[member];
      }
    }
    return task_.elements;
  }

  void serve(std::uint32_t s, Ticks now) {
    const Server& server = task_.servers[s];
    ServerState& state = states_[s];
    const Neighbourhoods& all = neighbourhoods_[state.neighbourhoods];
    Position* position = &state.to_new;
    std::uint32_t to =
        find(task_.ways[s], *position, [&](Place place) { return is_new(all, place); });
    if (to == task_.elements && overloaded(all, server)) {
      position = &state.to_lacking;
      to = find(task_.ways[s], *position, [&](Place place) { return lacking(place); });
    }
    if (to == task_.elements) {
      return;
    }
    const Place from = log_[position->next];
    const Ticks end = now + server.duration;
    made_.entries.push_back(
        {.start = now, .from = from.element, .to = to, .server = s, .chunk = from.chunk});
    made_.end = std::max(made_.end, end);
    claim({.element = to, .chunk = from.chunk});
    Flight& flight = flights_[state.flight];
    flight.places.push_back({.element = to, .chunk = from.chunk});
    flight.times.push_back(end);
    state.free_at = now + server.period;
  }

  /// Whether backlog / rate > quarters / 4 * period.
  [[nodiscard]] bool overloaded(const Neighbourhoods& all, const Server& server) const {
    const auto period = static_cast<std::uint64_t>(server.period.ps);
    return static_cast<UInt128>(all.backlog) << 42U >
           static_cast<UInt128>(all.rate) * period * task_.backlog_quarters;
  }

  [[nodiscard]] Ticks next_event(Ticks now) const {
    Ticks next = kMaxTime;
    for (const ServerState& state : states_) {
      if (state.free_at > now) {
        next = std::min(next, state.free_at);
      }
    }
    for (const Flight& flight : flights_) {
      if (flight.next < flight.times.size()) {
        next = std::min(next, flight.times[flight.next]);
      }
    }
    return next;
  }

  void receive(Ticks now) {
    for (Flight& flight : flights_) {
      for (; flight.next < flight.times.size() && flight.times[flight.next] <= now; ++flight.next) {
        log_.push_back(flight.places[flight.next]);
      }
    }
  }

  const BroadcastTask& task_;
  std::vector<ServerState> states_;
  /// Places that nobody has begun to send to.
  std::uint64_t left_ = 0;
  /// By chunk and element.
  std::vector<std::uint8_t> claimed_;
  std::vector<Neighbourhoods> neighbourhoods_;
  std::vector<Flight> flights_;
  /// What has arrived, in order.
  std::vector<Place> log_;
  Broadcast made_;
};

}  // namespace

Broadcast make_broadcast(const BroadcastTask& task, Ticks give_up) {
  return Broadcaster(task).run(give_up);
}

}  // namespace tacos::symmetric
