// SPDX-License-Identifier: MIT
// Which commands each program has: for the programs themselves, and for what describes them.
#pragma once

#include "cli/app.h"

namespace tacos::cli {

[[nodiscard]] Program tacos_program(Team& team);
[[nodiscard]] Program tacos_mpi_program(Team& team);

}  // namespace tacos::cli
