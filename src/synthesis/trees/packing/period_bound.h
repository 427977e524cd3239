// SPDX-License-Identifier: MIT
// How short the period of a packing could be: what decides which numbers of trees are tried.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/topology.h"

#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/network/job.h"

namespace tacos::trees {

/// No packing of `num_trees` trees has a shorter period (total capacity, single NPUs, and of an
/// All-Reduce over direct links a few NPUs side by side).
class PeriodBound {
 public:
  PeriodBound(const Topology& topology, const Job& job, const HopCosts& costs);
  [[nodiscard]] std::int64_t operator()(std::uint32_t num_trees) const;
  /// Whether all links out of NPUs cost the same.
  [[nodiscard]] bool uniform() const { return all_.size() == 1; }

 private:
  /// Links that cost the same, for counting what fits into a period.
  struct Class {
    std::int64_t busy = 0;
    std::int64_t links = 0;
  };
  [[nodiscard]] static std::int64_t shortest(std::span<const Class> classes, std::int64_t needed);
  static std::vector<Class> classify(std::vector<std::int64_t> busy);

  /// Transfers per tree.
  std::int64_t edges_ = 0;
  /// Participants, where each is the root of as many trees as the others; else 0.
  std::int64_t owners_ = 0;
  Flow flow_ = Flow::kUpAndDown;
  std::vector<Class> all_;
  std::vector<Class> narrowest_in_;
  std::vector<Class> narrowest_out_;
  /// Of the links that touch a few NPUs; as many as there are.
  std::vector<Class> part_;
  std::int64_t part_npus_ = 0;
};

}  // namespace tacos::trees
