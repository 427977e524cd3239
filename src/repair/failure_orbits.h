// SPDX-License-Identifier: MIT
// All single failures of a network, and which of them symmetries take to each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tacos/collective.h"
#include "tacos/topology.h"

#include "base/numbers/permutation.h"

namespace tacos::repairing {

/// Of one cable, or of an NPU: then both ends are the same.
struct SingleFailure {
  NodeId a;
  NodeId b;

  [[nodiscard]] std::string spec() const;
  friend auto operator<=>(const SingleFailure&, const SingleFailure&) = default;
};

/// Only symmetries count that keep the participants together and a root where it is; none of a
/// network that has failures already. O(failures x generators), beside the search for symmetries.
class FailureOrbits {
 public:
  FailureOrbits(const Topology& topology, const Collective& collective);

  /// Cables, then NPUs that take part or pass data on, by their ids.
  [[nodiscard]] const std::vector<SingleFailure>& all() const { return all_; }
  /// The first that is like it.
  [[nodiscard]] std::uint32_t representative(std::uint32_t failure) const {
    return representative_[failure];
  }
  /// Where the nodes go when the representative becomes the failure.
  [[nodiscard]] Permutation symmetry_to(std::uint32_t failure) const;
  [[nodiscard]] std::optional<std::uint32_t> find(const std::string& spec) const;

 private:
  [[nodiscard]] std::uint32_t image(std::uint32_t failure, const Permutation& nodes) const;

  std::uint32_t num_nodes_;
  std::vector<SingleFailure> all_;
  std::uint32_t num_cables_ = 0;
  std::vector<Permutation> generators_;
  std::vector<std::uint32_t> representative_;
  /// The failure that it was reached from, and by which generator.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> reached_by_;
};

}  // namespace tacos::repairing
