// SPDX-License-Identifier: MIT
// Options of the commands that write for other programs.
#pragma once

#include <string>

#include "tacos/export.h"

#include "cli/cli11.h"

namespace tacos::cli {

/// As on the command line.
struct ExportArguments {
  std::string format;
  std::string in_place = "no";
  std::string protocol = "Simple";
  bool credits = false;
};

/// Adds --format, --in-place, --protocol and --credits; returns the first.
CLI::Option* add_export_options(CLI::App& command,
                                ExportArguments& arguments,
                                const std::string& description);

[[nodiscard]] ExportOptions export_options(const ExportArguments& arguments);

}  // namespace tacos::cli
