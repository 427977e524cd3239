// SPDX-License-Identifier: MIT
// Modulo scheduling of trees.
//
// Problem. Every tree carries one chunk per period, up to its root and down again. A link carries
// the same transfers in every period, so each of them needs a slot: a part of the period that no
// other transfer of the link has. When it must wait for its slot, all that hangs on it waits too.
// The sooner the round ends the better: a collective of R rounds takes (R - 1) periods and a round.
//
// Slots (slot_rows.h). All transfers of a link last equally long, so its period is cut into equal
// slots and none is lost to gaps. Or several chunks share a transfer, and pay once for its latency:
// then slots are seats in it. A seat is one of each period, so chunks that share a transfer are of
// rounds of their own, and each takes the first transfer that comes when it is ready.
//
// Mirror. Where every link has an equal one the other way, what goes up goes over the twins of what
// goes down, and the round is planned once: a transfer that goes down from s to e, seen from the
// moment at which the root has the sum, goes up from -e to -s over the twin. The slots of a link
// and its twin are then taken in pairs, and the one half of the round is the other's mirror image.
// Elsewhere the two halves are planned side by side, time running backwards for what goes up.
//
// Order. Slots are given away by the length of the way through a transfer, its part that still lies
// ahead counted twice, the longest first; of equals, transfers that lead to others come before
// those to leaves. So long ways find links empty and hardly wait, and what is left for leaves is
// waited for once. A transfer that would have to wait may take the slot of another instead, if that
// one, waiting in its place, still ends sooner. (Lam, Software pipelining, PLDI 1988; Rau,
// Iterative modulo scheduling, MICRO 1994, there with slots taken away again.)
//
// Again. What ends late then is moved forward in the order, with all that lies before it, and the
// round is planned anew, a few times (Joslin and Clements, Squeaky wheel optimization, 1999). Ten
// times made the round 4% shorter on torus 8x8x8 with 100/50/25 GB/s, 5% on mesh 16x32, and did
// nothing for three trees of a torus 8x8x8 of equal links.
//
// Cost. O(slots of a link) for each tree and node, about 0.2 us; 40 bytes each.
//
// Tried and measured worse (1 GiB, `hold`, percent of the bandwidth bound, same trees): slots in
// order of time, the longest way ahead first: mesh 64x64 with 15 trees 73.0 instead of 81.8, and
// the more trees the worse (63 trees 63.9); by when a transfer is ready plus the way ahead: 80.9;
// whole ways from a root to a leaf at a time: 81.5; trees that are grown in time, over slots that
// are free, like chunks in matching: 2 to 13% of the transfers find no slot.
#include "synthesis/trees/timing/round_plan.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/assert.h"
#include "synthesis/trees/timing/slot_rows.h"

namespace tacos::trees {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
/// Orders are told apart to this part of the longest way.
constexpr std::int64_t kBuckets = 1 << 14U;

class RoundPlanner {
 public:
  RoundPlanner(const Fabric& fabric,
               const HopCosts& costs,
               const Job& job,
               const Packing& packing,
               const PlanRule& rule)
      : fabric_(fabric),
        job_(job),
        packing_(packing),
        rule_(rule),
        nodes_(packing.num_nodes),
        cells_(packing.num_nodes * packing.num_trees()),
        mirrors_(fabric.symmetric() && job.flow == Flow::kUpAndDown),
        rows_(fabric, costs, packing, rule.sharing, mirrors_) {}

  RoundPlan run(std::uint32_t repeats) {
    add_sides();
    measure_ways();
    hurry_.assign(items_.size(), 0);
    place_all();
    RoundPlan best = plan();
    for (std::uint32_t i = 0; i < repeats && hurry_late(); ++i) {
      take_back();
      place_all();
      if (const Ends now = ends(); now.up + now.down < best.span) {
        best = plan();
      }
    }
    return best;
  }

 private:
  /// A tree's use of a hop: down, or up with time running backwards. Numbered by side and by tree
  /// and node.
  struct Item {
    /// A hop, or kNone.
    std::uint32_t hop = kNone;
    /// The item that ends where this one begins; that of the root ends at 0.
    std::uint32_t before = 0;
    /// The longest way that lies ahead of its end.
    std::int64_t ahead = 0;
    /// When it begins and ends, 0 until it is placed, and when the first that follows begins.
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int64_t next_start = kNever;
  };
  /// An item in its row.
  struct Use {
    std::uint32_t row = 0;
    bool mirrored = false;
  };

  [[nodiscard]] Use use_of(std::uint32_t item) const {
    const std::uint32_t link = fabric_.links(items_[item].hop).front().value();
    if (mirrors_) {
      const std::uint32_t twin = fabric_.twin_link(link);
      return {.row = std::min(link, twin), .mirrored = twin < link};
    }
    return {.row = link, .mirrored = is_up(item)};
  }
  [[nodiscard]] bool is_up(std::uint32_t item) const {
    return job_.flow == Flow::kUp || item >= cells_;
  }

  void add_sides() {
    if (job_.goes_down()) {
      add_side(packing_.down, true);
    }
    if (job_.goes_up() && !mirrors_) {
      add_side(packing_.up, false);
    }
  }

  /// The hops of all trees one way.
  void add_side(const std::vector<std::uint32_t>& hops, bool down) {
    const auto first = static_cast<std::uint32_t>(items_.size());
    items_.resize(items_.size() + cells_);
    std::vector<std::uint32_t> first_kid(nodes_);
    std::vector<std::uint32_t> next_kid(nodes_);
    std::vector<std::uint32_t> walk;
    for (std::uint32_t tree = 0; tree < packing_.num_trees(); ++tree) {
      const std::uint32_t base = first + tree * nodes_;
      std::fill(first_kid.begin(), first_kid.end(), kNone);
      for (std::uint32_t v = 0; v < nodes_; ++v) {
        const std::uint32_t hop = hops[base - first + v];
        if (hop != kNone) {
          const std::uint32_t above = down ? fabric_.source(hop) : fabric_.target(hop);
          items_[base + v].hop = hop;
          items_[base + v].before = base + above;
          next_kid[v] = std::exchange(first_kid[above], v);
        }
      }
      walk.assign(1, packing_.roots[tree]);
      for (std::size_t i = 0; i < walk.size(); ++i) {
        for (std::uint32_t kid = first_kid[walk[i]]; kid != kNone; kid = next_kid[kid]) {
          walk.push_back(kid);
          walked_.push_back(base + kid);
        }
      }
    }
  }

  /// The ways that lie behind and ahead of items.
  void measure_ways() {
    behind_.assign(items_.size(), 0);
    std::vector<std::int64_t> length(items_.size(), 0);
    for (const std::uint32_t item : walked_) {
      const Use use = use_of(item);
      length[item] = rows_.longest(use.row, use.mirrored);
      behind_[item] = behind_[items_[item].before] + length[item];
    }
    for (std::size_t i = walked_.size(); i-- > 0;) {
      const Item& item = items_[walked_[i]];
      Item& before = items_[item.before];
      before.ahead = std::max(before.ahead, item.ahead + length[walked_[i]]);
    }
  }

  void place_all() {
    for (const std::uint32_t item : order()) {
      place(item);
    }
  }

  /// What was late comes sooner in the order next time, with all that it has to wait for; false
  /// when nothing was, as no order can change that.
  bool hurry_late() {
    constexpr std::int64_t kTimes = 2;
    constexpr std::int64_t kMostHurry = kMaxTime.ps / 2;
    std::array<std::int64_t, 2> deepest{};
    std::array<std::int64_t, 2> latest{};
    for (const std::uint32_t item : walked_) {
      const std::size_t side = item / cells_;
      deepest[side] = std::max(deepest[side], behind_[item]);
      latest[side] = std::max(latest[side], items_[item].end);
    }
    if (deepest == latest) {
      return false;
    }
    for (std::size_t i = walked_.size(); i-- > 0;) {
      const std::uint32_t item = walked_[i];
      const std::size_t side = item / cells_;
      // Half of what the latest lost to waiting is no harm.
      const std::int64_t late = items_[item].end + items_[item].ahead -
                                (deepest[side] + (latest[side] - deepest[side]) / 2);
      hurry_[item] = std::min(kMostHurry, hurry_[item] + kTimes * std::max<std::int64_t>(0, late));
      std::int64_t& before = hurry_[items_[item].before];
      before = std::max(before, hurry_[item]);
    }
    return true;
  }

  void take_back() {
    for (Item& item : items_) {
      item.end = 0;
      item.next_start = kNever;
    }
    rows_.take_back();
  }

  /// Items by the length of the way through them, longest first, each after the one that it
  /// follows.
  [[nodiscard]] std::vector<std::uint32_t> order() const {
    const auto rank = [this](std::uint32_t item) {
      const std::int64_t ahead = items_[item].ahead;
      return hurry_[item] + 2 * behind_[item] + rule_.ahead * ahead +
             (ahead > 0 ? rows_.period() / 2 : 0);
    };
    std::int64_t longest = 0;
    for (const std::uint32_t item : walked_) {
      longest = std::max(longest, rank(item));
    }
    const std::int64_t width = longest / kBuckets + 1;
    std::vector<std::uint32_t> first(static_cast<std::size_t>(longest / width) + 2, 0);
    const auto bucket = [&](std::uint32_t item) {
      return static_cast<std::size_t>((longest - rank(item)) / width);
    };
    for (const std::uint32_t item : walked_) {
      ++first[bucket(item) + 1];
    }
    for (std::size_t i = 1; i < first.size(); ++i) {
      first[i] += first[i - 1];
    }
    std::vector<std::uint32_t> sorted(walked_.size());
    for (const std::uint32_t item : walked_) {
      sorted[first[bucket(item)]++] = item;
    }
    return sorted;
  }

  void put(std::uint32_t item, std::uint32_t row, const SlotRows::Slot& slot) {
    rows_.hold(row, slot.number, item);
    items_[item].start = slot.start;
    items_[item].end = slot.start + rows_.length(row, slot.number);
    Item& before = items_[items_[item].before];
    before.next_start = std::min(before.next_start, slot.start);
  }

  /// When the way through an item is over, if it starts then.
  [[nodiscard]] std::int64_t over(std::uint32_t item, std::int64_t arrival) const {
    return 2 * arrival + rule_.ahead * items_[item].ahead;
  }

  void place(std::uint32_t item) {
    const Use use = use_of(item);
    const std::int64_t ready = items_[items_[item].before].end;
    const SlotRows::Slot free = rows_.first_free(use.row, use.mirrored, ready, taken_);
    if (!rule_.trades || taken_.empty() || !trade(item, use, free)) {
      put(item, use.row, free);
    }
  }

  /// Takes the slot of another, which gets `free` instead, if then both ends come sooner than the
  /// end of `item` in `free` would.
  bool trade(std::uint32_t item, const Use& use, const SlotRows::Slot& free) {
    const std::int64_t length = rows_.length(use.row, free.number);
    std::int64_t best = over(item, free.start + length);
    std::int64_t best_own = best;
    const SlotRows::Slot* found = nullptr;
    std::int64_t moved_to = 0;
    for (const SlotRows::Slot& taken : taken_) {
      const std::uint32_t other = rows_.holder(use.row, taken.number);
      const std::int64_t start = rows_.start_in(
          use.row, mirrored_use(other, use), free.number, items_[items_[other].before].end);
      const std::int64_t arrival = start + length;
      const bool followed = items_[other].next_start != kNever;
      if (arrival > items_[other].next_start) {
        continue;
      }
      const std::int64_t own = over(item, taken.start + rows_.length(use.row, taken.number));
      const std::int64_t both = std::max(own, followed ? 0 : over(other, arrival));
      if (both < best || (both == best && own < best_own)) {
        best = both;
        best_own = own;
        found = &taken;
        moved_to = start;
      }
    }
    if (found == nullptr) {
      return false;
    }
    put(rows_.holder(use.row, found->number), use.row, {.start = moved_to, .number = free.number});
    put(item, use.row, *found);
    return true;
  }

  [[nodiscard]] bool mirrored_use(std::uint32_t other, const Use& use) const {
    const std::uint32_t link = fabric_.links(items_[other].hop).front().value();
    return mirrors_ ? link != use.row : is_up(other);
  }

  /// How long what goes up takes, and what goes down.
  struct Ends {
    std::int64_t up = 0;
    std::int64_t down = 0;
  };
  [[nodiscard]] Ends ends() const {
    Ends ends;
    for (const std::uint32_t item : walked_) {
      std::int64_t& last = is_up(item) ? ends.up : ends.down;
      last = std::max(last, items_[item].end);
    }
    ends.up = mirrors_ ? ends.down : ends.up;
    return ends;
  }

  [[nodiscard]] RoundPlan plan() const {
    const auto [up_end, down_end] = ends();
    RoundPlan plan{.period = rows_.period(), .span = up_end + down_end, .up = {}, .down = {}};
    const bool has_up = job_.goes_up();
    const bool has_down = job_.goes_down();
    plan.up.resize(has_up ? cells_ : 0);
    plan.down.resize(has_down ? cells_ : 0);
    for (const std::uint32_t item : walked_) {
      if (!is_up(item)) {
        plan.down[item] = up_end + items_[item].start;
      }
      if (mirrors_ || is_up(item)) {
        plan.up[item % cells_] = up_end - items_[item].end;
      }
    }
    return plan;
  }

  const Fabric& fabric_;
  const Job& job_;
  const Packing& packing_;
  PlanRule rule_;
  std::uint32_t nodes_;
  std::uint32_t cells_;
  bool mirrors_;
  SlotRows rows_;
  std::vector<Item> items_;
  /// By item: the way from the root to its end.
  std::vector<std::int64_t> behind_;
  /// By item: what it has gained in the order by having been late.
  std::vector<std::int64_t> hurry_;
  /// Items that have a hop, from the roots outwards.
  std::vector<std::uint32_t> walked_;
  std::vector<SlotRows::Slot> taken_;
};

}  // namespace

RoundPlan plan_round(const Fabric& fabric,
                     const HopCosts& costs,
                     const Job& job,
                     const Packing& packing,
                     const PlanRule& rule,
                     std::uint32_t repeats) {
  return RoundPlanner(fabric, costs, job, packing, rule).run(repeats);
}

}  // namespace tacos::trees
