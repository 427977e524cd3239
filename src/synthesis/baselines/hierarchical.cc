// SPDX-License-Identifier: MIT
// Hierarchical: what NCCL and RCCL do between boxes. Reduce-Scatter inside every box, All-Reduce
// among those that have the same place in their boxes, All-Gather inside every box.
#include <array>

#include "synthesis/baselines/grid.h"

namespace tacos::baselines {

Result<std::vector<Algorithm>> hierarchical(const Setup& setup) {
  const Result<Grid> grid = find_boxes(setup);
  if (!grid) {
    return input_error(
        "is for equal boxes of NPUs joined by slower links, which are not to be seen here");
  }
  std::vector<Algorithm> all;
  for (const Style inside : {Style::kDirect, Style::kRing}) {
    for (const Style between : {Style::kRing, Style::kDoubling}) {
      all.push_back({.gather = [grid = *grid, inside, between](std::uint32_t piece) {
        constexpr std::array<std::uint32_t, 2> kBetweenThenInside{1, 0};
        return grid.gather(kBetweenThenInside, piece % 2 == 0, [=](std::uint32_t axis) {
          return axis == 0 ? inside : between;
        });
      }});
    }
  }
  return all;
}

}  // namespace tacos::baselines
