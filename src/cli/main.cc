// SPDX-License-Identifier: MIT
// tacos: from a network and a collective to a verified schedule.
#include <exception>

#include "base/team.h"
#include "cli/app.h"
#include "cli/interrupt.h"
#include "cli/streams.h"

int main(int argc, char** argv) {
  using tacos::cli::ExitCode;
  tacos::cli::claim_standard_streams();
  tacos::cli::handle_interrupts();
  try {
    tacos::Alone alone;
    return static_cast<int>(tacos::cli::run(
        argc,
        argv,
        {.name = "tacos",
         .description = "Synthesizes collective communication algorithms for any network.",
         .add_commands = [&alone](CLI::App& app, ExitCode& code) {
           add_synth_command(app, code, alone);
           add_verify_command(app, code);
           add_bound_command(app, code);
           add_topology_command(app, code);
         }}));
  } catch (const std::exception& error) {
    return static_cast<int>(tacos::cli::fail(tacos::cli::error_of(error)));
  }
}
