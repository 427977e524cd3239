// SPDX-License-Identifier: MIT
// Bytes as text that may stand anywhere.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tacos {

/// With padding, in one line.
[[nodiscard]] std::string to_base64(std::span<const std::byte> bytes);

}  // namespace tacos
