// SPDX-License-Identifier: MIT
// What must hold for every problem, tried on one.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "soak/case.h"

namespace tacos::soak {

/// A promise that a case breaks.
struct Finding {
  /// One of check_names().
  std::string check;
  /// One sentence, with numbers.
  std::string what;
  /// Commands that show it.
  std::vector<std::string> commands;
};

/// How much was looked at.
struct Tally {
  std::uint64_t cases = 0;
  std::uint64_t schedules = 0;
  std::uint64_t judged_by_reference = 0;
  std::uint64_t infeasible = 0;
};

struct JudgeOptions {
  /// Checks to leave out.
  std::set<std::string> without;
  /// How much slower `auto` may be than an engine, and `pipelined` than `hold`.
  double slack_percent = 1;
  /// For schedule files, which are removed again.
  std::string scratch;
};

[[nodiscard]] std::span<const std::string_view> check_names();

/// The first promise that is broken. The files of the case must be there.
[[nodiscard]] std::optional<Finding> judge(const Case& given,
                                           const JudgeOptions& options,
                                           Tally& tally);

}  // namespace tacos::soak
