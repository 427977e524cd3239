// SPDX-License-Identifier: MIT
// A schedule with all that is needed to check and run it, and its file (docs/schedule-format.md).
#pragma once

#include <cstdint>
#include <string>

#include "tacos/collective.h"
#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

namespace tacos {

struct Bundle {
  Topology topology;
  Collective collective;
  LinkModel link_model = LinkModel::kHold;
  Schedule schedule;
  /// What made it; for people.
  std::string engine;
  std::uint64_t seed = 0;
};

/// Written beside `path` and renamed when complete.
[[nodiscard]] Status write_bundle(const Bundle& bundle, const std::string& path);
/// Reads everything but the transfers, which stream from the file as cursors ask for them.
[[nodiscard]] Result<Bundle> read_bundle(const std::string& path);

/// One line per chunk moved, in start order: `start_ps end_ps src dst chunk copy|reduce links`.
[[nodiscard]] Status write_trace(const Bundle& bundle, const std::string& path);

}  // namespace tacos
