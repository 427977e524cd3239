// SPDX-License-Identifier: MIT
// BlueConnect: Cho, Finkler and Kung, "BlueConnect: decomposing all-reduce for deep learning on
// heterogeneous network hierarchy", MLSys 2019. Reduce-Scatter by rings along the first dimension,
// then the next, and All-Gather along them in the other order.
#include <algorithm>
#include <numeric>

#include "synthesis/baselines/grid.h"

namespace tacos::baselines {

Result<std::vector<Algorithm>> blueconnect(const Setup& setup) {
  const Result<Grid> grid = find_grid(setup);
  if (!grid) {
    return grid.error();
  }
  std::vector<std::uint32_t> order(grid->axes().size());
  std::iota(order.rbegin(), order.rend(), 0U);
  return std::vector<Algorithm>{{.gather = [grid = *grid, order](std::uint32_t piece) {
    return grid.gather(order, piece % 2 == 0, [](std::uint32_t) { return Style::kRing; });
  }}};
}

}  // namespace tacos::baselines
