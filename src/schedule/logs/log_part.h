// SPDX-License-Identifier: MIT
// A log read as a schedule.
#pragma once

#include <cstdint>

#include "tacos/schedule.h"
#include "tacos/units.h"

#include "schedule/logs/window_log.h"

namespace tacos {

enum class LogOrder : std::uint8_t { kForwards, kBackwards };

/// Forwards, or from the last entry to the first.
///
/// Backwards is time reversal, which is exact on links: a transfer over [s, e) becomes one over
/// [E-e, E-s), where E is the end of the log, and what left after it came now comes before it
/// leaves.
struct LogPart {
  SharedLog log;
  LogOrder order = LogOrder::kForwards;
  Op op = Op::kCopy;
  /// When it begins.
  Ticks begin;
  /// How long a unit of the log's time is.
  Ticks unit;

  /// Of a time since the beginning.
  [[nodiscard]] Ticks at(LogTime time) const {
    return {begin.ps + unit.ps * static_cast<std::int64_t>(time)};
  }
  [[nodiscard]] Ticks end() const { return at(log->end()); }
};

}  // namespace tacos
