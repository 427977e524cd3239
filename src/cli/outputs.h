// SPDX-License-Identifier: MIT
// The files that a command writes beside its report, checked before there is work to lose.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "tacos/result.h"

namespace tacos::cli {

/// As on the command line; "-" is standard output.
struct Outputs {
  std::optional<std::string> schedule;
  std::optional<std::string> trace;
};

/// Fails when one of them cannot be written, or would mix with another or with what --json prints.
[[nodiscard]] Status check_outputs(const Outputs& outputs, bool json);

/// Where a report for people goes: stderr when standard output has the data.
[[nodiscard]] std::FILE* report_stream(const Outputs& outputs);

}  // namespace tacos::cli
