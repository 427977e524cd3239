// SPDX-License-Identifier: MIT
// What a schedule's time is made of, seen from the links that limit it, and what would help.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tacos/bound.h"
#include "tacos/bundle.h"
#include "tacos/result.h"

namespace tacos {

/// Averages over the links of the bandwidth bound's certificate, each counted by its bandwidth. The
/// parts add up to the time of the schedule: the bound is what these links would take if they were
/// never idle and carried nothing in vain.
struct Losses {
  Ticks bound;
  /// Before the first and after the last transfer over a link.
  Ticks fill;
  Ticks drain;
  /// Between two transfers: the next one's data was not there yet.
  Ticks waiting;
  /// While a link is kept busy by more than bytes: under `hold` its latency, else its gap.
  Ticks latency;
  /// What crossed beyond what has to, and rounding.
  Ticks extra;
  /// How many links limit, and how many of them carry nothing.
  std::size_t links = 0;
  std::size_t unused = 0;
};

/// A change to the network or the problem, and what it leads to.
struct Remedy {
  std::string what;
  Ticks bound;
  /// Of what `auto` makes, where that was tried.
  std::optional<Ticks> time;
};

struct Explanation {
  BoundReport bound;
  Losses losses;
  /// Faster links: what the bound becomes, the most useful first.
  std::vector<Remedy> links;
  /// Another size, or the number of chunks left open.
  std::vector<Remedy> problems;
};

struct ExplainOptions {
  /// Never changes the result.
  int threads = 1;
  /// Once stop is requested, work ends soon, with kCancelled; from any thread.
  std::stop_token cancel = {};
};

/// Fails when the schedule cannot be read. Whatever it says is computed: bounds of changed
/// networks, schedules for other sizes (up to 128 NPUs).
[[nodiscard]] Result<Explanation> explain_schedule(const Bundle& bundle,
                                                   const ExplainOptions& options = {});

}  // namespace tacos
