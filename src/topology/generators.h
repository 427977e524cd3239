// SPDX-License-Identifier: MIT
// What makes networks: products of blocks (product.cc), some of them with a name (presets.cc),
// dragonflies (dragonfly.cc), trees of switches (fat_tree.cc) and machines that can be bought
// (machines.cc). Which spec names which is in kinds.cc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tacos/result.h"
#include "tacos/topology.h"

namespace tacos {

/// Fails when a network is larger than supported.
[[nodiscard]] Status check_counts(std::uint64_t nodes, std::uint64_t links);
/// Or than memory; to be asked before it is made.
[[nodiscard]] Status check_network_size(std::uint64_t nodes, std::uint64_t links);

/// Largest length of one dimension.
inline constexpr std::uint32_t kMaxLength = kMaxNodes;

/// The product of the dimensions; the first varies fastest in the NPU id. Switches follow the NPUs,
/// dimension by dimension, in the order of the smallest NPU on them.
[[nodiscard]] Result<Topology> make_product(std::string name,
                                            const std::vector<Dimension>& dimensions,
                                            std::vector<std::string> node_names = {});

/// The dimensions that a spec such as `torus:4x4,bw=50GBps` stands for; none when it is no spec of
/// a product. Nothing is built.
[[nodiscard]] std::vector<Dimension> product_dimensions(std::string_view spec);

/// `global.length` fully-connected groups of `local.length` NPUs, one link each way between every
/// two groups.
[[nodiscard]] Result<Topology> make_dragonfly(std::string name,
                                              const Dimension& local,
                                              const Dimension& global);

/// Of a product with a name, links included; `dims` are its lengths, or none for the usual ones.
[[nodiscard]] Result<std::vector<Dimension>> preset_dimensions(
    std::string_view kind, const std::vector<std::uint32_t>& dims);

/// `levels[1].length` leaves with `levels[0].length` NPUs, joined by the spines.
[[nodiscard]] Result<Topology> make_leaf_spine(std::string name,
                                               std::uint32_t spines,
                                               const std::vector<Dimension>& levels);
/// Of switches with `ports` ports. Three levels: NPU to edge, edge to aggregation, to core.
[[nodiscard]] Result<Topology> make_fat_tree(std::string name,
                                             std::uint32_t ports,
                                             const std::vector<Dimension>& levels);

/// The network without switches, each replaced by `degree` links from every port to the next ones.
/// Switches with fewer other ports get a link to each of them.
[[nodiscard]] Result<Topology> unwind(const Topology& topology, std::uint32_t degree);

/// A machine whose links are fixed. `dims` are the numbers after the colon, at most one: how many
/// boxes.
[[nodiscard]] Result<Topology> make_machine(std::string name,
                                            std::string_view kind,
                                            const std::vector<std::uint32_t>& dims);
/// NPUs in a box of such a machine; 0 when there is none of that kind.
[[nodiscard]] std::uint32_t npus_per_box(std::string_view kind);

/// Whether a TOPOLOGY on the command line is a file rather than a spec.
[[nodiscard]] bool names_topology_file(const std::string& spec_or_file);
/// Fails on a switch without a link, which only a mistake in a file can make.
[[nodiscard]] Status check_ports(const Topology& topology, const std::string& where);

}  // namespace tacos
