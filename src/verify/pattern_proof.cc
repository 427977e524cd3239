// SPDX-License-Identifier: MIT
// A pattern of a million entries on a million NPUs stands for 10^12 transfers. They need not be
// replayed: what holds for one owner's chunks holds for all, once the translations are shown to be
// symmetries of the network. Written from docs/schedule-format.md, section "PTRN".
//
// What is checked, and what it proves of the expanded schedule. Let an entry be (start, move, from,
// chunk), with to = from + shift of the move; it stands for one transfer out of each NPU v, over
// link (v, slot) and perhaps the port's link to v + shift, with a chunk of NPU v - from.
//
//   1. Every move leads from v to v + shift, for every v: link (v, slot) begins at v and ends
//   there,
//      or at a switch at which the port's link to v + shift begins. So every translate of an entry
//      is a transfer along a route of the network.
//   2. All links of a slot have equal bandwidth and latency, and so have all links of a port; no
//      link belongs to two. So all translates of an entry take equal time.
//   3. No two entries use a slot, or a port, at overlapping times. Two transfers on one link are
//      translates of entries of one slot (or port), and of one entry only one translate uses any
//      one link; so no link is used twice at once.
//   4. Seen from the owner: a copy leaves `from` only after it arrived there, and every element but
//      0 gets every chunk exactly once. Translation by u maps element d to NPU u + d and the chunk
//      to the one that u owns, so this is what must hold for every u. (All-Gather)
//   5. A reduce leaves every element but 0 exactly once, after all that it gets has arrived, and
//      nothing arrives later. So the entries are a tree into 0, every share is counted once, and
//      nothing changes while it is being sent. (Reduce-Scatter)
//   6. Both, and no copy leaves 0 before all reduces have arrived. (All-Reduce)
//
// 1 and 2 take O(links): for a switch it is enough that v's own link up and down meet at one
// switch, and that the switch stays the same when one of the coordinates that the move changes
// grows by one. 3 to 6 take O(1) for each entry. Chunks differ by at most a byte; all are taken to
// be the largest, except for the collective time, which is exact. So a pattern that is right only
// because some chunks are a byte smaller is refused, as is one that reaches an element twice or
// mixes ways into a port that differ in latency; everything else gets the verdict of the expanded
// schedule.
#include "verify/pattern_proof.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/numbers/mixed_radix.h"
#include "verify/group_walk.h"

namespace tacos {
namespace {

constexpr Ticks kNever{std::numeric_limits<std::int64_t>::max()};

class PatternProof {
 public:
  PatternProof(const Topology& topology,
               const Collective& collective,
               LinkModel model,
               const Pattern& pattern,
               Violations& violations)
      : topology_(topology),
        collective_(collective),
        model_(model),
        pattern_(pattern),
        violations_(violations) {}

  PatternCounts run() {
    PatternCounts counts;
    if (!fits()) {
      return counts;
    }
    group_ = MixedRadix(pattern_.lengths);
    counts.transfers = pattern_.entries.size() * std::uint64_t{group_.size()};
    if (!check_ids() || !check_slots() || !check_ports() || !check_moves()) {
      return counts;
    }
    counts.latest = check_entries();
    check_complete();
    return counts;
  }

 private:
  [[nodiscard]] std::uint32_t chunks() const { return pattern_.chunks_per_npu; }
  [[nodiscard]] std::size_t place(std::uint32_t element, std::uint32_t chunk) const {
    return std::size_t{element} * chunks() + chunk;
  }
  [[nodiscard]] const Link& slot_link(std::uint32_t npu, std::uint32_t slot) const {
    return topology_.link(LinkId(npu * pattern_.links_per_npu + slot));
  }
  template <class Sentence>
  bool refuse(const Sentence& sentence) {
    violations_.add(sentence);
    return false;
  }
  template <class Sentence>
  bool refuse(std::size_t index, const Sentence& sentence) {
    const PatternEntry& entry = pattern_.entries[index];
    return refuse([&] {
      return fmt::format("pattern entry {} (start {} ps, move {}, from {}, chunk {}): {}",
                         index,
                         entry.start.ps,
                         entry.move,
                         entry.from,
                         entry.chunk,
                         sentence());
    });
  }

  /// Whether the pattern speaks of this network and this collective at all.
  bool fits() {
    std::uint64_t npus = 1;
    for (const std::uint32_t length : pattern_.lengths) {
      npus = std::min<std::uint64_t>(npus * length, std::numeric_limits<std::uint32_t>::max());
    }
    if (npus != topology_.num_npus() || npus != collective_.num_participants()) {
      return refuse([&] {
        return fmt::format("the pattern is for {} NPUs; the network has {}, of which {} take part",
                           npus,
                           topology_.num_npus(),
                           collective_.num_participants());
      });
    }
    if (npus * chunks() != collective_.num_chunks()) {
      return refuse([&] {
        return fmt::format("the pattern has {} chunks for each of {} NPUs; the collective has {}",
                           chunks(),
                           npus,
                           collective_.num_chunks());
      });
    }
    if (npus * pattern_.links_per_npu > topology_.num_links()) {
      return refuse([&] {
        return fmt::format("the pattern has {} links for each of {} NPUs; the network has {}",
                           pattern_.links_per_npu,
                           npus,
                           topology_.num_links());
      });
    }
    return true;
  }

  bool check_ids() {
    for (const PatternMove& move : pattern_.moves) {
      if (move.slot >= pattern_.links_per_npu || move.shift >= group_.size() || move.shift == 0 ||
          (move.port != PatternMove::kNoPort && move.port >= pattern_.ports.size())) {
        return refuse([] { return "a move of the pattern names what does not exist"; });
      }
    }
    Ticks clock;
    for (std::size_t i = 0; i < pattern_.entries.size(); ++i) {
      const PatternEntry& entry = pattern_.entries[i];
      if (entry.move >= pattern_.moves.size() || entry.from >= group_.size() ||
          entry.chunk >= chunks()) {
        return refuse(i, [] { return "names what does not exist"; });
      }
      if (entry.start < clock) {
        return refuse(i, [] { return "entries must come in start order, from time 0"; });
      }
      clock = entry.start;
    }
    return true;
  }

  /// Every link of a slot begins at its NPU and costs the same.
  bool check_slots() {
    for (std::uint32_t npu = 0; npu < group_.size(); ++npu) {
      for (std::uint32_t slot = 0; slot < pattern_.links_per_npu; ++slot) {
        const Link& link = slot_link(npu, slot);
        const Link& first = slot_link(0, slot);
        if (topology_.failed(LinkId(npu * pattern_.links_per_npu + slot)) ||
            link.src != NodeId(npu) || link.bandwidth != first.bandwidth ||
            link.latency != first.latency || link.gap != first.gap) {
          return refuse([&] {
            return fmt::format("{} is not a translation of {}",
                               violations_.name(LinkId(npu * pattern_.links_per_npu + slot)),
                               violations_.name(LinkId(slot)));
          });
        }
      }
    }
    return true;
  }

  /// Every link of a port leads from a switch to its NPU, costs the same, and is of no other port.
  bool check_ports() {
    std::vector<bool> taken(topology_.num_links(), false);
    for (const PatternPort& port : pattern_.ports) {
      if (port.strides.size() != group_.num_digits()) {
        return refuse([] { return "a port of the pattern has not a stride for each dimension"; });
      }
      for (GroupWalk to(group_); !to.done(); to.next()) {
        const std::uint32_t id = to.link(port);
        if (id < group_.size() * pattern_.links_per_npu || id >= topology_.num_links() ||
            taken[id]) {
          return refuse([&] { return fmt::format("link {} cannot be of a port", id); });
        }
        taken[id] = true;
        const Link& link = topology_.link(LinkId(id));
        const Link& first = topology_.link(LinkId(port.first));
        if (topology_.failed(LinkId(id)) || link.dst != NodeId(to.element()) ||
            topology_.is_npu(link.src) || link.bandwidth != first.bandwidth ||
            link.latency != first.latency || link.gap != first.gap) {
          return refuse([&] {
            return fmt::format("{} is not a translation of {}",
                               violations_.name(LinkId(id)),
                               violations_.name(LinkId(port.first)));
          });
        }
      }
    }
    return true;
  }

  bool check_moves() {
    for (std::uint32_t m = 0; m < pattern_.moves.size(); ++m) {
      const PatternMove& move = pattern_.moves[m];
      const bool leads =
          move.port == PatternMove::kNoPort ? leads_directly(move) : leads_through_switch(move);
      if (!leads) {
        return refuse([&] {
          return fmt::format(
              "move {} of the pattern does not lead {} further from every NPU", m, move.shift);
        });
      }
      costs_.push_back(cost_of(move));
    }
    return true;
  }

  [[nodiscard]] bool leads_directly(const PatternMove& move) const {
    std::vector<std::pair<std::size_t, std::uint32_t>> steps;
    for (std::size_t axis = 0; axis < group_.num_digits(); ++axis) {
      if (const std::uint32_t step = group_.digit(move.shift, axis); step != 0) {
        steps.emplace_back(axis, step);
      }
    }
    for (GroupWalk from(group_); !from.done(); from.next()) {
      std::uint32_t to = from.element();
      for (const auto& [axis, step] : steps) {
        to += from.moved(axis, step) - from.element();
      }
      if (slot_link(from.element(), move.slot).dst != NodeId(to)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool leads_through_switch(const PatternMove& move) {
    const std::vector<bool>& same = same_switch(move);
    for (std::size_t axis = 0; axis < group_.num_digits(); ++axis) {
      if (group_.digit(move.shift, axis) != 0 && !same[axis]) {
        return false;
      }
    }
    return true;
  }

  /// Along which dimensions NPUs share the switch that both links lead to.
  const std::vector<bool>& same_switch(const PatternMove& move) {
    const auto [found, is_new] = same_switch_.try_emplace({move.slot, move.port});
    std::vector<bool>& same = found->second;
    if (!is_new) {
      return same;
    }
    same.assign(group_.num_digits(), true);
    for (GroupWalk at(group_); !at.done(); at.next()) {
      const NodeId up = slot_link(at.element(), move.slot).dst;
      const Link& down = topology_.link(LinkId(at.link(pattern_.ports[move.port])));
      for (std::size_t axis = 0; axis < same.size(); ++axis) {
        const std::uint32_t step = group_.lengths()[axis] == 1 ? 0 : 1;
        same[axis] =
            same[axis] && up == down.src && slot_link(at.moved(axis, step), move.slot).dst == up;
      }
    }
    return same;
  }

  struct Cost {
    Ticks slot_busy;
    Ticks head;
    Ticks port_busy;
    /// From start to arrival, for the largest chunks and for those a byte smaller.
    std::array<Ticks, 2> duration;
  };

  [[nodiscard]] Cost cost_of(const PatternMove& move) const {
    const Bytes largest = collective_.chunks().max_bytes();
    const Link& up = slot_link(0, move.slot);
    Cost cost{.slot_busy = link_cost(up, largest, model_).busy,
              .head = up.latency,
              .port_busy = {},
              .duration = {}};
    const Link* down = move.port == PatternMove::kNoPort
                           ? nullptr
                           : &topology_.link(LinkId(pattern_.ports[move.port].first));
    const Ticks latency =
        std::min(kMaxTime, up.latency + (down == nullptr ? Ticks{} : down->latency));
    if (down != nullptr) {
      cost.port_busy = link_cost(*down, largest, model_).busy;
    }
    for (std::size_t size = 0; size < cost.duration.size(); ++size) {
      const Bytes bytes{largest.count - static_cast<std::int64_t>(size)};
      Ticks slowest = serialization_time(bytes, up.bandwidth);
      if (down != nullptr) {
        slowest = std::max(slowest, serialization_time(bytes, down->bandwidth));
      }
      cost.duration[size] = std::min(kMaxTime, latency + slowest);
    }
    return cost;
  }

  /// Per chunk of an owner, whether some owner's is of the largest size.
  [[nodiscard]] std::vector<bool> some_largest() const {
    const ChunkTable& table = collective_.chunks();
    const bool equal = table.size().count % table.count() == 0;
    std::vector<bool> largest(chunks(), equal);
    for (std::uint32_t c = 0; c < table.count() && !equal; ++c) {
      if (table.bytes(ChunkId(c)) == table.max_bytes()) {
        largest[c % chunks()] = true;
      }
    }
    return largest;
  }

  /// When the last transfer ends.
  Ticks check_entries() {
    const std::vector<bool> largest = some_largest();
    arrived_.assign(std::size_t{group_.size()} * chunks(), kNever);
    if (collective_.reduces()) {
      last_arrival_.assign(arrived_.size(), {});
      sent_.assign(arrived_.size(), false);
      num_sent_.assign(chunks(), 0);
    } else {
      std::fill_n(arrived_.begin(), chunks(), Ticks{});
    }
    slot_free_.assign(pattern_.links_per_npu, {});
    port_free_.assign(pattern_.ports.size(), {});
    Ticks latest;
    for (std::size_t i = 0; i < pattern_.entries.size(); ++i) {
      const PatternEntry& entry = pattern_.entries[i];
      const Cost& cost = costs_[entry.move];
      if (cost.duration[0] > kMaxTime - entry.start) {
        refuse(i, [] { return fmt::format("ends after {} ps, the latest there is", kMaxTime.ps); });
        continue;
      }
      occupy(i, cost);
      const std::uint32_t to = group_.add(entry.from, pattern_.moves[entry.move].shift);
      const Ticks end = entry.start + cost.duration[0];
      if (entry.op == Op::kReduce) {
        reduce(i, to, end);
      } else {
        copy(i, to, end);
      }
      latest = std::max(latest, entry.start + cost.duration[largest[entry.chunk] ? 0 : 1]);
    }
    return latest;
  }

  void occupy(std::size_t index, const Cost& cost) {
    const PatternEntry& entry = pattern_.entries[index];
    const PatternMove& move = pattern_.moves[entry.move];
    if (slot_free_[move.slot] > entry.start) {
      refuse(index, [&] {
        return fmt::format("its links are busy until {} ps", slot_free_[move.slot].ps);
      });
    }
    slot_free_[move.slot] = std::max(slot_free_[move.slot], entry.start + cost.slot_busy);
    if (move.port == PatternMove::kNoPort) {
      return;
    }
    const Ticks head = entry.start + cost.head;
    if (port_free_[move.port] > head) {
      refuse(index, [&] {
        return fmt::format("the links to its receivers are busy until {} ps",
                           port_free_[move.port].ps);
      });
    }
    port_free_[move.port] = std::max(port_free_[move.port], head + cost.port_busy);
  }

  void reduce(std::size_t index, std::uint32_t to, Ticks end) {
    const PatternEntry& entry = pattern_.entries[index];
    if (!collective_.reduces()) {
      refuse(index, [&] {
        return fmt::format("{} copies, it does not add", to_string(collective_.chunk_kind()));
      });
      return;
    }
    const std::size_t at = place(entry.from, entry.chunk);
    if (entry.from == 0 || sent_[at]) {
      refuse(index, [] { return "a share would be counted twice"; });
    }
    if (last_arrival_[at] > entry.start) {
      refuse(index, [&] {
        return fmt::format("shares still arrive at the sender until {} ps", last_arrival_[at].ps);
      });
    }
    num_sent_[entry.chunk] += sent_[at] ? 0 : 1;
    sent_[at] = true;
    const std::size_t there = place(to, entry.chunk);
    if (sent_[there]) {
      refuse(index, [] { return "the receiver has already sent what it had"; });
    }
    last_arrival_[there] = std::max(last_arrival_[there], end);
  }

  void copy(std::size_t index, std::uint32_t to, Ticks end) {
    const PatternEntry& entry = pattern_.entries[index];
    if (collective_.chunk_kind() == CollectiveKind::kReduceScatter) {
      refuse(index, [] { return "reduce-scatter adds, it does not copy"; });
      return;
    }
    if (arrival(entry.from, entry.chunk) > entry.start) {
      refuse(index, [] { return "the sender does not hold the chunk at the start"; });
    }
    Ticks& arrived = arrived_[place(to, entry.chunk)];
    if (to == 0 || arrived != kNever) {
      refuse(index, [] { return "the receiver gets the chunk twice"; });
    }
    arrived = std::min(arrived, end);
  }

  /// When the complete chunk is at the element, as far as the entries until now say.
  [[nodiscard]] Ticks arrival(std::uint32_t element, std::uint32_t chunk) const {
    if (element != 0 || !collective_.reduces()) {
      return arrived_[place(element, chunk)];
    }
    return num_sent_[chunk] + 1 == group_.size() ? last_arrival_[chunk] : kNever;
  }

  /// Every element has, or has given away, every chunk.
  void check_complete() {
    for (std::uint32_t element = 1; element < group_.size(); ++element) {
      for (std::uint32_t chunk = 0; chunk < chunks(); ++chunk) {
        const std::size_t at = place(element, chunk);
        if (collective_.reduces() && !sent_[at]) {
          refuse([&] {
            return fmt::format(
                "the share {} away from the owner is missing in its chunk {}", element, chunk);
          });
        }
        if (collective_.chunk_kind() != CollectiveKind::kReduceScatter && arrived_[at] == kNever) {
          refuse([&] {
            return fmt::format(
                "chunk {} does not get to the NPU {} away from its owner", chunk, element);
          });
        }
      }
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  LinkModel model_;
  const Pattern& pattern_;
  Violations& violations_;
  MixedRadix group_;
  std::vector<Cost> costs_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<bool>> same_switch_;
  std::vector<Ticks> slot_free_;
  std::vector<Ticks> port_free_;
  /// By element and chunk, seen from the owner: when the complete chunk is there.
  std::vector<Ticks> arrived_;
  /// The same: when the last share has come, and whether the sum has been sent on.
  std::vector<Ticks> last_arrival_;
  std::vector<bool> sent_;
  /// By chunk: how many elements have sent.
  std::vector<std::uint32_t> num_sent_;
};

}  // namespace

bool proves_patterns_of(CollectiveKind kind) {
  return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter ||
         kind == CollectiveKind::kAllReduce;
}

PatternCounts prove_pattern(const Topology& topology,
                            const Collective& collective,
                            LinkModel model,
                            const Pattern& pattern,
                            Violations& violations) {
  return PatternProof(topology, collective, model, pattern, violations).run();
}

}  // namespace tacos
