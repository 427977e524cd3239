// SPDX-License-Identifier: MIT
// What synth and bound are asked about: a collective among some NPUs of a network that may have
// failures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tacos/import.h"
#include "tacos/result.h"
#include "tacos/task.h"
#include "tacos/topology.h"

#include "cli/cli11.h"

namespace tacos::cli {

/// Whether an importer's doubts are told; of a team, only the leader's.
enum class Doubts { kTell, kKeep };

/// As on the command line.
struct TaskArguments {
  std::string topology;
  ImportOptions import;
  TaskWords words;
  std::vector<std::string> failures;
  Doubts doubts = Doubts::kTell;
};

/// Adds TOPOLOGY, --from, --latency, COLLECTIVE, --size, --group, --fail and --no-relay to a
/// command.
void add_task_options(CLI::App& command, TaskArguments& arguments);

/// Adds --fail, which may be repeated, to a command.
void add_fail_option(CLI::App& command, std::vector<std::string>& failures);
/// Says on stderr what an importer was not sure of.
[[nodiscard]] Result<DegradedTopology> load_degraded(const std::string& spec_or_file,
                                                     const std::vector<std::string>& failures,
                                                     const ImportOptions& import = {},
                                                     Doubts doubts = Doubts::kTell);

/// Adds --from and --latency, for files that other programs wrote.
void add_import_options(CLI::App& command, ImportOptions& import);

/// Adds --link-model to a command, `hold` or `pipelined`; what is there already is the default.
void add_link_model_option(CLI::App& command, std::string& value);
[[nodiscard]] LinkModel link_model_of(std::string_view name);

[[nodiscard]] Result<Task> load_task(const TaskArguments& arguments);

}  // namespace tacos::cli
