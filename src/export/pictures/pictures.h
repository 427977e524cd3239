// SPDX-License-Identifier: MIT
// Texts that programs for looking at things open.
#pragma once

#include <string>

#include "tacos/bundle.h"
#include "tacos/export.h"
#include "tacos/result.h"

namespace tacos::exporting {

/// A line for each chunk moved, with a head line.
[[nodiscard]] Result<std::string> csv_text(const Bundle& bundle, const ExportOptions& options);
/// The network with what each link carries.
[[nodiscard]] Result<std::string> graphml_text(const Bundle& bundle, const ExportOptions& options);
[[nodiscard]] Result<std::string> dot_text(const Bundle& bundle, const ExportOptions& options);
/// Chrome trace events: a track for each link and for each NPU.
[[nodiscard]] Result<std::string> perfetto_text(const Bundle& bundle, const ExportOptions& options);

}  // namespace tacos::exporting
