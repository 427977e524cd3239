// SPDX-License-Identifier: MIT
// The network as tree packing sees it: hops between NPUs, and what a chunk costs on each.
//
// A hop is what a tree edge can be made of: a link, or a route of links through switches, which
// it shares with other hops. Hops that begin with the same link are neighbours in number:
// that link is their outlet, and an outlet carries one transfer at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/ids.h"
#include "tacos/result.h"
#include "tacos/topology.h"
#include "tacos/units.h"

#include "base/csr.h"
#include "synthesis/trees/network/job.h"
#include "synthesis/trees/network/routes.h"

namespace tacos::trees {

class Fabric {
 public:
  /// Fails when hops do not join all participants both ways.
  [[nodiscard]] static Result<Fabric> make(const Topology& topology, const Job& job);

  [[nodiscard]] std::uint32_t num_nodes() const { return num_nodes_; }
  [[nodiscard]] std::uint32_t num_links() const { return num_links_; }
  [[nodiscard]] std::uint32_t num_hops() const {
    return static_cast<std::uint32_t>(source_.size());
  }
  [[nodiscard]] std::uint32_t source(std::uint32_t hop) const { return source_[hop]; }
  [[nodiscard]] std::uint32_t target(std::uint32_t hop) const { return target_[hop]; }
  /// A hop's links, and their places in the list of the links of all hops.
  [[nodiscard]] std::span<const LinkId> links(std::uint32_t hop) const {
    return std::span(links_).subspan(first_place_[hop], first_place_[hop + 1] - first_place_[hop]);
  }
  [[nodiscard]] std::uint32_t first_place(std::uint32_t hop) const { return first_place_[hop]; }
  /// Whether every hop is a link of its own, and so an outlet.
  [[nodiscard]] bool direct() const { return direct_; }
  /// Whether every hop goes through switches.
  [[nodiscard]] bool switched() const { return switched_; }

  [[nodiscard]] std::uint32_t num_outlets() const {
    return static_cast<std::uint32_t>(first_hop_.size() - 1);
  }
  [[nodiscard]] std::uint32_t outlet(std::uint32_t hop) const { return outlet_[hop]; }
  /// Hops of an outlet: from its first to that of the next.
  [[nodiscard]] std::uint32_t first_hop(std::uint32_t outlet) const { return first_hop_[outlet]; }
  /// Ascending hops.
  [[nodiscard]] std::span<const std::uint32_t> into(std::uint32_t node) const { return in_[node]; }
  [[nodiscard]] std::span<const std::uint32_t> out_of(std::uint32_t node) const {
    return out_[node];
  }
  [[nodiscard]] std::span<const std::uint32_t> through(std::uint32_t link) const {
    return through_[link];
  }
  /// Of the hops through a link, each once; where there are switches.
  [[nodiscard]] std::span<const std::uint32_t> outlets_of(std::uint32_t link) const {
    return outlets_of_[link];
  }
  /// Whether every link and so every hop has a twin: an equal one the other way.
  [[nodiscard]] bool symmetric() const { return !twin_link_.empty(); }
  [[nodiscard]] std::uint32_t twin(std::uint32_t hop) const { return twin_[hop]; }
  [[nodiscard]] std::uint32_t twin_link(std::uint32_t link) const {
    return twin_link_[link].value();
  }

 private:
  void add(const Route& route);
  void index();
  /// A participant that the first does not reach (`backwards`: that does not reach it), or kNone.
  [[nodiscard]] std::uint32_t unreached(const Job& job, bool backwards) const;

  std::uint32_t num_nodes_ = 0;
  std::uint32_t num_links_ = 0;
  bool direct_ = true;
  bool switched_ = true;
  std::vector<std::uint32_t> source_;
  std::vector<std::uint32_t> target_;
  std::vector<std::uint32_t> twin_;
  std::vector<std::uint32_t> outlet_;
  std::vector<std::uint32_t> first_hop_;
  std::vector<std::uint32_t> first_place_{0};
  std::vector<LinkId> links_;
  std::vector<LinkId> twin_link_;
  /// Hops by node, and by link.
  Csr<std::uint32_t> in_;
  Csr<std::uint32_t> out_;
  Csr<std::uint32_t> through_;
  Csr<std::uint32_t> outlets_of_;
};

/// What a transfer of 1, 2, ... chunks of equal size costs on each hop, in picoseconds.
class HopCosts {
 public:
  HopCosts(const Topology& topology, const Fabric& fabric, Bytes bytes, LinkModel model);

  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] LinkModel model() const { return model_; }
  /// How long one chunk keeps a link busy.
  [[nodiscard]] std::int64_t busy(std::uint32_t link) const { return busy_[link]; }
  /// How long one chunk takes over a hop.
  [[nodiscard]] std::int64_t arrival(std::uint32_t hop) const { return arrival_[hop]; }
  [[nodiscard]] std::span<const std::int64_t> arrivals() const { return arrival_; }
  /// Of `count` chunks in one transfer.
  [[nodiscard]] std::int64_t arrival_of(std::uint32_t hop, std::uint32_t count) const;
  /// From the start of a transfer of `count` chunks until its n-th link is free again.
  [[nodiscard]] std::int64_t free_after(std::uint32_t hop,
                                        std::uint32_t n,
                                        std::uint32_t count) const;
  /// From the start of a transfer until its head is at the link with this place (first_place).
  [[nodiscard]] std::int64_t head_start(std::uint32_t place) const { return head_start_[place]; }
  /// Bytes per second of the slowest link.
  [[nodiscard]] std::int64_t bandwidth(std::uint32_t hop) const { return bandwidth_[hop]; }

 private:
  [[nodiscard]] Bytes bytes_of(std::uint32_t count) const;

  const Topology& topology_;
  const Fabric& fabric_;
  Bytes bytes_;
  LinkModel model_;
  std::vector<std::int64_t> busy_;
  std::vector<std::int64_t> arrival_;
  std::vector<std::int64_t> head_start_;
  std::vector<std::int64_t> bandwidth_;
};

}  // namespace tacos::trees
