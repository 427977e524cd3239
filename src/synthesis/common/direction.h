// SPDX-License-Identifier: MIT
#pragma once

namespace tacos {

/// Which way data flows. A Reduce-Scatter is an All-Gather against the links, run backwards.
enum class Direction { kWithLinks, kAgainstLinks };

}  // namespace tacos
