// SPDX-License-Identifier: MIT
// A folder of schedules, and which of them serves a call: a plan with its index, or loose files.
//
// The answer follows from what all ranks of a call know: the collective, the root, who takes part,
// the bytes. So they all choose alike, without a word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tacos/collective.h"

#include "serve/loaded_schedule.h"

namespace tacos {

/// A schedule that may serve, read as far as needed to know for what.
struct ScheduleFile {
  std::string path;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  NodeId root;
  std::vector<NodeId> participants;
  /// The whole buffers that it is for, in bytes. What no index speaks of is for its own size, and
  /// for those that are nearer to it than to that of another.
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool others_too = false;
};

struct ScheduleFolder {
  std::vector<ScheduleFile> files;
  /// What cannot be used, a sentence each.
  std::vector<std::string> problems;
};

[[nodiscard]] ScheduleFolder read_schedule_folder(const std::string& directory);

/// What a schedule is looked for.
struct Wanted {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  /// Of collectives that have one.
  NodeId root;
  /// Increasing.
  std::span<const NodeId> participants;
  /// Of the whole buffer.
  std::int64_t bytes = 0;
};

/// Bytes of the whole buffer, as plans count them.
[[nodiscard]] std::int64_t whole_bytes(CollectiveKind kind,
                                       const LoadedSchedule::Call& call,
                                       std::size_t ranks);

/// Among the files; nothing where none fits.
[[nodiscard]] std::optional<std::size_t> best_file(std::span<const ScheduleFile> files,
                                                   const Wanted& wanted);

}  // namespace tacos
