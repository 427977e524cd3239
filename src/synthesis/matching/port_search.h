// SPDX-License-Identifier: MIT
// Which recipes of the port matcher are tried.
#pragma once

#include <cstdint>
#include <optional>

#include "tacos/result.h"
#include "tacos/topology.h"

#include "synthesis/common/engine.h"
#include "synthesis/matching/trials.h"

namespace tacos::matching {

/// What the search must know of a problem.
struct Shape {
  /// Whether there is one root.
  bool rooted = false;
  /// Whether latency is a good part of even the largest chunk's time.
  bool small_message = false;
  /// Whether a transfer of several chunks costs links less than one for each.
  bool sharing_pays = false;
  /// Whether it matters which Pace makes links fast or slow.
  bool paces_differ = false;
  int effort = kDefaultEffort;
  std::uint32_t phases = 1;
  /// Deliveries, in all phases, for each chunk of every part.
  std::uint64_t per_chunk = 0;
  /// As many bytes has a part: it cannot be cut into more chunks.
  std::int64_t part_bytes = 1;
  std::int64_t most_chunks = 64;
  /// The number of chunks if it is given.
  std::optional<std::int64_t> fixed = std::nullopt;
};

/// What others have reached, and what nobody can be much faster than.
struct Goal {
  std::optional<Ticks> beat;
  Ticks suffices;
};

[[nodiscard]] Status search_ports(const Shape& shape, const Goal& goal, Trials& trials);

}  // namespace tacos::matching
