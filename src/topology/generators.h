// SPDX-License-Identifier: MIT
// Networks by name: products of blocks (product.cc), dragonflies (dragonfly.cc) and machines that
// can be bought (machines.cc). A new kind is one row in generators.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tacos/result.h"
#include "tacos/topology.h"

namespace tacos {

/// Largest length of one dimension.
inline constexpr std::uint32_t kMaxLength = kMaxNodes;

/// The dimensions that `kind:dims` stands for, bandwidth and latency still open.
[[nodiscard]] Result<std::vector<Dimension>> block_dimensions(
    std::string_view kind, const std::vector<std::uint32_t>& dims);

/// The product of the dimensions; the first varies fastest in the NPU id. Switches follow the NPUs,
/// dimension by dimension, in the order of the smallest NPU on them.
[[nodiscard]] Result<Topology> make_product(std::string name,
                                            const std::vector<Dimension>& dimensions);

/// The dimensions that a spec such as `torus:4x4,bw=50GBps` stands for; none when it is no spec of
/// a product. Nothing is built.
[[nodiscard]] std::vector<Dimension> product_dimensions(std::string_view spec);

/// `global.length` fully-connected groups of `local.length` NPUs, one link each way between every
/// two groups.
[[nodiscard]] Result<Topology> make_dragonfly(std::string name,
                                              const Dimension& local,
                                              const Dimension& global);

/// Whether `kind` is a machine whose links are fixed.
[[nodiscard]] bool is_machine(std::string_view kind);
/// `dims` are the numbers after the colon, at most one: how many boxes.
[[nodiscard]] Result<Topology> make_machine(std::string name,
                                            std::string_view kind,
                                            const std::vector<std::uint32_t>& dims);

}  // namespace tacos
