// SPDX-License-Identifier: MIT
// tacos: from a network and a collective to a verified schedule.
#include <exception>

#include "base/parallel/team.h"
#include "cli/app.h"
#include "cli/executables.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/streams.h"

int main(int argc, char** argv) {
  using tacos::cli::ExitCode;
  tacos::cli::claim_standard_streams();
  tacos::cli::handle_interrupts();
  try {
    tacos::Alone alone;
    return static_cast<int>(tacos::cli::run(argc, argv, tacos::cli::tacos_executable(alone)));
  } catch (const std::exception& error) {
    return static_cast<int>(tacos::cli::fail(tacos::cli::error_of(error)));
  }
}
