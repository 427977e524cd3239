// SPDX-License-Identifier: MIT
// Strength by a pebble game.
//
// Problem. sigma = min over partitions P of w(P) / (|P| - 1), w(P) the weight across. By Tutte and
// Nash-Williams (1961) sigma is the weight of the best fractional packing of spanning trees.
//
// Idea. sigma >= L exactly when min over P of the sum over parts A of g(A) = -w(inside A) - L is
// reached by the partition with one part. g is submodular on intersecting sets, so that minimum is
// the sum of the values that the greedy algorithm assigns (Dilworth truncation, Lovasz 1983): nodes
// come one by one, and a node v gets min over sets A of it and earlier nodes of g(A) - (values of A
// without v). Written as a flow this is a pebble game (as Lee and Streinu 2008 play it for
// integers): every node brings L pebbles, every edge must be covered by pebbles of its ends, and a
// node that covers an edge may hand it to the other end. When v comes, its edges to earlier nodes
// look for free pebbles along such hand-overs. What finds none is the overflow of v: the set that
// was searched is tight (it holds exactly L free pebbles, counting those of v), no later partition
// splits it, and it is contracted into one node. If at the end more than one node is left, they are
// a partition of ratio below L, or equal to it; it becomes the next L (Newton's method).
//
// Cost. One flow for each node and step, over hand-overs only: each contracted node keeps the list
// of edges it covers. Far below sigma contraction keeps the graph tiny, far above it free pebbles
// are everywhere; searches are long when L is near sigma. Exact: about 10 ms for 1,024 nodes, 0.2
// to 6.2 s for 40,000. Testing 0.99 L instead proves a gap of one percent, in 0.4 to 1.5 s for
// 40,000. All in integers: weights times (|P| - 1), pebbles w(P).
//
// Worse, by earlier prototypes: one general minimum cut for each node on the growing graph, without
// contraction (1.4 to 26 s for 1,024 nodes; partition.cc still does it where there are switches);
// packing trees by repeated minimum spanning trees, which leaves a gap of 7% on a mesh of 200 x 200
// after 4 s.
#include "bound/partitions/strength.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/assert.h"
#include "base/csr.h"
#include "base/parallel/cancel.h"

namespace tacos {
namespace {

constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();
/// Arcs that are looked at before the search is given up: 20 to 100 s.
constexpr std::int64_t kMostWork = 3'000'000'000;

/// One pass: plays the game for L = pebbles / scale.
class PebbleGame {
 public:
  PebbleGame(std::uint32_t num_nodes, const std::vector<WeightedEdge>& edges);

  /// False when that would take too long; num_parts and part_of then mean nothing.
  [[nodiscard]] bool play(std::int64_t pebbles, std::int64_t scale);
  [[nodiscard]] std::uint32_t num_parts() const { return num_parts_; }
  [[nodiscard]] std::uint32_t part_of(std::uint32_t node) { return find(node); }

 private:
  // Arc 2e is edge e as covered by its end u, arc 2e + 1 as covered by v; `to` is the other end.
  [[nodiscard]] std::uint32_t to(std::uint32_t arc) const {
    const WeightedEdge& edge = edges_[arc / 2];
    return arc % 2 == 0 ? edge.v : edge.u;
  }
  std::uint32_t find(std::uint32_t node) {
    while (parent_[node] != node) {
      node = parent_[node] = parent_[parent_[node]];
    }
    return node;
  }
  void order_nodes();
  [[nodiscard]] std::int64_t enter(std::uint32_t node, std::int64_t scale);
  [[nodiscard]] bool label(std::uint32_t start, std::int64_t wanted);
  [[nodiscard]] std::int64_t fill(std::uint32_t start, std::int64_t wanted);
  [[nodiscard]] std::int64_t hand_over(std::int64_t amount);
  void contract(std::uint32_t node, std::int64_t pebbles);

  const std::vector<WeightedEdge>& edges_;
  std::vector<std::uint32_t> order_;
  /// From each node.
  Csr<std::uint32_t> arcs_;
  std::vector<std::uint8_t> entered_;
  std::vector<std::uint32_t> parent_;
  std::uint32_t num_parts_ = 0;
  std::vector<std::int64_t> free_;
  std::vector<std::int64_t> cover_;
  /// Arcs that may still be looked at.
  std::int64_t work_left_ = kMostWork;
  /// Arcs that members of a contracted node cover; zero and inner ones are dropped when met.
  std::vector<std::vector<std::uint32_t>> covered_;
  // Of the present search.
  std::vector<std::uint32_t> label_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::uint32_t> path_;
};

PebbleGame::PebbleGame(std::uint32_t num_nodes, const std::vector<WeightedEdge>& edges)
    : edges_(edges),
      arcs_(num_nodes,
            [&](const auto& add) {
              for (std::uint32_t e = 0; e < edges.size(); ++e) {
                add(edges[e].u, 2 * e);
                add(edges[e].v, 2 * e + 1);
              }
            }),
      entered_(num_nodes),
      parent_(num_nodes),
      free_(num_nodes),
      cover_(edges.size() * 2),
      covered_(num_nodes),
      label_(num_nodes, kUnseen),
      next_(num_nodes, 0) {
  order_nodes();
}

/// Breadth-first, so that a new node has neighbours that came just before it.
void PebbleGame::order_nodes() {
  std::vector<std::uint8_t> seen(parent_.size(), 0);
  order_.push_back(0);
  seen[0] = 1;
  for (std::size_t at = 0; at < order_.size(); ++at) {
    for (const std::uint32_t arc : arcs_[order_[at]]) {
      const std::uint32_t other = to(arc);
      if (seen[other] == 0) {
        seen[other] = 1;
        order_.push_back(other);
      }
    }
  }
  TACOS_ASSERT(order_.size() == parent_.size(), "the graph hangs together");
}

bool PebbleGame::play(std::int64_t pebbles, std::int64_t scale) {
  std::iota(parent_.begin(), parent_.end(), 0U);
  std::fill(entered_.begin(), entered_.end(), std::uint8_t{0});
  std::fill(cover_.begin(), cover_.end(), 0);
  for (std::vector<std::uint32_t>& list : covered_) {
    list.clear();
  }
  num_parts_ = static_cast<std::uint32_t>(parent_.size());
  for (const std::uint32_t node : order_) {
    free_[node] = 0;
    std::int64_t wanted = enter(node, scale);
    while (wanted > 0 && label(node, wanted)) {
      check_cancel();
      wanted -= fill(node, wanted);
    }
    if (wanted > 0) {
      contract(node, pebbles);
    } else {
      free_[node] = pebbles;
    }
    if (work_left_ < 0) {
      return false;
    }
  }
  return true;
}

/// The node covers its edges to earlier nodes for the moment; their sum is to be handed over.
std::int64_t PebbleGame::enter(std::uint32_t node, std::int64_t scale) {
  entered_[node] = 1;
  std::int64_t wanted = 0;
  for (const std::uint32_t arc : arcs_[node]) {
    if (entered_[to(arc)] != 0) {
      cover_[arc] = edges_[arc / 2].weight * scale;
      wanted += cover_[arc];
      covered_[node].push_back(arc);
    }
  }
  return wanted;
}

/// Labels nodes by hand-overs from `start` until enough free pebbles are met; false without any.
bool PebbleGame::label(std::uint32_t start, std::int64_t wanted) {
  for (const std::uint32_t node : queue_) {
    label_[node] = kUnseen;
  }
  queue_.assign(1, start);
  label_[start] = 0;
  next_[start] = 0;
  std::int64_t met = 0;
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const std::uint32_t node = queue_[at];
    std::vector<std::uint32_t>& list = covered_[node];
    work_left_ -= static_cast<std::int64_t>(list.size());
    for (std::size_t i = 0; i < list.size();) {
      const std::uint32_t other = find(to(list[i]));
      if (cover_[list[i]] == 0 || other == node) {
        list[i] = list.back();
        list.pop_back();
        continue;
      }
      if (label_[other] == kUnseen) {
        label_[other] = label_[node] + 1;
        next_[other] = 0;
        queue_.push_back(other);
        met += std::min(free_[other], cover_[list[i]]);
        if (met >= wanted) {
          return true;
        }
      }
      ++i;
    }
  }
  return met > 0;
}

/// Moves up to `amount` along the path to its last node; cuts the path at the first arc used up.
std::int64_t PebbleGame::hand_over(std::int64_t amount) {
  const std::uint32_t last = find(to(path_.back()));
  amount = std::min(amount, free_[last]);
  for (const std::uint32_t arc : path_) {
    amount = std::min(amount, cover_[arc]);
  }
  free_[last] -= amount;
  std::size_t keep = path_.size();
  for (std::size_t i = path_.size(); i-- > 0;) {
    const std::uint32_t arc = path_[i];
    if (cover_[arc ^ 1U] == 0) {
      covered_[find(to(arc))].push_back(arc ^ 1U);
    }
    cover_[arc] -= amount;
    cover_[arc ^ 1U] += amount;
    if (cover_[arc] == 0) {
      keep = i;
    }
  }
  path_.resize(keep);
  return amount;
}

std::int64_t PebbleGame::fill(std::uint32_t start, std::int64_t wanted) {
  std::int64_t total = 0;
  path_.clear();
  while (total < wanted) {
    const std::uint32_t node = path_.empty() ? start : find(to(path_.back()));
    if (!path_.empty() && free_[node] > 0) {
      total += hand_over(wanted - total);
      continue;
    }
    // Lists only grow at their end while a phase lasts, and never towards a larger label.
    std::uint32_t& next = next_[node];
    const std::vector<std::uint32_t>& list = covered_[node];
    const std::uint32_t before = next;
    while (next < list.size() &&
           (cover_[list[next]] == 0 || label_[find(to(list[next]))] != label_[node] + 1)) {
      ++next;
    }
    work_left_ -= 1 + std::int64_t{next} - before;
    if (next < list.size()) {
      path_.push_back(list[next]);
      continue;
    }
    if (path_.empty()) {
      break;
    }
    path_.pop_back();
    ++next_[path_.empty() ? start : find(to(path_.back()))];
  }
  return total;
}

/// All that the last search saw becomes one node, with the pebbles that `node` brings free.
void PebbleGame::contract(std::uint32_t node, std::int64_t pebbles) {
  const std::vector<std::uint32_t> seen = queue_;
  std::uint32_t into = node;
  for (const std::uint32_t member : seen) {
    if (covered_[member].size() > covered_[into].size()) {
      into = member;
    }
  }
  for (const std::uint32_t member : seen) {
    if (member != into) {
      parent_[member] = into;
      covered_[into].insert(covered_[into].end(), covered_[member].begin(), covered_[member].end());
      std::vector<std::uint32_t>().swap(covered_[member]);
      --num_parts_;
    }
  }
  free_[into] = pebbles;
}

/// The part of every node, numbered in the order in which they are met; returns how many there are.
std::uint32_t number_parts(PebbleGame& game, std::vector<std::uint32_t>& part) {
  std::vector<std::uint32_t> number(part.size(), kUnseen);
  std::uint32_t count = 0;
  for (std::uint32_t node = 0; node < part.size(); ++node) {
    std::uint32_t& at = number[game.part_of(node)];
    at = at == kUnseen ? count++ : at;
    part[node] = at;
  }
  return count;
}

}  // namespace

Strength graph_strength(std::uint32_t num_nodes,
                        const std::vector<WeightedEdge>& edges,
                        const std::vector<std::uint32_t>& first_guess,
                        StrengthGoal goal) {
  constexpr std::int64_t kPercent = 100;
  Strength best;
  const auto assess = [&](std::vector<std::uint32_t> part, std::int64_t num_parts) {
    std::int64_t across = 0;
    for (const WeightedEdge& edge : edges) {
      across += part[edge.u] == part[edge.v] ? 0 : edge.weight;
    }
    best.part = std::move(part);
    best.across = across;
    best.parts_less_one = num_parts - 1;
  };
  assess(first_guess, *std::max_element(first_guess.begin(), first_guess.end()) + std::int64_t{1});
  PebbleGame game(num_nodes, edges);
  const bool exact = goal == StrengthGoal::kExact;
  for (;;) {
    const std::int64_t divisor = std::gcd(best.across, best.parts_less_one);
    const std::int64_t pebbles = best.across / divisor * (exact ? 1 : kPercent - 1);
    const std::int64_t scale = best.parts_less_one / divisor * (exact ? 1 : kPercent);
    if (!game.play(pebbles, scale)) {
      best.slack = 1;
      return best;
    }
    if (game.num_parts() > 1) {
      const Strength before = best;
      std::vector<std::uint32_t> part(num_nodes);
      const std::uint32_t count = number_parts(game, part);
      assess(std::move(part), count);
      // across / parts_less_one < pebbles / scale, by 2^62 over the products below.
      if (best.across * scale < pebbles * best.parts_less_one) {
        continue;
      }
      best = before;
    }
    best.slack = exact ? 0 : kPercent;
    return best;
  }
}

}  // namespace tacos
