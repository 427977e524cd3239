// SPDX-License-Identifier: MIT
// Judges a copying schedule NPU by NPU, where it can be read link by link.
#pragma once

#include <optional>

#include "tacos/collective.h"
#include "tacos/verify.h"

#include "base/parallel/threads.h"
#include "schedule/link_lists.h"
#include "verify/in_order.h"
#include "verify/wire_table.h"

namespace tacos {

/// What was counted when everything is right. Nothing when something is not, or could not be told:
/// replay_in_order says what.
[[nodiscard]] std::optional<Counts> check_by_link(const WireTable& table,
                                                  const Collective& collective,
                                                  const LinkLists& lists,
                                                  const VerifyOptions& options,
                                                  ThreadPool& pool);

}  // namespace tacos
