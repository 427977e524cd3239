// SPDX-License-Identifier: MIT
// Files for MSCCL++, which calls them execution plans, as its executor reads them since version
// 0.8.
#pragma once

#include <string>

#include "tacos/bundle.h"
#include "tacos/export.h"
#include "tacos/result.h"

namespace tacos::exporting {

[[nodiscard]] Result<std::string> mscclpp_text(const Bundle& bundle, const ExportOptions& options);

}  // namespace tacos::exporting
