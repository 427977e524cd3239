// SPDX-License-Identifier: MIT
// Recursive doubling, for small messages on networks rich enough to have it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tacos/chunk_table.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"
#include "tacos/units.h"

#include "synthesis/common/settling.h"
#include "synthesis/trees/network/fabric.h"

namespace tacos::trees {

/// log2(N) steps. In each, every NPU exchanges its sum of a chunk with the NPU whose id differs by
/// one of as many masks, all NPUs by the same one; different chunks take the masks in turn where
/// each has links of its own.
class Doubling {
 public:
  /// Nothing when the network does not have the links for it.
  [[nodiscard]] static std::optional<Doubling> find(const Topology& topology,
                                                    const Fabric& fabric,
                                                    LinkModel model);

  [[nodiscard]] std::uint32_t num_steps() const {
    return static_cast<std::uint32_t>(first_.size());
  }
  [[nodiscard]] const Topology& topology() const { return *topology_; }
  [[nodiscard]] const Fabric& fabric() const { return *fabric_; }
  /// After each step, until its links are free.
  [[nodiscard]] Ticks settling() const { return settling_; }
  /// From every NPU to that whose id differs by the mask of this number, the fastest masks first.
  [[nodiscard]] std::span<const std::uint32_t> hops_of(std::uint32_t mask) const {
    return std::span(hops_).subspan(first_[mask], topology_->num_npus());
  }
  [[nodiscard]] Ticks time(const ChunkTable& chunks) const;
  [[nodiscard]] Schedule record(const ChunkTable& chunks) const;

 private:
  Doubling(const Topology& topology, const Fabric& fabric, LinkModel model)
      : topology_(&topology), fabric_(&fabric), settling_(settling_time(topology, model)) {}
  bool add_mask(std::uint32_t mask);
  /// How many masks are in use at the same time.
  [[nodiscard]] std::uint32_t num_turns(const ChunkTable& chunks) const;
  /// Bytes of the chunks that begin with mask `turn`.
  [[nodiscard]] Bytes bytes(const ChunkTable& chunks, std::uint32_t turn) const;
  /// How long step `step` takes.
  [[nodiscard]] Ticks duration(const ChunkTable& chunks, std::uint32_t step) const;

  const Topology* topology_;
  const Fabric* fabric_;
  Ticks settling_;
  /// Per mask, one hop from every NPU.
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> hops_;
};

}  // namespace tacos::trees
