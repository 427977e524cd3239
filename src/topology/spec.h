// SPDX-License-Identifier: MIT
// A spec taken apart: what the functions behind its kinds are given.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tacos/result.h"
#include "tacos/topology.h"

namespace tacos {

/// KIND:NUMBERS, and the options after it.
struct Spec {
  std::string_view text;
  std::string_view kind;
  std::vector<std::uint32_t> numbers;
  std::span<const std::string_view> options;
};

/// Gives dimensions the links that `bw=` and `lat=` speak of; what they do not is left as it is.
[[nodiscard]] Status apply_options(std::span<const std::string_view> options,
                                   std::vector<Dimension>& dimensions);

/// Dimensions of the given lengths whose links the options describe, by default the paper's.
[[nodiscard]] Result<std::vector<Dimension>> make_levels(std::span<const std::uint32_t> lengths,
                                                         Wiring wiring,
                                                         std::span<const std::string_view> options);

}  // namespace tacos
