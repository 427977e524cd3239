// SPDX-License-Identifier: MIT
// Which commands each program has: for the programs themselves, and for what describes them.
#pragma once

#include "cli/app.h"
#include "cli/ranks.h"

namespace tacos::cli {

[[nodiscard]] Program tacos_program(Team& team);
/// Without ranks to describe it only.
[[nodiscard]] Program tacos_mpi_program(Team& team, Ranks* ranks);

}  // namespace tacos::cli
