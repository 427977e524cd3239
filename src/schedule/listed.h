// SPDX-License-Identifier: MIT
// Any schedule with its transfers one by one.
#pragma once

#include <cstdint>

#include "tacos/result.h"
#include "tacos/schedule.h"

namespace tacos {

/// The same transfers in blocks in memory, with the hash of those. A pattern is tied to the numbers
/// of the NPUs that it was made for; its transfers are not. Fails when memory has no room for them.
[[nodiscard]] Result<Schedule> listed(const Schedule& schedule, std::uint32_t num_links);

}  // namespace tacos
