// SPDX-License-Identifier: MIT
// How short the period of a packing could be: what decides which numbers of trees are tried.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synthesis/trees/fabric.h"

namespace tacos::trees {

/// No packing of `num_trees` trees has a shorter period (total capacity and single NPUs only).
class PeriodBound {
 public:
  PeriodBound(const Fabric& fabric, const ChannelCosts& costs);
  [[nodiscard]] std::int64_t operator()(std::uint32_t num_trees) const;
  /// Whether all channels cost the same.
  [[nodiscard]] bool uniform() const { return all_.size() == 1; }

 private:
  /// Channels that cost the same, for counting what fits into a period.
  struct Class {
    std::int64_t busy = 0;
    std::int64_t channels = 0;
  };
  [[nodiscard]] static std::int64_t shortest(std::span<const Class> classes, std::int64_t needed);
  static std::vector<Class> classify(std::vector<std::int64_t> busy);

  std::int64_t nodes_ = 0;
  std::vector<Class> all_;
  std::vector<Class> narrowest_in_;
  std::vector<Class> narrowest_out_;
};

}  // namespace tacos::trees
