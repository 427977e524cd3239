// SPDX-License-Identifier: MIT
// What the subcommands share: exit codes, output, measuring.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "tacos/error.h"

#include "base/parallel/team.h"
#include "base/stopwatch.h"
#include "cli/cli11.h"
#include "cli/terminal/streams.h"

namespace tacos::cli {

class Ranks;

enum class ExitCode : int {
  kGood = 0,
  kInternal = 1,
  kUsage = 2,
  kBadInput = 3,
  kInfeasible = 4,
  kVerificationFailed = 5,
};

/// Each adds its subcommand to the app; what runs stores its exit code in `code`.
/// Of a team, only the leader reports and writes files.
void add_synth_command(CLI::App& app, ExitCode& code, Team& team);
/// Null where the program is only described.
void add_probe_command(CLI::App& app, ExitCode& code, Ranks* ranks);
void add_run_command(CLI::App& app, ExitCode& code, Ranks* ranks);
void add_verify_command(CLI::App& app, ExitCode& code);
void add_bound_command(CLI::App& app, ExitCode& code);
void add_compare_command(CLI::App& app, ExitCode& code);
void add_draw_command(CLI::App& app, ExitCode& code);
void add_explain_command(CLI::App& app, ExitCode& code);
void add_export_command(CLI::App& app, ExitCode& code);
void add_plan_command(CLI::App& app, ExitCode& code);
void add_contingency_command(CLI::App& app, ExitCode& code);
void add_repair_command(CLI::App& app, ExitCode& code);
void add_resilience_command(CLI::App& app, ExitCode& code);
void add_simulate_command(CLI::App& app, ExitCode& code);
void add_topology_command(CLI::App& app, ExitCode& code);
void add_view_command(CLI::App& app, ExitCode& code);

[[nodiscard]] ExitCode exit_code(ErrorCode code);

/// Says what went wrong on stderr and returns the exit code for it.
ExitCode fail(const Error& error);

/// Two aligned columns, indented.
class Table {
 public:
  void add(std::string_view label, std::string value);
  void print(std::FILE* stream) const;

 private:
  std::vector<std::pair<std::string, std::string>> rows_;
};

/// Aligned columns under their names, which are the first row.
void print_columns(std::FILE* stream, const std::vector<std::vector<std::string>>& rows);

/// How many threads this machine runs at once, for work whose result does not depend on it.
[[nodiscard]] int all_cores();

/// The most memory that this process has used.
[[nodiscard]] std::size_t peak_rss_bytes();

}  // namespace tacos::cli
