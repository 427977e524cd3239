// SPDX-License-Identifier: MIT
// From a network and a collective to a schedule.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

namespace tacos {

/// What to synthesize: a collective whose chunk count may still be open.
struct Problem {
  CollectiveKind kind = CollectiveKind::kAllGather;
  Bytes size;
  /// As on the command line (Collective::make); nothing lets the engine choose.
  std::optional<std::int64_t> chunks = std::nullopt;
  /// Increasing NPU ids.
  std::vector<NodeId> participants = {};
  /// For collectives that have one; nothing is the first participant.
  std::optional<NodeId> root = std::nullopt;
  /// The collective itself when `kind` is kCustom; its participants are those above.
  std::optional<Collective> custom = std::nullopt;
  /// Of sums; nothing lets `auto` choose, and is direct for a named engine.
  std::optional<CollectiveForm> form = std::nullopt;
};

/// The problem of a custom collective.
[[nodiscard]] inline Problem custom_problem(Collective collective) {
  Problem problem{
      .kind = CollectiveKind::kCustom,
      .size = collective.size(),
      .participants = {collective.participants().begin(), collective.participants().end()}};
  problem.custom = std::move(collective);
  return problem;
}

inline constexpr int kLeastEffort = 1;
inline constexpr int kMostEffort = 9;
inline constexpr int kDefaultEffort = 5;

struct SynthesisOptions {
  /// "auto" or the name of an engine.
  std::string engine = "auto";
  LinkModel link_model = LinkModel::kHold;
  std::uint64_t seed = 1;
  /// 1 returns the first good schedule, 9 tries all that ever paid; bounds work, never time. Those
  /// between are steps of what was measured to pay (docs/adr/0089).
  int effort = kDefaultEffort;
  /// Attempts with different random choices, the best kept; nothing chooses by size.
  std::optional<std::int64_t> trials = std::nullopt;
  /// Never changes the result.
  int threads = 1;
  /// What synthesis and the verification of its result may take; nothing asks the machine. A
  /// problem that needs more is refused before the work starts.
  std::optional<std::uint64_t> memory_bytes = std::nullopt;
  /// Where large schedules are kept while they are made and read, in files without names; empty: in
  /// memory.
  std::string stream_directory = {};
  /// Called now and then with the share of the work done, 0 to 1, by one thread at a time and with
  /// no less than before; may be empty.
  std::function<void(double)> progress = {};
  /// Once stop is requested, work ends soon, with kCancelled; from any thread.
  std::stop_token cancel = {};
};

enum class SynthesisStatus {
  kFeasible,
  kInfeasible,  ///< `unreachable` says why
};

struct Synthesis {
  SynthesisStatus status = SynthesisStatus::kFeasible;
  /// What was synthesized for, chunk count decided. Set when feasible.
  std::optional<Collective> collective;
  std::optional<Schedule> schedule;
  std::string engine;
  std::int64_t trials = 0;
  /// The engines that fit, in the order of trying.
  struct Comparison {
    std::string engine;
    CollectiveForm form = CollectiveForm::kDirect;
    /// What it reached, unless it was left out.
    Ticks collective_time = {};
    /// Not tried: it cannot be, or was never seen to be, better than what another had reached.
    bool left_out = false;
  };
  std::vector<Comparison> compared;
  /// (from, to): data of `from` cannot reach `to`.
  std::optional<std::pair<NodeId, NodeId>> unreachable;
};

[[nodiscard]] Result<Synthesis> synthesize(const Topology& topology,
                                           const Problem& problem,
                                           const SynthesisOptions& options = {});

/// Names that SynthesisOptions::engine takes, "auto" first.
[[nodiscard]] std::span<const std::string_view> engine_names();

/// Those of them that are algorithms from books, to compare with.
[[nodiscard]] std::span<const std::string_view> baseline_names();

/// Whether the engine can be asked for the problem; it may still find that the network does not
/// fit.
[[nodiscard]] bool engine_handles(std::string_view engine,
                                  const Topology& topology,
                                  const Problem& problem);

}  // namespace tacos
