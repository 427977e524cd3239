// SPDX-License-Identifier: MIT
// XML for MSCCL (microsoft/msccl), for its executor in Azure's NCCL, and for RCCL.
#pragma once

#include <string>

#include "tacos/bundle.h"
#include "tacos/export.h"
#include "tacos/result.h"

namespace tacos::exporting {

[[nodiscard]] Result<std::string> msccl_text(const Bundle& bundle, const ExportOptions& options);
[[nodiscard]] Result<std::string> msccl_azure_text(const Bundle& bundle,
                                                   const ExportOptions& options);
[[nodiscard]] Result<std::string> rccl_text(const Bundle& bundle, const ExportOptions& options);

}  // namespace tacos::exporting
