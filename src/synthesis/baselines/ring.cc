// SPDX-License-Identifier: MIT
// Ring: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
// JPDC 2009. Everybody passes on to the next what it got from the one before. A ring that goes both
// ways sends every part the shorter way round in each direction.
#include <algorithm>
#include <numeric>

#include "synthesis/baselines/baseline.h"
#include "synthesis/baselines/hamiltonian.h"

namespace tacos::baselines {
namespace {

using Order = std::vector<std::uint32_t>;

/// By number, and along a cycle of neighbours where that is something else.
std::vector<Order> orders(const Setup& setup) {
  Order natural(setup.size());
  std::iota(natural.begin(), natural.end(), 0U);
  std::vector<Order> all{natural};
  const auto next = [&](std::uint32_t i) { return (i + 1) % setup.size(); };
  const bool is_cycle = std::all_of(natural.begin(), natural.end(), [&](std::uint32_t i) {
    return setup.are_neighbours(i, next(i)) && setup.are_neighbours(next(i), i);
  });
  if (!is_cycle) {
    if (auto cycle = find_cycle(setup)) {
      all.push_back(*std::move(cycle));
    }
  }
  return all;
}

/// Steps along the ring, up or down.
std::uint32_t at(const Order& order, std::uint32_t from, std::uint32_t steps, bool up) {
  const auto size = static_cast<std::uint32_t>(order.size());
  return order[(from + (up ? steps : size - steps)) % size];
}

/// How far a part goes up and down.
struct Reach {
  std::uint32_t up = 0;
  std::uint32_t down = 0;
};

Messages gather(const Order& order, const std::function<Reach(std::uint32_t part)>& reach) {
  Messages messages;
  const auto size = static_cast<std::uint32_t>(order.size());
  for (std::uint32_t step = 0; step + 1 < size; ++step) {
    for (std::uint32_t owner = 0; owner < size; ++owner) {
      const Reach far = reach(owner);
      if (step < far.up) {
        messages.send(at(order, owner, step, true), at(order, owner, step + 1, true), order[owner]);
      }
      if (step < far.down) {
        messages.send(
            at(order, owner, step, false), at(order, owner, step + 1, false), order[owner]);
      }
    }
  }
  return messages;
}

Messages spread(const Order& order, std::uint32_t root, Reach far) {
  Messages messages;
  const auto from =
      static_cast<std::uint32_t>(std::find(order.begin(), order.end(), root) - order.begin());
  for (std::uint32_t step = 0; step < std::max(far.up, far.down); ++step) {
    if (step < far.up) {
      messages.send(at(order, from, step, true), at(order, from, step + 1, true), 0U);
    }
    if (step < far.down) {
      messages.send(at(order, from, step, false), at(order, from, step + 1, false), 0U);
    }
  }
  return messages;
}

}  // namespace

Result<std::vector<Algorithm>> ring(const Setup& setup) {
  std::vector<Algorithm> all;
  const Reach far{.up = setup.size() - 1, .down = 0};
  for (const Order& order : orders(setup)) {
    all.push_back(
        {.gather = [order,
                    far](std::uint32_t) { return gather(order, [far](auto) { return far; }); },
         .spread = [order, far, root = setup.root()](
                       std::uint32_t) { return spread(order, root, far); }});
  }
  return all;
}

Result<std::vector<Algorithm>> bidirectional_ring(const Setup& setup) {
  std::vector<Algorithm> all;
  // Of an even ring the one opposite gets one half of the pieces from each side.
  const auto reach = [others = setup.size() - 1](std::uint32_t turn) {
    const std::uint32_t less = others / 2;
    return turn % 2 == 0 ? Reach{.up = others - less, .down = less}
                         : Reach{.up = less, .down = others - less};
  };
  for (const Order& order : orders(setup)) {
    all.push_back(
        {.gather =
             [order, reach](std::uint32_t piece) {
               return gather(order,
                             [reach, piece](std::uint32_t part) { return reach(part + piece); });
             },
         .spread = [order, reach, root = setup.root()](
                       std::uint32_t piece) { return spread(order, root, reach(piece)); }});
  }
  return all;
}

}  // namespace tacos::baselines
