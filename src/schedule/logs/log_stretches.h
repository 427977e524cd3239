// SPDX-License-Identifier: MIT
// Logs read by several threads. Where they are in step each thread has some NPUs, and lists what
// comes to them step by step; otherwise pieces are put together as for a cursor.
//
// In step, no table of all links is put together, as a cursor needs to list transfers in the order
// of their links: strips are side by side in time, in any order within a step. O(1) for each
// transfer, and O(links) for each window and each step of it.
#pragma once

#include <memory>
#include <span>

#include "schedule/logs/log_part.h"
#include "schedule/stretches.h"

namespace tacos {

/// Of the NPUs whose entries are here. Stretches are cut by what all members of a team know. The
/// parts must live as long.
[[nodiscard]] std::unique_ptr<Stretches> make_log_stretches(std::span<const LogPart> parts,
                                                            int threads);

}  // namespace tacos
