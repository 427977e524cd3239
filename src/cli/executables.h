// SPDX-License-Identifier: MIT
// Which commands each program has: for the programs themselves, and for what describes them.
#pragma once

#include "cli/app.h"
#include "cli/ranks.h"

namespace tacos::cli {

[[nodiscard]] Executable tacos_executable(Team& team);
/// Without ranks to describe it only.
[[nodiscard]] Executable tacos_mpi_executable(Team& team, Ranks* ranks);

}  // namespace tacos::cli
