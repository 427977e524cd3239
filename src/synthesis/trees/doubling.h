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

#include "synthesis/trees/fabric.h"

namespace tacos::trees {

/// log2(N) steps. In each, every NPU exchanges its sum of a chunk with the NPU whose id differs by
/// one of as many masks, all NPUs by the same one; different chunks take the masks in turn.
class Doubling {
 public:
  /// Nothing when the network does not have the links for it.
  [[nodiscard]] static std::optional<Doubling> find(const Topology& topology,
                                                    const Fabric& fabric,
                                                    LinkModel model);

  [[nodiscard]] std::uint32_t num_steps() const {
    return static_cast<std::uint32_t>(first_.size());
  }
  [[nodiscard]] Ticks time(const ChunkTable& chunks) const;
  [[nodiscard]] Schedule record(const ChunkTable& chunks) const;

 private:
  Doubling(const Topology& topology, LinkModel model) : topology_(&topology), model_(model) {}
  /// Bytes of the chunks that begin with mask `turn`.
  [[nodiscard]] Bytes bytes(const ChunkTable& chunks, std::uint32_t turn) const;
  /// How long step `step` takes.
  [[nodiscard]] Ticks duration(const ChunkTable& chunks, std::uint32_t step) const;
  [[nodiscard]] std::span<const LinkId> links_of(std::uint32_t mask) const {
    return std::span(links_).subspan(first_[mask], topology_->num_npus());
  }

  const Topology* topology_;
  LinkModel model_;
  /// Per mask, one link from every NPU.
  std::vector<std::uint32_t> first_;
  std::vector<LinkId> links_;
};

}  // namespace tacos::trees
