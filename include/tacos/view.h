// SPDX-License-Identifier: MIT
// A page that shows schedules: one HTML file, to be opened in any browser (docs/view.md).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tacos/bundle.h"
#include "tacos/result.h"

namespace tacos {

struct ViewOptions {
  /// A page holds up to so many moves of chunks one by one; of more it holds sums.
  std::uint64_t most_moves = 300'000;
  /// NPUs that are shown of a pattern with more moves than can be read.
  std::uint32_t most_pattern_npus = 1'024;
  /// Patterns of more moves are not read, but shown as one pattern.
  std::uint64_t most_read_moves = 200'000'000;
  /// Never changes the page.
  int threads = 1;
  /// Called now and then with the share of the work done, 0 to 1; may be empty.
  std::function<void(double)> progress = {};
};

/// One schedule, or two side by side on one clock, be they for the same network or not. Each must
/// have been verified. Fails when one cannot be read or simulated.
[[nodiscard]] Result<std::string> view_page(std::span<const Bundle> bundles,
                                            const ViewOptions& options = {});

}  // namespace tacos
