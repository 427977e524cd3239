// SPDX-License-Identifier: MIT
// A folder of files, written beside its name and put in its place when complete.
#pragma once

#include <span>
#include <string>

#include "tacos/export.h"
#include "tacos/result.h"

namespace tacos::exporting {

/// What is at `path` must be a folder or nothing, and is replaced as a whole.
[[nodiscard]] Status write_folder(const std::string& path, std::span<const ExportFile> files);

/// Renames a folder that is complete to `path`, and removes what was there.
[[nodiscard]] Status put_in_place(const std::string& fresh, const std::string& path);

}  // namespace tacos::exporting
