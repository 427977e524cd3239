// SPDX-License-Identifier: MIT
// A schedule that a command has come by, and all that is done with it: verify, bound, write,
// report.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tacos/bound.h"
#include "tacos/bundle.h"
#include "tacos/synthesize.h"

#include "base/parallel/team.h"
#include "cli/command.h"
#include "cli/outputs.h"
#include "cli/report.h"

namespace tacos::cli {

/// Everything that a report speaks of.
struct Outcome {
  Bundle bundle;
  std::int64_t trials = 0;
  std::vector<Synthesis::Comparison> compared;
  int threads = 1;
  int effort = 5;
  double synthesis_seconds = 0;
  BoundReport bound = {};
  double bound_seconds = 0;
  double verify_seconds = 0;
  /// Where the hash was asked for by itself, not on the way to something else.
  std::optional<double> hash_seconds = {};
  bool verified = false;
  /// The most that one NPU needs beside input and output.
  Bytes scratch = {};
  /// Of each process, when there are several: the most memory that it has used for synthesis.
  std::vector<std::size_t> peaks;

  /// The bound for whole chunks, where every one has a transfer of its own and it says more.
  [[nodiscard]] std::optional<Ticks> chunk_bound() const {
    return chunks_count(bundle, bound) ? std::optional(bound.chunk_count->time) : std::nullopt;
  }
  /// Bytes of the buffer per time, in GB/s.
  [[nodiscard]] double algbw() const {
    const double us = to_us(bundle.schedule.collective_time());
    return us == 0 ? 0 : static_cast<double>(bundle.collective.size().count) * 1e-3 / us;
  }
  [[nodiscard]] double busbw() const { return algbw() * bundle.collective.bus_factor(); }
  /// 1 when nothing has to move.
  [[nodiscard]] double efficiency() const {
    const Ticks time = bundle.schedule.collective_time();
    return time.ps == 0 ? 1
                        : static_cast<double>(bound.best.time.ps) / static_cast<double>(time.ps);
  }
};

/// What a synthesis for a network has made; fails where it made nothing.
[[nodiscard]] Result<Outcome> outcome_of(const Topology& topology,
                                         Result<Synthesis> synthesis,
                                         const SynthesisOptions& options,
                                         double seconds);

/// Fails when a schedule is faster than its bound says it can be.
[[nodiscard]] Status check_bound(const Outcome& outcome);

/// The normative keys of docs and scripts.
[[nodiscard]] Json to_json(const Outcome& outcome);

/// The result in one line, then a table.
void print_text(const Outcome& outcome, const Outputs& outputs);

/// Replays the schedule, by all members of the team; what is wrong is said, and the exit code is
/// good only when nothing is.
[[nodiscard]] ExitCode verify_outcome(Outcome& outcome, Team& team);

/// Bounds, hashes and writes what was verified.
[[nodiscard]] Status complete(Outcome& outcome, const Outputs& outputs);

/// The same, and reports.
[[nodiscard]] ExitCode finish(Outcome& outcome, const Outputs& outputs, bool json);

}  // namespace tacos::cli
