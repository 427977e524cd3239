// SPDX-License-Identifier: MIT
// The same chunks of another buffer.
#pragma once

#include <string>

#include "tacos/collective.h"
#include "tacos/result.h"

namespace tacos {

/// In as many chunks; `option` is what asked for it. Fails where the buffer is too small for so
/// many, and for custom collectives, whose chunks have sizes of their own.
[[nodiscard]] Result<Collective> resized(const Collective& collective,
                                         Bytes size,
                                         const std::string& option = "--size");

}  // namespace tacos
