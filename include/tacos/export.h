// SPDX-License-Identifier: MIT
// Schedules for the programs around us: runtimes, simulators, viewers (docs/export.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tacos/bundle.h"
#include "tacos/result.h"

namespace tacos {

/// What a runtime is told beside the program.
struct ExportOptions {
  /// Must match the call, or the runtime takes another algorithm.
  bool in_place = false;
  /// Simple, LL or LL128.
  std::string protocol = "Simple";
  /// Whether receivers keep the order of those who share a port (LowerOptions::credits).
  bool credits = false;
  /// Sizes of the whole buffer that the runtime is to use it for.
  std::uint64_t min_bytes = 0;
  std::uint64_t max_bytes = std::uint64_t{1} << 40U;
};

/// A file of an export that is a folder.
struct ExportFile {
  std::string name;
  std::string bytes;
  bool runs = false;
};

/// A format that can be written: as one text, or as several files in a folder.
struct ExportFormat {
  std::string_view name;
  /// For people, what reads it.
  std::string_view reader;
  Result<std::string> (*text)(const Bundle& bundle, const ExportOptions& options) = nullptr;
  Result<std::vector<ExportFile>> (*files)(const Bundle& bundle,
                                           const ExportOptions& options) = nullptr;
  /// What names of its files end in; a folder's in nothing.
  std::string_view suffix = {};
  /// Whether a runtime reads it, which takes programs of limited length.
  bool runtime = false;
  /// Whether it can say that a receiver keeps an order (ExportOptions::credits).
  bool credits = false;
};
/// All of them.
[[nodiscard]] std::span<const ExportFormat> export_formats();
/// By name, with "did you mean" on failure.
[[nodiscard]] Result<const ExportFormat*> find_export_format(std::string_view name);

/// Whether a format can say what the options ask for.
[[nodiscard]] Status check_options(const ExportFormat& format, const ExportOptions& options);

/// Written beside `path` and renamed when complete, a folder too; "-" is standard output. The
/// schedule must have been verified.
[[nodiscard]] Status export_schedule(const Bundle& bundle,
                                     const ExportFormat& format,
                                     const std::string& path,
                                     const ExportOptions& options = {});

}  // namespace tacos
