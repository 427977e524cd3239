// SPDX-License-Identifier: MIT
// The network as tree packing sees it: channels between NPUs, and what a chunk costs on each.
//
// A channel is what a tree edge can be made of: a link, or a route of links through switches, which
// it shares with other channels. Channels that begin with the same link are neighbours in number:
// that link is their port, and a port carries one transfer at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/ids.h"
#include "tacos/result.h"
#include "tacos/topology.h"
#include "tacos/units.h"

#include "synthesis/trees/job.h"
#include "synthesis/trees/routes.h"

namespace tacos::trees {

class Fabric {
 public:
  /// Fails when channels do not join all participants both ways.
  [[nodiscard]] static Result<Fabric> make(const Topology& topology, const Job& job);

  [[nodiscard]] std::uint32_t num_nodes() const { return num_nodes_; }
  [[nodiscard]] std::uint32_t num_links() const { return num_links_; }
  [[nodiscard]] std::uint32_t num_channels() const {
    return static_cast<std::uint32_t>(source_.size());
  }
  [[nodiscard]] std::uint32_t source(std::uint32_t channel) const { return source_[channel]; }
  [[nodiscard]] std::uint32_t target(std::uint32_t channel) const { return target_[channel]; }
  /// A channel's links, and their places in the list of the links of all channels.
  [[nodiscard]] std::span<const LinkId> links(std::uint32_t channel) const {
    return std::span(links_).subspan(first_place_[channel],
                                     first_place_[channel + 1] - first_place_[channel]);
  }
  [[nodiscard]] std::uint32_t first_place(std::uint32_t channel) const {
    return first_place_[channel];
  }
  /// Whether every channel is a link of its own, and so a port.
  [[nodiscard]] bool direct() const { return direct_; }

  [[nodiscard]] std::uint32_t num_ports() const {
    return static_cast<std::uint32_t>(first_channel_.size() - 1);
  }
  [[nodiscard]] std::uint32_t port(std::uint32_t channel) const { return port_[channel]; }
  /// Channels of a port: from its first to that of the next.
  [[nodiscard]] std::uint32_t first_channel(std::uint32_t port) const {
    return first_channel_[port];
  }
  /// Ascending channels.
  [[nodiscard]] std::span<const std::uint32_t> into(std::uint32_t node) const {
    return in_.of(node);
  }
  [[nodiscard]] std::span<const std::uint32_t> out_of(std::uint32_t node) const {
    return out_.of(node);
  }
  [[nodiscard]] std::span<const std::uint32_t> through(std::uint32_t link) const {
    return through_.of(link);
  }
  /// Whether every link and so every channel has a twin: an equal one the other way.
  [[nodiscard]] bool symmetric() const { return !twin_link_.empty(); }
  [[nodiscard]] std::uint32_t twin(std::uint32_t channel) const { return twin_[channel]; }
  [[nodiscard]] std::uint32_t twin_link(std::uint32_t link) const {
    return twin_link_[link].value();
  }

 private:
  /// Channels by something that has a number.
  struct Index {
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> channels;
    [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t number) const {
      return std::span(channels).subspan(first[number], first[number + 1] - first[number]);
    }
  };
  void add(const Route& route);
  void index();
  /// A participant that the first does not reach (`backwards`: that does not reach it), or kNone.
  [[nodiscard]] std::uint32_t unreached(const Job& job, bool backwards) const;

  std::uint32_t num_nodes_ = 0;
  std::uint32_t num_links_ = 0;
  bool direct_ = true;
  std::vector<std::uint32_t> source_;
  std::vector<std::uint32_t> target_;
  std::vector<std::uint32_t> twin_;
  std::vector<std::uint32_t> port_;
  std::vector<std::uint32_t> first_channel_;
  std::vector<std::uint32_t> first_place_{0};
  std::vector<LinkId> links_;
  std::vector<LinkId> twin_link_;
  Index in_;
  Index out_;
  Index through_;
};

/// What a transfer of 1, 2, ... chunks of equal size costs on each channel, in picoseconds.
class ChannelCosts {
 public:
  ChannelCosts(const Topology& topology, const Fabric& fabric, Bytes bytes, LinkModel model);

  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] LinkModel model() const { return model_; }
  /// How long one chunk keeps a link busy.
  [[nodiscard]] std::int64_t busy(std::uint32_t link) const { return busy_[link]; }
  /// How long one chunk takes over a channel.
  [[nodiscard]] std::int64_t arrival(std::uint32_t channel) const { return arrival_[channel]; }
  [[nodiscard]] std::span<const std::int64_t> arrivals() const { return arrival_; }
  /// Of `count` chunks in one transfer.
  [[nodiscard]] std::int64_t arrival_of(std::uint32_t channel, std::uint32_t count) const;
  /// From the start of a transfer of `count` chunks until its n-th link is free again.
  [[nodiscard]] std::int64_t free_after(std::uint32_t channel,
                                        std::uint32_t n,
                                        std::uint32_t count) const;
  /// From the start of a transfer until its head is at the link with this place (first_place).
  [[nodiscard]] std::int64_t head_start(std::uint32_t place) const { return head_start_[place]; }
  /// Bytes per second of the slowest link.
  [[nodiscard]] std::int64_t bandwidth(std::uint32_t channel) const { return bandwidth_[channel]; }

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
