// SPDX-License-Identifier: MIT
#include "synthesis/exchange/clocks.h"

#include <algorithm>

namespace tacos::exchange {

Glance::Glance(const Moves& moves, const Costs& costs)
    : moves_(moves), costs_(costs), free_(costs.num_links()) {
  std::vector<std::uint32_t> load(costs.num_links(), 0);
  for (std::uint32_t move = 0; move < moves.size(); ++move) {
    for (std::uint32_t element = 0; element < moves.elements(); ++element) {
      for (const LinkId link : moves.route(move, element)) {
        ++load[link.index()];
      }
    }
    for (const std::uint32_t element : {0U, moves.subtract(0, moves[move].shift)}) {
      std::int64_t head = 0;
      for (const LinkId link : moves.route(move, element)) {
        uses_.push_back({.link = link, .copies = load[link.index()], .head = head});
        head += costs.latency(link);
      }
    }
    uses_.end_row();
    std::fill(load.begin(), load.end(), 0);
  }
}

std::int64_t Glance::start(std::uint32_t move, std::span<const std::int64_t> free) const {
  std::int64_t start = 0;
  for (const Use& use : uses_[move]) {
    start = std::max(start, free[use.link.index()] - use.head);
  }
  return start;
}

std::int64_t Glance::take(std::uint32_t move,
                          std::int64_t start,
                          std::uint32_t parts,
                          std::span<std::int64_t> free) const {
  std::int64_t longest = 0;
  std::int64_t wait = 0;
  for (const Use& use : uses_[move]) {
    const std::int64_t busy = costs_.busy(use.link, parts);
    free[use.link.index()] = start + use.head + use.copies * busy;
    wait = std::max(wait, (use.copies - 1) * busy);
    longest = std::max(longest, use.head + costs_.latency(use.link));
  }
  std::int64_t bytes = 0;
  for (const Use& use : uses_[move]) {
    bytes = std::max(bytes, costs_.bytes(use.link, parts));
  }
  return start + wait + longest + bytes;
}

std::optional<RoutineTime> Glance::time(std::span<const Entry> routine,
                                        const Cargo& cargo,
                                        std::int64_t limit) {
  std::fill(free_.begin(), free_.end(), 0);
  arrival_.resize(routine.size());
  RoutineTime time;
  for (std::size_t k = 0; k < routine.size(); ++k) {
    if (cargo.num_parts(k) == 0) {
      continue;
    }
    std::int64_t from = start(routine[k].move, free_);
    for (const std::uint32_t need : cargo.needs(k)) {
      from = std::max(from, arrival_[need]);
    }
    arrival_[k] = take(routine[k].move, from, cargo.num_parts(k), free_);
    if (arrival_[k] > limit) {
      return std::nullopt;
    }
    time.end = std::max(time.end, arrival_[k]);
    time.sum += arrival_[k];
  }
  return time;
}

std::optional<RoutineTime> Clock::time(std::span<const Entry> routine,
                                       const Cargo& cargo,
                                       std::int64_t limit) {
  const std::uint32_t elements = moves_.elements();
  links_.clear();
  start_.resize(routine.size() * elements);
  arrival_.resize(routine.size() * elements);
  RoutineTime time;
  for (std::size_t k = 0; k < routine.size(); ++k) {
    const std::uint32_t parts = cargo.num_parts(k);
    if (parts == 0) {
      continue;
    }
    std::int64_t last = 0;
    for (std::uint32_t element = 0; element < elements; ++element) {
      std::int64_t ready = 0;
      for (const std::uint32_t need : cargo.needs(k)) {
        ready = std::max(ready, arrival_[need * elements + element]);
      }
      const auto route = moves_.route(routine[k].move, element);
      const std::int64_t start = links_.start(route, ready);
      links_.take(route, start, parts);
      start_[k * elements + element] = start;
      const std::int64_t end = start + costs_.crossing(route, parts);
      arrival_[k * elements + moves_.add(element, moves_[routine[k].move].shift)] = end;
      last = std::max(last, end);
    }
    if (last > limit) {
      return std::nullopt;
    }
    time.end = std::max(time.end, last);
    time.sum += last;
  }
  return time;
}

}  // namespace tacos::exchange
