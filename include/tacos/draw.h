// SPDX-License-Identifier: MIT
// Pictures as SVG: the network, how busy its links are, and when.
#pragma once

#include <optional>
#include <string>

#include "tacos/bundle.h"
#include "tacos/result.h"
#include "tacos/topology.h"
#include "tacos/units.h"

namespace tacos {

struct DrawOptions {
  /// A proven bound on the collective time, to compare with; nothing is shown without it.
  std::optional<Ticks> bound = std::nullopt;
};

/// The network: the faster a link, the thicker; failed links are dashed.
[[nodiscard]] std::string draw_network(const Topology& topology);
/// The same, with links coloured by how much of the collective time they are busy. Fails when the
/// schedule cannot be read. Nothing is verified here. O(transfers).
[[nodiscard]] Result<std::string> draw_network(const Bundle& bundle,
                                               const DrawOptions& options = {});
/// Which link is busy when, the busiest first, and below it how many are. Rows and times are drawn
/// together where a picture has no room for each. O(transfers).
[[nodiscard]] Result<std::string> draw_timeline(const Bundle& bundle,
                                                const DrawOptions& options = {});

}  // namespace tacos
