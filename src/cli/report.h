// SPDX-License-Identifier: MIT
// The parts of a report that several subcommands print.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tacos/bound.h"
#include "tacos/bundle.h"
#include "tacos/collective.h"
#include "tacos/topology.h"
#include "tacos/verify.h"

#include "base/parallel/team.h"
#include "cli/command.h"

namespace tacos::cli {

using Json = nlohmann::ordered_json;

/// A collective on a network, chunk count included.
[[nodiscard]] Json problem_json(const Topology& topology, const Collective& collective);

/// On standard output. What is not UTF-8, such as the name of a file, has replacement characters.
void print_object(const Json& json);

/// What bounds are asked beside a schedule.
[[nodiscard]] BoundOptions bound_options(const Bundle& bundle);

/// Adds bound_us, bound_name, bandwidth_bound_us, bound_exact.
void add_bound(Json& json, const BoundReport& report);

/// Whether the chunks of a schedule allow less than the bound: each has a transfer of its own, and
/// whole chunks take notably longer.
[[nodiscard]] bool chunks_count(const Bundle& bundle, const BoundReport& bound);

/// "all-gather" or "broadcast:3".
[[nodiscard]] std::string collective_text(const Collective& collective);

/// Replays the schedule, with a line of progress.
[[nodiscard]] Result<VerifyReport> verify_with_progress(const Bundle& bundle, int threads);
/// By all members of a team, each with what it holds of the schedule; all get the same report.
[[nodiscard]] Result<VerifyReport> verify_with_progress(const Bundle& bundle,
                                                        int threads,
                                                        Team& team);

/// Says what is wrong with a schedule from a file that is not correct: nobody could run it.
[[nodiscard]] ExitCode check_schedule(const std::string& file, const Bundle& bundle, int threads);

/// The participants when nobody is left out.
[[nodiscard]] std::vector<NodeId> all_npus(const Topology& topology);

}  // namespace tacos::cli
