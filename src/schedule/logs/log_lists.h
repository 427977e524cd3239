// SPDX-License-Identifier: MIT
// Logs that are in step, read link by link.
//
// What a link brought is in the log of the NPU that it leads to, between what the others brought: a
// window has an entry of each link that works, then the next of each, and links only drop out. So
// between two who drop out a link's entries are equally far from each other, and it takes one
// addition to find the next. How many entries each link has in each window is unpacked first, and
// the numbers of an NPU are put next to each other: 2 bytes for each link and window, 0.2 GB for
// 40,000 NPUs.
//
// Cost: O(1) for a transfer, and for each link and window O(in-degree) to find where its entries
// are. Where many links lead to each NPU that is more work than the transfers themselves.
#pragma once

#include <memory>
#include <span>

#include "base/parallel/threads.h"
#include "schedule/link_lists.h"
#include "schedule/logs/log_part.h"

namespace tacos {

/// Null where the parts are not one log forwards, in step and whole. The parts must live as long.
[[nodiscard]] std::unique_ptr<LinkLists> make_log_lists(std::span<const LogPart> parts,
                                                        ThreadPool& pool);
/// Whether finding the links' entries is little work beside reading them.
[[nodiscard]] bool is_quick_by_link(const WindowLog& log);

}  // namespace tacos
