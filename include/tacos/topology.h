// SPDX-License-Identifier: MIT
// The network: NPUs and switches joined by directed links, immutable once built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tacos/ids.h"
#include "tacos/result.h"
#include "tacos/units.h"

namespace tacos {

/// A directed link. Parallel links between the same nodes are different links.
struct Link {
  NodeId src;
  NodeId dst;
  Bandwidth bandwidth;
  Ticks latency;
  /// What a transfer costs the link beyond its bytes, under `pipelined`: the g of LogGP.
  Ticks gap = {};

  friend bool operator==(const Link&, const Link&) = default;
};

/// Those of a network's links that work, in the order of their ids.
class WorkingLinks {
 public:
  class Iterator {
   public:
    // NOLINTBEGIN(readability-identifier-naming): names of the standard library.
    using iterator_category = std::forward_iterator_tag;
    using value_type = Link;
    using difference_type = std::ptrdiff_t;
    using pointer = const Link*;
    using reference = const Link&;
    // NOLINTEND(readability-identifier-naming)

    Iterator() = default;
    Iterator(std::span<const Link> all, const std::vector<bool>* failed, std::size_t at)
        : all_(all), failed_(failed), at_(at) {
      skip();
    }
    reference operator*() const { return all_[at_]; }
    pointer operator->() const { return &all_[at_]; }
    Iterator& operator++() {
      ++at_;
      skip();
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    void skip() {
      while (failed_ != nullptr && at_ < all_.size() && (*failed_)[at_]) {
        ++at_;
      }
    }
    std::span<const Link> all_;
    const std::vector<bool>* failed_ = nullptr;
    std::size_t at_ = 0;
  };

  /// `failed` by id, or empty when all work.
  WorkingLinks(std::span<const Link> all, const std::vector<bool>& failed)
      : all_(all), failed_(failed.empty() ? nullptr : &failed) {}
  [[nodiscard]] Iterator begin() const { return {all_, failed_, 0}; }
  [[nodiscard]] Iterator end() const { return {all_, failed_, all_.size()}; }

 private:
  std::span<const Link> all_;
  const std::vector<bool>* failed_ = nullptr;
};

/// How the NPUs along one dimension of a product are joined.
enum class Wiring {
  kLine,
  kRing,
  kFullyConnected,
  kSwitch,  ///< one switch per line; bandwidth per port and direction, latency from NPU to NPU
};

/// One factor of a product of networks.
struct Dimension {
  Wiring wiring = Wiring::kRing;
  std::uint32_t length = 0;
  Bandwidth bandwidth;
  Ticks latency;
  /// Of every link, on both sides of a switch.
  Ticks gap = {};

  friend bool operator==(const Dimension&, const Dimension&) = default;
};

/// NPUs have ids 0..num_npus()-1, switches follow. Links keep the order in which they were added,
/// and their ids when they fail.
class Topology {
 public:
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint32_t num_npus() const { return num_npus_; }
  [[nodiscard]] std::uint32_t num_switches() const { return num_switches_; }
  [[nodiscard]] std::uint32_t num_nodes() const { return num_npus_ + num_switches_; }
  /// How many ids links have, those that failed among them.
  [[nodiscard]] std::uint32_t num_links() const {
    return static_cast<std::uint32_t>(links_.size());
  }
  [[nodiscard]] std::uint32_t num_working_links() const {
    return static_cast<std::uint32_t>(out_.links.size());
  }
  [[nodiscard]] bool is_npu(NodeId node) const { return node.value() < num_npus_; }
  /// Whether NPUs pass messages on without storing them, as switches do, so that routes may go
  /// through them.
  [[nodiscard]] bool npus_forward() const { return npus_forward_; }
  /// Whether a route may go through the node.
  [[nodiscard]] bool forwards(NodeId node) const { return npus_forward_ || !is_npu(node); }
  /// The same network, whose NPUs do or do not.
  [[nodiscard]] Topology with_forwarding(bool npus_forward) const;

  [[nodiscard]] const Link& link(LinkId link) const { return links_[link.index()]; }
  /// Those that work.
  [[nodiscard]] WorkingLinks links() const { return {links_, failed_}; }
  /// By id.
  [[nodiscard]] std::span<const Link> all_links() const { return links_; }
  /// Whether the link has failed: it keeps its id and carries nothing.
  [[nodiscard]] bool failed(LinkId link) const { return !failed_.empty() && failed_[link.index()]; }
  /// Ascending ids of links that work.
  [[nodiscard]] std::span<const LinkId> out_links(NodeId node) const { return out_.of(node); }
  [[nodiscard]] std::span<const LinkId> in_links(NodeId node) const { return in_.of(node); }

  /// What people call a node; empty when nodes have no names.
  [[nodiscard]] std::string_view node_name(NodeId node) const {
    return node_names_.empty() ? std::string_view() : node_names_[node.index()];
  }
  /// By id, or none.
  [[nodiscard]] std::span<const std::string> node_names() const { return node_names_; }

  /// The dimensions that the network is said to be the product of, the first varying fastest in the
  /// NPU id; none when not known. A claim: has_product_structure compares it with the links.
  [[nodiscard]] std::span<const Dimension> dimensions() const { return dimensions_; }

  /// Every link turned round, under its old id. Not known to be a product any more.
  [[nodiscard]] Topology reversed() const;

  friend bool operator==(const Topology& a, const Topology& b) {
    return a.num_npus_ == b.num_npus_ && a.num_switches_ == b.num_switches_ &&
           a.links_ == b.links_ && a.failed_ == b.failed_;
  }

 private:
  friend class TopologyBuilder;
  struct Adjacency {
    std::vector<std::uint32_t> first;
    std::vector<LinkId> links;
    [[nodiscard]] std::span<const LinkId> of(NodeId node) const {
      return std::span(links).subspan(first[node.index()],
                                      first[node.index() + 1] - first[node.index()]);
    }
  };
  void index_links();

  std::string name_;
  std::uint32_t num_npus_ = 0;
  std::uint32_t num_switches_ = 0;
  bool npus_forward_ = false;
  std::vector<Link> links_;
  /// By id; empty when all work, so that a network without failures pays nothing for them.
  std::vector<bool> failed_;
  std::vector<Dimension> dimensions_;
  std::vector<std::string> node_names_;
  Adjacency out_;
  Adjacency in_;
};

/// Collects links, then checks the whole once.
class TopologyBuilder {
 public:
  TopologyBuilder(std::string name, std::uint32_t num_npus, std::uint32_t num_switches = 0);

  void reserve_links(std::size_t count) { topology_.links_.reserve(count); }
  /// Says that the links will be those of a product.
  void set_dimensions(std::vector<Dimension> dimensions) {
    topology_.dimensions_ = std::move(dimensions);
  }
  /// For every node, NPUs first, or none; with \xff and the like for bytes that are not UTF-8.
  void set_node_names(std::vector<std::string> names);
  void set_npus_forward(bool forward) { topology_.npus_forward_ = forward; }
  TopologyBuilder& add_link(Link link);
  /// One that has failed.
  TopologyBuilder& add_failed_link(Link link);
  /// Adds the link and its twin in the other direction.
  TopologyBuilder& add_both(Link link);
  /// Fails on a link to a node that does not exist, a loop, a bandwidth, latency or gap out of
  /// range, and on names that are not one for each node.
  [[nodiscard]] Result<Topology> build() &&;

 private:
  Topology topology_;
};

/// Upper limits: beyond them a network is a typing error, and 32-bit ids would not hold.
inline constexpr std::uint32_t kMaxNodes = 1U << 24U;
inline constexpr std::uint32_t kMaxLinks = 1U << 30U;
inline constexpr std::int64_t kMaxBytesPerSecond = 1'000'000'000'000'000'000;

/// A network with something broken. Nodes and links keep their ids.
struct DegradedTopology {
  Topology topology;
  /// Increasing; they have no links left.
  std::vector<NodeId> failed_npus;
};
/// Applies `link:3-4` (both directions, all parallel links), `link:3>4`, `npu:5` and
/// `slow:3-4=0.25` (or `3>4`; what is left of the bandwidth, rounded down, at least 1 byte per
/// second). The name says so.
[[nodiscard]] Result<DegradedTopology> apply_failures(Topology topology,
                                                      std::span<const std::string> failures);
/// The network in which only these NPUs, and switches, carry data: the links of others have failed.
[[nodiscard]] Topology without_relays(const Topology& topology, std::span<const NodeId> npus);

/// What a link is busy with while it carries a transfer.
enum class LinkModel {
  kHold,       ///< busy for latency + serialization (the paper)
  kPipelined,  ///< busy for gap + serialization; latency overlaps with the next transfer
};
[[nodiscard]] std::string_view to_string(LinkModel model);
/// For how long a transfer keeps the link busy beyond its bytes.
[[nodiscard]] inline Ticks overhead(const Link& link, LinkModel model) {
  return model == LinkModel::kHold ? link.latency : link.gap;
}

/// Bytes over bandwidth in picoseconds, rounded up; kMaxTime when it would be longer than that.
[[nodiscard]] Ticks serialization_time(Bytes bytes, Bandwidth bandwidth);

/// How long a transfer takes on one link.
struct LinkCost {
  Ticks busy;     ///< from the start until the link can take the next transfer
  Ticks arrival;  ///< from the start until the data is there
};
[[nodiscard]] LinkCost link_cost(const Link& link, Bytes bytes, LinkModel model);

/// From the start of a transfer over a link, or over a route through switches, to its arrival.
[[nodiscard]] Ticks route_time(const Topology& topology,
                               std::span<const LinkId> links,
                               Bytes bytes);

/// Fails when a chunk could take longer than kMaxCrossing to get from some node to another, or
/// `all` bytes over some link. O(links), near the limit O(links log nodes).
[[nodiscard]] Status check_times(const Topology& topology, Bytes chunk, Bytes all);

/// Per link its twin: an equal link the other way, whose twin it is in turn. Empty when one has
/// none. O(links log links).
[[nodiscard]] std::vector<LinkId> twin_links(const Topology& topology);

/// Whether dimensions are known and the links are exactly those of their product. O(links).
[[nodiscard]] bool has_product_structure(const Topology& topology);
/// Whether it is the product of rings, fully-connected and switch dimensions: adding to coordinates
/// modulo the lengths then maps links to equal links, so that every NPU sees the same. O(links).
[[nodiscard]] bool is_translation_symmetric(const Topology& topology);

/// A network from a spec such as `torus:8x8,bw=50GBps,lat=0.5us`, or from a topology file.
[[nodiscard]] Result<Topology> load_topology(const std::string& spec_or_file);
[[nodiscard]] Result<Topology> parse_topology_spec(std::string_view spec);
/// `where` names the text in errors.
[[nodiscard]] Result<Topology> parse_topology_json(std::string_view text, const std::string& where);
[[nodiscard]] std::string topology_to_json(const Topology& topology);
/// The same with `dimensions` in place of the links. Of a network that has_product_structure.
[[nodiscard]] std::string product_to_json(const Topology& topology);

/// One generator for people to read: its spec, what it makes.
struct TopologyKind {
  std::string_view name;
  std::string_view form;
  std::string_view description;
};
[[nodiscard]] std::span<const TopologyKind> topology_kinds();

}  // namespace tacos
