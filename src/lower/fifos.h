// SPDX-License-Identifier: MIT
// Whether a program comes to its end with short FIFOs.
#pragma once

#include <cstdint>

#include "tacos/program.h"

namespace tacos::lowering {

/// With so many messages in each. O(steps + dependencies).
[[nodiscard]] bool ends_with_fifos(const Program& program, std::uint32_t slots);

}  // namespace tacos::lowering
