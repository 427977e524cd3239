// SPDX-License-Identifier: MIT
// Networks by name. A new kind is one row in generators.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tacos/result.h"
#include "tacos/topology.h"

namespace tacos {

/// How the NPUs along one dimension of a product are joined.
enum class Wiring { kLine, kRing, kFullyConnected };

struct Dimension {
  Wiring wiring = Wiring::kRing;
  std::uint32_t length = 0;
  Bandwidth bandwidth;
  Ticks latency;
};

/// Largest length of one dimension.
inline constexpr std::uint32_t kMaxLength = kMaxNodes;

/// The dimensions that `kind:dims` stands for, bandwidth and latency still open.
[[nodiscard]] Result<std::vector<Dimension>> block_dimensions(
    std::string_view kind, const std::vector<std::uint32_t>& dims);

/// The product of the dimensions; the first varies fastest in the NPU id.
[[nodiscard]] Result<Topology> make_product(std::string name,
                                            const std::vector<Dimension>& dimensions);

}  // namespace tacos
