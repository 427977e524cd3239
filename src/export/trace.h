// SPDX-License-Identifier: MIT
// How long a trace is, before it is written.
#pragma once

#include <cstdint>

#include "tacos/bundle.h"
#include "tacos/result.h"

namespace tacos {

/// Never less than the bytes of the trace and hardly a quarter more: every number is taken for as
/// long as the longest of its kind. Where switches are joined to switches, routes are of many
/// lengths, and the schedule is read to count.
[[nodiscard]] Result<std::uint64_t> trace_bytes(const Bundle& bundle, int threads);

}  // namespace tacos
