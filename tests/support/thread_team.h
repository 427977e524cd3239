// SPDX-License-Identifier: MIT
// A team whose members are threads, so that what teams do can be tested without MPI.
#pragma once

#include <functional>

#include "base/parallel/team.h"

namespace tacos {

/// Calls `body` as each of `size` members, on a thread of its own; returns when all have.
void run_as_team(int size, const std::function<void(Team&)>& body);

}  // namespace tacos
