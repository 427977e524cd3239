// SPDX-License-Identifier: MIT
// Ctrl-C and friends: stop at once and leave no half-written file.
#pragma once

namespace tacos::cli {

/// From now on SIGINT, SIGTERM and SIGHUP remove what is half-written and exit with 128 and the
/// number of the signal; a file that grows beyond a limit is an error like a full disk.
void handle_interrupts();

}  // namespace tacos::cli
