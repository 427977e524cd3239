// SPDX-License-Identifier: MIT
// Where every hop is a link: which resource a choice uses, and who uses a resource.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "synthesis/trees/packing/forest.h"

namespace tacos::trees {

/// Of all trees of one side.
class DirectUses {
 public:
  /// A node, and the choice by which it hangs over a resource.
  struct User {
    std::uint32_t node = 0;
    std::uint32_t choice = kNobody;
  };
  /// No choice of anybody; not kNone, which is what a root has.
  static constexpr std::uint32_t kNobody = kNone - 1;

  DirectUses(const Forest& forest, const Side& side) : users_(forest.num_resources()) {
    for (std::uint32_t node = 0; node < forest.num_nodes(); ++node) {
      for (std::uint32_t c = side.first[node]; c < side.first[node + 1]; ++c) {
        const std::uint32_t hop = side.choices[c].hop;
        const std::uint32_t used = forest.resources(hop).front();
        const bool is_twin = forest.fabric().links(hop).front().value() != used;
        resource_.push_back(used);
        users_[used][is_twin ? 1 : 0] = {.node = node, .choice = c};
      }
    }
  }

  [[nodiscard]] std::uint32_t resource(std::uint32_t choice) const { return resource_[choice]; }
  /// In an out-tree a hop hangs its target, in an in-tree its source; a pair of twins either.
  [[nodiscard]] const std::array<User, 2>& users(std::uint32_t resource) const {
    return users_[resource];
  }

 private:
  std::vector<std::uint32_t> resource_;
  std::vector<std::array<User, 2>> users_;
};

}  // namespace tacos::trees
