// SPDX-License-Identifier: MIT
// Chakra execution traces that ASTRA-sim runs as a custom collective, and all files that it wants.
#pragma once

#include <string>
#include <vector>

#include "tacos/bundle.h"
#include "tacos/export.h"
#include "tacos/result.h"

namespace tacos::exporting {

[[nodiscard]] Result<std::vector<ExportFile>> chakra_files(const Bundle& bundle,
                                                           const ExportOptions& options);

}  // namespace tacos::exporting
