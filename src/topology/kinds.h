// SPDX-License-Identifier: MIT
// The kinds of network that a spec can name. A new one is a row in kinds.cc and the function that
// it names.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "tacos/result.h"
#include "tacos/topology.h"

#include "topology/spec.h"

namespace tacos {

/// How many numbers follow the colon, and what they are.
struct SpecNumbers {
  std::size_t least = 0;
  std::size_t most = 0;
  /// What a wrong number of them is told; empty where the function of the kind says it.
  std::string_view meaning;
};
inline constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

/// One of `block` and `network` is null.
struct SpecKind {
  TopologyKind shown;
  SpecNumbers numbers;
  /// As a factor of a product: its dimensions, bandwidth and latency still open.
  Result<std::vector<Dimension>> (*block)(const std::vector<std::uint32_t>& numbers);
  /// On its own.
  Result<Topology> (*network)(const Spec& spec);
};

/// Null when there is none of that name.
[[nodiscard]] const SpecKind* find_kind(std::string_view name);
/// The sentence about a name that is none.
[[nodiscard]] Error unknown_kind(std::string_view name);

}  // namespace tacos
