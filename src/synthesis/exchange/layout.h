// SPDX-License-Identifier: MIT
// Participants as the elements of a group, so that "everybody sends to who is d further" says who
// sends to whom.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/topology.h"

#include "base/numbers/mixed_radix.h"
#include "synthesis/exchange/hops.h"

namespace tacos::exchange {

/// Where not all participants are alike they have roles, and an element is one of each: in a box
/// where some NPUs can only send to other boxes and some only receive, two.
struct Layout {
  /// Coordinates that are added each modulo its length, the first varying fastest.
  MixedRadix group;
  std::uint32_t roles = 1;
  /// By role and element: the number of a participant.
  std::vector<std::uint32_t> participant;

  /// How many elements differ in the first `axes` coordinates alone.
  [[nodiscard]] std::uint32_t num_within(std::size_t axes) const {
    return axes < group.num_digits() ? group.stride(axes) : group.size();
  }
};

/// Layouts worth a try: the dimensions of the network, boxes within boxes as far as those that a
/// message reaches sooner than others are equally many, and all in one line; without roles.
/// O(participants^2 x levels).
[[nodiscard]] std::vector<Layout> find_layouts(const Topology& topology, const Hops& hops);

/// The same, but that along the first coordinate only every `roles`-th is alike. Its length must be
/// a multiple.
[[nodiscard]] Layout with_roles(const Layout& layout, std::uint32_t roles);

}  // namespace tacos::exchange
