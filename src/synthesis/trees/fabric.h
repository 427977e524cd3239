// SPDX-License-Identifier: MIT
// The network as tree packing sees it: channels between NPUs, and what a chunk costs on each.
//
// A channel is what a tree edge can be made of. Today every channel is one direct link; a route
// through switches will be a channel of several links. Everything past this file knows channels
// only, except the recorder that writes their links into the schedule.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/ids.h"
#include "tacos/result.h"
#include "tacos/topology.h"
#include "tacos/units.h"

namespace tacos::trees {

/// No channel, node, tree or lane.
inline constexpr std::uint32_t kNone = 0xffffffffU;

class Fabric {
 public:
  /// Fails when direct links alone do not join all NPUs both ways.
  [[nodiscard]] static Result<Fabric> make(const Topology& topology);

  [[nodiscard]] std::uint32_t num_nodes() const { return num_nodes_; }
  [[nodiscard]] std::uint32_t num_channels() const {
    return static_cast<std::uint32_t>(source_.size());
  }
  [[nodiscard]] std::uint32_t source(std::uint32_t channel) const { return source_[channel]; }
  [[nodiscard]] std::uint32_t target(std::uint32_t channel) const { return target_[channel]; }
  [[nodiscard]] LinkId link(std::uint32_t channel) const { return link_[channel]; }
  /// Ascending channels.
  [[nodiscard]] std::span<const std::uint32_t> into(std::uint32_t node) const {
    return std::span(in_).subspan(in_first_[node], in_first_[node + 1] - in_first_[node]);
  }
  [[nodiscard]] std::span<const std::uint32_t> out_of(std::uint32_t node) const {
    return std::span(out_).subspan(out_first_[node], out_first_[node + 1] - out_first_[node]);
  }
  /// Whether every channel has a twin: an equal channel the other way, its twin in turn.
  [[nodiscard]] bool symmetric() const { return symmetric_; }
  [[nodiscard]] std::uint32_t twin(std::uint32_t channel) const { return twin_[channel]; }

 private:
  void index();
  void pair_twins(const Topology& topology);
  /// A node that `root` does not reach (or that does not reach it), or kNone.
  [[nodiscard]] std::uint32_t unreached(bool backwards) const;

  std::uint32_t num_nodes_ = 0;
  bool symmetric_ = false;
  std::vector<std::uint32_t> source_;
  std::vector<std::uint32_t> target_;
  std::vector<LinkId> link_;
  std::vector<std::uint32_t> twin_;
  std::vector<std::uint32_t> in_first_;
  std::vector<std::uint32_t> in_;
  std::vector<std::uint32_t> out_first_;
  std::vector<std::uint32_t> out_;
};

/// What a transfer of 1, 2, ... chunks of equal size costs on each channel, in picoseconds.
class ChannelCosts {
 public:
  ChannelCosts(const Topology& topology, const Fabric& fabric, Bytes bytes, LinkModel model);

  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] LinkModel model() const { return model_; }
  /// Of one chunk.
  [[nodiscard]] std::int64_t busy(std::uint32_t channel) const { return busy_[channel]; }
  [[nodiscard]] std::int64_t arrival(std::uint32_t channel) const { return arrival_[channel]; }
  [[nodiscard]] std::span<const std::int64_t> arrivals() const { return arrival_; }
  /// Of a chunk that is one byte smaller.
  [[nodiscard]] std::int64_t smaller_arrival(std::uint32_t channel) const {
    return link_cost(links_[channel], {bytes_.count - 1}, model_).arrival.ps;
  }
  /// Of `count` chunks in one transfer.
  [[nodiscard]] LinkCost of(std::uint32_t channel, std::uint32_t count) const;
  /// Least bandwidth of any channel, for what others may carry in its time.
  [[nodiscard]] std::int64_t bandwidth(std::uint32_t channel) const {
    return links_[channel].bandwidth.bytes_per_second;
  }
  [[nodiscard]] Ticks latency(std::uint32_t channel) const { return links_[channel].latency; }

 private:
  Bytes bytes_;
  LinkModel model_;
  std::vector<Link> links_;
  std::vector<std::int64_t> busy_;
  std::vector<std::int64_t> arrival_;
};

}  // namespace tacos::trees
