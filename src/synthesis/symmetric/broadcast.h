// SPDX-License-Identifier: MIT
// One broadcast on a group: the way that every NPU's chunks take, seen from their owner.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/units.h"

#include "synthesis/symmetric/moves.h"

namespace tacos::symmetric {

/// A chunk of the owner, sent from the NPU `from` away from it to the one `to` away.
struct BroadcastEntry {
  Ticks start;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t server = 0;
  std::uint32_t chunk = 0;
};

struct BroadcastTask {
  std::uint32_t elements = 1;
  std::span<const Way> ways;
  /// What each of them costs.
  std::span<const Server> servers;
  /// Chunks of the owner.
  std::uint32_t chunks = 1;
  /// A slow server may send a chunk to a neighbourhood that has it already when the fast servers
  /// there have more than this many quarters of its own period left to do.
  std::uint32_t backlog_quarters = 4;
  /// Who chooses first when several servers are free: all of them, each once.
  std::span<const std::uint32_t> order;
};

struct Broadcast {
  /// In order of start.
  std::vector<BroadcastEntry> entries;
  /// When the last chunk has arrived.
  Ticks end;
};

/// Every element but 0 gets every chunk once. Stops early, with an `end` of `give_up`, when it is
/// not done before then. Durations and `give_up` are at most kMaxTime.
[[nodiscard]] Broadcast make_broadcast(const BroadcastTask& task, Ticks give_up);

}  // namespace tacos::symmetric
