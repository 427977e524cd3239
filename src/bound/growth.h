// SPDX-License-Identifier: MIT
// How fast the number of NPUs grows that one can have heard of, when a port takes one message at a
// time.
#pragma once

#include <optional>

#include "bound/instance.h"

namespace tacos {

/// Whether it can say more than distances do, and is worth its time: where there are switches.
[[nodiscard]] bool ports_matter(const Topology& topology);

/// Nothing where some link has no latency, or under `pipelined` no gap. An instance that is forward
/// asks when the slowest has heard from all, a reversed one when all have heard from it.
[[nodiscard]] std::optional<Certificate> best_growth(const Instance& instance, LinkModel model);

}  // namespace tacos
