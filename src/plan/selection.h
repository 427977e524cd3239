// SPDX-License-Identifier: MIT
// Which schedules serve which sizes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tacos/bundle.h"
#include "tacos/result.h"
#include "tacos/units.h"

namespace tacos::planning {

/// A candidate, the sizes that it serves, and the points among them.
struct Choice {
  std::size_t candidate = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  Bytes least;
  Bytes most;
};

/// The i-th candidate was made for the i-th point; points increase. The choices follow each other
/// without gap.
[[nodiscard]] Result<std::vector<Choice>> select(std::span<const std::optional<Bundle>> candidates,
                                                 std::span<const Bytes> points);

}  // namespace tacos::planning
