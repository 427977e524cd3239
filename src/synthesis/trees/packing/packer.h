// SPDX-License-Identifier: MIT
// Packs trees for one job again and again, and remembers what it has packed.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "tacos/topology.h"

#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/network/job.h"
#include "synthesis/trees/packing/packing.h"
#include "synthesis/trees/packing/period_bound.h"
#include "synthesis/trees/packing/roots.h"

namespace tacos::trees {

class Packer {
 public:
  Packer(const Topology& topology,
         const Fabric& fabric,
         const Job& job,
         Centre centre,
         std::uint64_t seed,
         int effort);

  [[nodiscard]] const Centre& centre() const { return centre_; }
  /// Whether trees that avoid loaded links from the beginning are worth their time.
  [[nodiscard]] bool grows() const { return grows_; }
  /// Whether a chunk costs the same on every hop, so that packings are the same whatever its size.
  [[nodiscard]] bool all_alike() const { return all_alike_; }

  /// So many trees, for `rounds` chunks on each.
  [[nodiscard]] Packing pack(std::uint32_t trees,
                             const HopCosts& costs,
                             const PeriodBound& bound,
                             std::uint32_t rounds,
                             Top top);

 private:
  /// Trees, rounds, top, and bytes of a chunk where those matter.
  using Key = std::tuple<std::uint32_t, std::uint32_t, Top, std::int64_t>;
  /// With the costs of the first link and hop that it was made for.
  struct PackedAt {
    Key key;
    Packing packing;
    std::int64_t busy = 0;
    std::int64_t arrival = 0;
  };

  const Fabric& fabric_;
  const Job& job_;
  Centre centre_;
  std::uint64_t seed_;
  bool grows_;
  bool all_alike_;
  /// Some hundreds.
  std::vector<PackedAt> packed_;
  /// What exchanges may still cost.
  std::int64_t work_;
};

}  // namespace tacos::trees
