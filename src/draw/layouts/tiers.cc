// SPDX-License-Identifier: MIT
// Boxes and switches.
//
// Blocks grow from below. At first a block is what joined NPUs make without switches, or a box as
// the names of nodes say (`box1/gpu3`), or a single NPU. Then, again and again:
//
// - a switch that leads to one block alone goes above what is in it;
// - blocks that hang on the same switches become one, side by side, and then the switches that lead
//   nowhere else go above them.
//
// So leaves of NPUs become blocks, leaves below the same spines become one, pods of a fat-tree come
// between, and an InfiniBand switch ends up above its boxes, which are below their NVSwitches.
// Where nothing of that applies any more, blocks that only fast links join become one, and what is
// left is set side by side. A network that would end as many blocks without order gets no tiers.
//
// A round takes O(links log links), and there are about as many as levels of switches.
#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "base/csr.h"
#include "draw/layouts/layouts.h"
#include "topology/generators.h"

namespace tacos::draw {
namespace {

constexpr double kMargin = 0.55;
/// More room above, for a label.
constexpr double kLabel = 0.32;
constexpr double kLift = 1.25;
constexpr double kBetween = 0.5;
/// As many blocks may be left that nothing puts in order.
constexpr std::size_t kMostLeft = 12;

constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Block {
  std::vector<std::uint32_t> nodes;
  std::vector<Place> places;
  std::vector<Frame> frames;
  std::uint32_t npus = 0;
  std::string label;

  [[nodiscard]] Extents extents() const {
    Extents all;
    for (const Place& place : places) {
      all.add(place);
    }
    for (const Frame& frame : frames) {
      all.add(frame.low);
      all.add(frame.high);
    }
    return all;
  }
  void add(std::uint32_t node, Place place) {
    nodes.push_back(node);
    places.push_back(place);
  }
  /// Another block, moved by `offset`.
  void add(const Block& other, Place offset) {
    for (std::size_t i = 0; i < other.nodes.size(); ++i) {
      add(other.nodes[i], other.places[i] + offset);
    }
    for (Frame frame : other.frames) {
      frame.low = frame.low + offset;
      frame.high = frame.high + offset;
      frames.push_back(std::move(frame));
    }
    npus += other.npus;
  }
};

/// The root of a node in a forest that halves its paths.
std::uint32_t find_root(std::vector<std::uint32_t>& parent, std::uint32_t node) {
  while (parent[node] != node) {
    parent[node] = parent[parent[node]];
    node = parent[node];
  }
  return node;
}

class Tiers {
 public:
  explicit Tiers(const Topology& topology)
      : topology_(topology),
        block_of_(topology.num_nodes(), kNone),
        neighbours_(topology.num_nodes(), [&](const auto& add) {
          for (const Link& link : topology.all_links()) {
            add(link.src.index(), link.dst.value());
            add(link.dst.index(), link.src.value());
          }
        }) {}

  std::optional<Layout> make() {
    start();
    while (blocks_.size() > 1 || left_ > 0) {
      if (absorb() || merge_alike()) {
        continue;
      }
      if (join_by_speed()) {
        continue;
      }
      if (blocks_.size() > kMostLeft) {
        return std::nullopt;
      }
      blocks_.size() > 1 ? merge_rest() : put_above(0, switches_left());
    }
    return written();
  }

 private:
  void start() {
    std::vector<std::uint32_t> parent(topology_.num_nodes());
    std::iota(parent.begin(), parent.end(), 0U);
    const bool named = join_by_name(parent);
    for (const Link& link : topology_.all_links()) {
      if (!named && topology_.is_npu(link.src) && topology_.is_npu(link.dst)) {
        parent[find_root(parent, link.src.value())] = find_root(parent, link.dst.value());
      }
    }
    std::vector<std::uint32_t> number(topology_.num_nodes(), kNone);
    std::vector<std::vector<std::uint32_t>> members;
    for (std::uint32_t npu = 0; npu < topology_.num_npus(); ++npu) {
      const std::uint32_t root = find_root(parent, npu);
      if (number[root] == kNone) {
        number[root] = static_cast<std::uint32_t>(members.size());
        members.emplace_back();
      }
      members[number[root]].push_back(npu);
      block_of_[npu] = number[root];
    }
    left_ = topology_.num_switches();
    for (std::size_t i = 0; i < members.size(); ++i) {
      blocks_.push_back(block_of_npus(members[i]));
      if (named) {
        blocks_.back().label = prefix_of(NodeId(members[i].front()));
      }
    }
    for (std::uint32_t node = topology_.num_npus(); node < topology_.num_nodes() && named; ++node) {
      const std::uint32_t block = number[find_root(parent, node)];
      named_.push_back(block);
    }
    label_machines();
  }

  [[nodiscard]] std::string prefix_of(NodeId node) const {
    const std::string_view name = topology_.node_name(node);
    const std::size_t slash = name.rfind('/');
    return slash == std::string_view::npos ? std::string() : std::string(name.substr(0, slash));
  }

  /// Joins what is in one box by name; false when that makes no boxes.
  bool join_by_name(std::vector<std::uint32_t>& parent) const {
    std::vector<std::pair<std::string, std::uint32_t>> prefixes;
    for (std::uint32_t node = 0; node < topology_.num_nodes(); ++node) {
      std::string prefix = prefix_of(NodeId(node));
      if (prefix.empty() && topology_.is_npu(NodeId(node))) {
        return false;
      }
      if (!prefix.empty()) {
        prefixes.emplace_back(std::move(prefix), node);
      }
    }
    std::sort(prefixes.begin(), prefixes.end());
    if (prefixes.front().first == prefixes.back().first) {
      return false;
    }
    for (std::size_t i = 1; i < prefixes.size(); ++i) {
      if (prefixes[i].first == prefixes[i - 1].first) {
        parent[prefixes[i].second] = prefixes[i - 1].second;
      }
    }
    return true;
  }

  /// NPUs with the links between them, or in rows when they have none.
  [[nodiscard]] Block block_of_npus(const std::vector<std::uint32_t>& npus) const {
    Block block;
    block.npus = static_cast<std::uint32_t>(npus.size());
    std::vector<Place> places;
    if (npus.size() > 1) {
      places = inner_places(npus);
    } else {
      places.resize(1);
    }
    for (std::size_t i = 0; i < npus.size(); ++i) {
      block.add(npus[i], places[i]);
    }
    return block;
  }

  [[nodiscard]] std::vector<Place> inner_places(const std::vector<std::uint32_t>& npus) const {
    TopologyBuilder builder("", static_cast<std::uint32_t>(npus.size()));
    bool linked = false;
    for (std::uint32_t i = 0; i < npus.size(); ++i) {
      for (const std::uint32_t other : neighbours_[npus[i]]) {
        const auto found = std::lower_bound(npus.begin(), npus.end(), other);
        if (found != npus.end() && *found == other) {
          linked = true;
          builder.add_link({.src = NodeId(i),
                            .dst = NodeId(static_cast<std::uint32_t>(found - npus.begin())),
                            .bandwidth = {1},
                            .latency = {}});
        }
      }
    }
    if (!linked) {
      return staggered_rows(static_cast<std::uint32_t>(npus.size()));
    }
    // Every link was one already.
    const Topology inside = std::move(builder).build().value();
    const std::optional<Layout> circle = circle_layout(inside);
    return circle ? circle->nodes : stress_layout(inside).nodes;
  }

  /// Boxes of machines that can be bought have numbers.
  void label_machines() {
    const std::string_view name = topology_.name();
    per_box_ = npus_per_box(name.substr(0, name.find_first_of(": ")));
  }

  /// Blocks that a switch leads to, increasing; those of its own box by name, first of all.
  [[nodiscard]] std::vector<std::uint32_t> blocks_at(std::uint32_t node) const {
    std::vector<std::uint32_t> blocks;
    for (const std::uint32_t other : neighbours_[node]) {
      if (block_of_[other] != kNone) {
        blocks.push_back(block_of_[other]);
      }
    }
    std::sort(blocks.begin(), blocks.end());
    blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
    return blocks;
  }

  [[nodiscard]] std::uint32_t own_block(std::uint32_t node) const {
    return named_.empty() ? kNone : named_[node - topology_.num_npus()];
  }

  /// Switches that lead to one block alone, or belong to it by name.
  bool absorb() {
    std::vector<std::vector<std::uint32_t>> above(blocks_.size());
    bool any = false;
    for (std::uint32_t node = topology_.num_npus(); node < topology_.num_nodes(); ++node) {
      if (block_of_[node] != kNone) {
        continue;
      }
      const std::vector<std::uint32_t> blocks = blocks_at(node);
      const std::uint32_t own = own_block(node);
      const bool mine = own != kNone && std::binary_search(blocks.begin(), blocks.end(), own);
      if (blocks.size() == 1 || mine) {
        above[mine ? own : blocks.front()].push_back(node);
        any = true;
      }
    }
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
      put_above(block, above[block]);
    }
    return any;
  }

  void put_above(std::uint32_t number, const std::vector<std::uint32_t>& switches) {
    if (switches.empty()) {
      return;
    }
    Block& block = blocks_[number];
    std::vector<double> wanted;
    wanted.reserve(switches.size());
    const Extents below = block.extents();
    for (const std::uint32_t node : switches) {
      wanted.push_back(middle_of_neighbours(block, number, node, below));
    }
    const double lift = kLift + 0.1 * std::sqrt(below.width());
    const std::vector<Place> places = rows_above(below, lift, wanted);
    for (std::size_t i = 0; i < switches.size(); ++i) {
      block.add(switches[i], places[i]);
    }
    for (const std::uint32_t node : switches) {
      block_of_[node] = number;
      --left_;
    }
  }

  [[nodiscard]] double middle_of_neighbours(const Block& block,
                                            std::uint32_t number,
                                            std::uint32_t node,
                                            const Extents& below) {
    place_in_block_.resize(topology_.num_nodes());
    // Whole numbers of nodes are looked up often; the blocks hold them in any order.
    if (indexed_ != number || indexed_size_ != block.nodes.size()) {
      for (std::size_t i = 0; i < block.nodes.size(); ++i) {
        place_in_block_[block.nodes[i]] = block.places[i].x;
      }
      indexed_ = number;
      indexed_size_ = block.nodes.size();
    }
    double sum = 0;
    double count = 0;
    for (const std::uint32_t other : neighbours_[node]) {
      if (block_of_[other] == number) {
        sum += place_in_block_[other];
        ++count;
      }
    }
    return count > 0 ? sum / count : below.middle().x;
  }

  /// Blocks below the same switches become one.
  bool merge_alike() {
    std::vector<std::pair<std::vector<std::uint32_t>, std::uint32_t>> sets;
    sets.reserve(blocks_.size());
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
      std::vector<std::uint32_t> switches;
      for (const std::uint32_t node : blocks_[block].nodes) {
        for (const std::uint32_t other : neighbours_[node]) {
          if (block_of_[other] == kNone) {
            switches.push_back(other);
          }
        }
      }
      std::sort(switches.begin(), switches.end());
      switches.erase(std::unique(switches.begin(), switches.end()), switches.end());
      sets.emplace_back(std::move(switches), block);
    }
    std::sort(sets.begin(), sets.end());
    std::vector<std::uint32_t> group(blocks_.size(), kNone);
    bool any = false;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const bool same = i > 0 && sets[i].first == sets[i - 1].first && !sets[i].first.empty();
      group[sets[i].second] = same ? group[sets[i - 1].second] : sets[i].second;
      any = any || same;
    }
    if (any) {
      merge(group);
    }
    return any;
  }

  /// Blocks that are joined by the fastest links that join any, through switches too; once.
  bool join_by_speed() {
    if (by_speed_) {
      return false;
    }
    by_speed_ = true;
    std::vector<Bandwidth> speeds;
    for (const Link& link : topology_.all_links()) {
      speeds.push_back(link.bandwidth);
    }
    std::sort(speeds.begin(), speeds.end(), std::greater<>());
    speeds.erase(std::unique(speeds.begin(), speeds.end()), speeds.end());
    if (speeds.size() < 2) {
      return false;
    }
    std::vector<std::uint32_t> parent(topology_.num_nodes());
    std::iota(parent.begin(), parent.end(), 0U);
    for (const Link& link : topology_.all_links()) {
      if (link.bandwidth == speeds.front()) {
        parent[find_root(parent, link.src.value())] = find_root(parent, link.dst.value());
      }
    }
    std::vector<std::uint32_t> first(topology_.num_nodes(), kNone);
    std::vector<std::uint32_t> group(blocks_.size(), kNone);
    bool any = false;
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
      std::uint32_t& leader = first[find_root(parent, blocks_[block].nodes.front())];
      any = any || leader != kNone;
      leader = leader == kNone ? block : leader;
      group[block] = leader;
    }
    if (any) {
      merge(group);
    }
    return any;
  }

  /// Those that lead nowhere.
  [[nodiscard]] std::vector<std::uint32_t> switches_left() const {
    std::vector<std::uint32_t> switches;
    for (std::uint32_t node = topology_.num_npus(); node < topology_.num_nodes(); ++node) {
      if (block_of_[node] == kNone) {
        switches.push_back(node);
      }
    }
    return switches;
  }

  void merge_rest() { merge(std::vector<std::uint32_t>(blocks_.size(), 0)); }

  /// `group` names for each block the first one that it becomes one with.
  void merge(const std::vector<std::uint32_t>& group) {
    std::vector<std::vector<std::uint32_t>> members(blocks_.size());
    for (std::uint32_t block = 0; block < blocks_.size(); ++block) {
      members[group[block]].push_back(block);
    }
    std::vector<Block> merged;
    for (const std::vector<std::uint32_t>& some : members) {
      if (some.empty()) {
        continue;
      }
      const auto number = static_cast<std::uint32_t>(merged.size());
      merged.push_back(some.size() == 1 ? std::move(blocks_[some.front()]) : side_by_side(some));
      for (const std::uint32_t node : merged.back().nodes) {
        new_block_.emplace_back(node, number);
      }
    }
    for (const auto& [node, number] : new_block_) {
      block_of_[node] = number;
    }
    new_block_.clear();
    // Names were of blocks that are in others now.
    named_.clear();
    blocks_ = std::move(merged);
    indexed_ = kNone;
  }

  [[nodiscard]] Block side_by_side(const std::vector<std::uint32_t>& some) {
    Block all;
    const bool single = std::all_of(some.begin(), some.end(), [&](std::uint32_t block) {
      return blocks_[block].nodes.size() == 1;
    });
    if (single) {
      const std::vector<Place> places = staggered_rows(static_cast<std::uint32_t>(some.size()));
      for (std::size_t i = 0; i < some.size(); ++i) {
        all.add(blocks_[some[i]], places[i]);
      }
      return all;
    }
    double wide = 0;
    double high = 0;
    for (const std::uint32_t block : some) {
      put_frame(blocks_[block]);
      const Extents extents = blocks_[block].extents();
      wide = std::max(wide, extents.width() + kBetween);
      high = std::max(high, extents.height() + kBetween);
    }
    // Wide rows are better here than tall columns: switches come above.
    const std::uint32_t columns =
        columns_for(static_cast<std::uint32_t>(some.size()), wide, 1.6 * high);
    for (std::uint32_t i = 0; i < some.size(); ++i) {
      const Extents extents = blocks_[some[i]].extents();
      const Place corner{i % columns * wide, i / columns * high};
      // At the foot of its cell, in the middle.
      const Place offset{corner.x + (wide - extents.width()) / 2 - extents.low.x,
                         corner.y + high - extents.high.y};
      all.add(blocks_[some[i]], offset);
    }
    return all;
  }

  void put_frame(Block& block) {
    if (block.nodes.size() < 2) {
      return;
    }
    if (block.label.empty() && per_box_ > 0 && block.npus == per_box_) {
      const std::uint32_t least = *std::min_element(block.nodes.begin(), block.nodes.end());
      block.label = fmt::format("box {}", least / per_box_);
    }
    const Extents inside = block.extents();
    const double top = kMargin + (block.label.empty() ? 0 : kLabel);
    block.frames.insert(block.frames.begin(),
                        {.outline = Outline::kBox,
                         .low = inside.low - Place{kMargin, top},
                         .high = inside.high + Place{kMargin, kMargin},
                         .skew = 0,
                         .label = block.label});
    block.label.clear();
  }

  [[nodiscard]] std::optional<Layout> written() {
    Layout layout = blank_layout(topology_, "tiers");
    Block& all = blocks_.front();
    for (std::size_t i = 0; i < all.nodes.size(); ++i) {
      layout.nodes[all.nodes[i]] = all.places[i];
    }
    layout.frames = std::move(all.frames);
    find_frames(layout);
    return layout;
  }

  /// Frames come outer before inner, so that the last around a node is the innermost.
  void find_frames(Layout& layout) const {
    std::vector<std::uint32_t> order(topology_.num_nodes());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return layout.nodes[a].x < layout.nodes[b].x;
    });
    for (std::uint32_t number = 0; number < layout.frames.size(); ++number) {
      const Frame& frame = layout.frames[number];
      auto at = std::lower_bound(
          order.begin(), order.end(), frame.low.x, [&](std::uint32_t node, double x) {
            return layout.nodes[node].x < x;
          });
      for (; at != order.end() && layout.nodes[*at].x <= frame.high.x; ++at) {
        const Place place = layout.nodes[*at];
        if (place.y >= frame.low.y && place.y <= frame.high.y) {
          layout.frame_of[*at] = number;
        }
      }
    }
  }

  const Topology& topology_;
  std::vector<Block> blocks_;
  /// By node: the block that it is in so far.
  std::vector<std::uint32_t> block_of_;
  /// In either direction, by node.
  Csr<std::uint32_t> neighbours_;
  /// By switch: the block of its box, where names say so.
  std::vector<std::uint32_t> named_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> new_block_;
  /// Switches that are in no block yet.
  std::uint32_t left_ = 0;
  std::uint32_t per_box_ = 0;
  bool by_speed_ = false;
  std::vector<double> place_in_block_;
  std::uint32_t indexed_ = kNone;
  std::size_t indexed_size_ = 0;
};

}  // namespace

std::optional<Layout> tiers_layout(const Topology& topology) {
  const bool boxes =
      topology.num_npus() > 0 && topology.node_name(NodeId(0)).find('/') != std::string_view::npos;
  if (topology.num_switches() == 0 && !boxes) {
    return std::nullopt;
  }
  return Tiers(topology).make();
}

}  // namespace tacos::draw
