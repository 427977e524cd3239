// SPDX-License-Identifier: MIT
#include "cli/executables.h"

namespace tacos::cli {

Executable tacos_executable(Team& team) {
  return {.name = "tacos",
          .description = "Synthesizes collective communication algorithms for any network.",
          .add_commands = [&team](CLI::App& app, ExitCode& code) {
            add_synth_command(app, code, team);
            add_verify_command(app, code);
            add_bound_command(app, code);
            add_compare_command(app, code);
            add_simulate_command(app, code);
            add_explain_command(app, code);
            add_draw_command(app, code);
            add_export_command(app, code);
            add_view_command(app, code);
            add_plan_command(app, code);
            add_repair_command(app, code);
            add_contingency_command(app, code);
            add_resilience_command(app, code);
            add_topology_command(app, code);
          }};
}

Executable tacos_mpi_executable(Team& team, Ranks* ranks) {
  return {
      .name = "tacos-mpi",
      .description =
          "tacos by the processes that mpirun starts: synth, run and probe; all else is in tacos.",
      .add_commands = [&team, ranks](CLI::App& app, ExitCode& code) {
        add_synth_command(app, code, team);
        add_run_command(app, code, ranks);
        add_probe_command(app, code, ranks);
      }};
}

}  // namespace tacos::cli
