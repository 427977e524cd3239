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
// do than it has (THEORY 3.3: cluster de-dup with the back-log rule). So a slow server looks for a
// new neighbourhood first, and when there is none and the fast servers' backlog is long, for any
// element that lacks the chunk: two positions in the log, both of which only grow.
//
// Cost: O(chunks x NPUs x servers) probes, and O(servers) for each point in time at which something
// starts or arrives. Measured: ADR 40.
#include "synthesis/symmetric/broadcast.h"

#include <algorithm>
#include <utility>

#include "base/mixed_radix.h"
#include "base/wide.h"

namespace tacos {
namespace {

/// Elements that agree in all coordinates but those of fast servers.
struct Neighbourhoods {
  std::vector<std::uint32_t> fast_axes;
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
/// ports, `line` has for each chunk and line the first coordinate that may still be sent to.
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
        group_(task.lengths),
        states_(task.servers.size()),
        left_(std::uint64_t{group_.size()} * task.chunks),
        claimed_(left_, 0) {
    for (std::size_t s = 0; s < states_.size(); ++s) {
      const Server& server = task.servers[s];
      states_[s].neighbourhoods = find_neighbourhoods(server);
      states_[s].flight = find_flight(server.duration);
      if (server.step == 0) {
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
    return std::size_t{place.chunk} * group_.size() + place.element;
  }

  std::uint32_t find_neighbourhoods(const Server& slow) {
    Neighbourhoods found;
    for (const Server& server : task_.servers) {
      // Speeds within a third of each other are one level.
      if (server.period.ps + server.period.ps / 3 >= slow.period.ps) {
        continue;
      }
      found.rate += (std::uint64_t{1} << 40U) / static_cast<std::uint64_t>(server.period.ps);
      if (found.fast_axes.empty() || found.fast_axes.back() != server.axis) {
        found.fast_axes.push_back(server.axis);
        found.size *= task_.lengths[server.axis];
      }
    }
    for (std::uint32_t known = 0; known < neighbourhoods_.size(); ++known) {
      if (neighbourhoods_[known].fast_axes == found.fast_axes) {
        return known;
      }
    }
    found.entered.assign(found.size > 1 ? claimed_.size() : 0, 0);
    neighbourhoods_.push_back(std::move(found));
    return static_cast<std::uint32_t>(neighbourhoods_.size() - 1);
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

  [[nodiscard]] Place first_of(const Neighbourhoods& all, Place place) const {
    const std::uint32_t element = place.element;
    for (const std::uint32_t axis : all.fast_axes) {
      place.element -= group_.digit(element, axis) * group_.stride(axis);
    }
    return place;
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
  std::uint32_t find(const Server& server, Position& position, const Wanted& wanted) const {
    const std::uint32_t length = task_.lengths[server.axis];
    const std::uint32_t stride = group_.stride(server.axis);
    for (; position.next < log_.size(); ++position.next) {
      const Place from = log_[position.next];
      const std::uint32_t x = group_.digit(from.element, server.axis);
      const std::uint32_t first = from.element - x * stride;
      if (server.step != 0) {
        const std::uint32_t y =
            x + server.step < length ? x + server.step : x + server.step - length;
        if (wanted(Place{.element = first + y * stride, .chunk = from.chunk})) {
          return first + y * stride;
        }
        continue;
      }
      std::uint32_t& y = position.line[index({.element = first, .chunk = from.chunk})];
      while (y < length && !wanted(Place{.element = first + y * stride, .chunk = from.chunk})) {
        ++y;
      }
      if (y < length) {
        return first + y * stride;
      }
    }
    return group_.size();
  }

  void serve(std::uint32_t s, Ticks now) {
    const Server& server = task_.servers[s];
    ServerState& state = states_[s];
    const Neighbourhoods& all = neighbourhoods_[state.neighbourhoods];
    Position* position = &state.to_new;
    std::uint32_t to = find(server, *position, [&](Place place) { return is_new(all, place); });
    if (to == group_.size() && overloaded(all, server)) {
      position = &state.to_lacking;
      to = find(server, *position, [&](Place place) { return lacking(place); });
    }
    if (to == group_.size()) {
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
  MixedRadix group_;
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

}  // namespace tacos
