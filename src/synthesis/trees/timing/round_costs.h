// SPDX-License-Identifier: MIT
// What a round of trees takes with chunks of any size, from few numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/topology.h"
#include "tacos/units.h"

#include "base/numbers/wide.h"
#include "synthesis/trees/packing/packing.h"
#include "synthesis/trees/timing/link_loads.h"

namespace tacos::trees {

/// Links that cost the same whatever the size of a chunk, and carry as much in a round.
struct LinkKind {
  Link link;
  LinkLoad load;
  std::int64_t links = 0;
};

/// Those that a packing uses.
[[nodiscard]] std::vector<LinkKind> link_kinds(const Topology& topology,
                                               const Fabric& fabric,
                                               const Packing& packing);
/// Whether they differ in what they carry only.
[[nodiscard]] bool all_alike(const std::vector<LinkKind>& kinds);

class RoundCosts {
 public:
  /// With up to `sharing` chunks in a transfer where they would not fit into the period of chunks
  /// of `bytes` otherwise.
  RoundCosts(const std::vector<LinkKind>& kinds,
             LinkModel model,
             std::uint32_t sharing,
             Bytes bytes);

  [[nodiscard]] std::int64_t period(Bytes bytes) const;
  /// Of all transfers together, each counted once for each of its chunks.
  [[nodiscard]] Int128 arrivals(Bytes bytes) const;

 private:
  /// What keeps a link busy longer than any other of its kind, for some size of chunks.
  struct Burden {
    Link link;
    LinkLoad load;
  };
  /// Chunks that cross links like this one, so many at a time.
  struct Crowd {
    Link link;
    std::uint32_t together = 1;
    std::int64_t chunks = 0;
  };
  void add_burden(const LinkKind& kind);
  void add_crowd(const Link& link, std::uint32_t together, std::int64_t chunks);

  LinkModel model_;
  std::uint32_t sharing_;
  std::vector<Burden> burdens_;
  std::vector<Crowd> crowds_;
};

}  // namespace tacos::trees
