// SPDX-License-Identifier: MIT
// The same chunks of another buffer.
#pragma once

#include "tacos/collective.h"
#include "tacos/result.h"

namespace tacos {

/// Fails where the buffer is too small for so many chunks, and for custom collectives, whose chunks
/// have sizes of their own.
[[nodiscard]] Result<Collective> resized(const Collective& collective, Bytes size);

}  // namespace tacos
