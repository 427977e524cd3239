// SPDX-License-Identifier: MIT
// Other sizes than the one that a schedule was made for.
#pragma once

#include <string>
#include <vector>

#include "tacos/collective.h"
#include "tacos/result.h"
#include "tacos/units.h"

namespace tacos::cli {

/// From `A..B`: A, 4 A, 16 A and so on, up to B.
[[nodiscard]] Result<std::vector<Bytes>> parse_sizes(const std::string& text);

/// The same collective, in as many chunks; `option` is what asked for it. Fails for custom ones,
/// whose chunks have sizes of their own.
[[nodiscard]] Result<Collective> resized(const Collective& collective,
                                         Bytes size,
                                         const std::string& option);

}  // namespace tacos::cli
