// SPDX-License-Identifier: MIT
// A schedule with all that is needed to check and run it, and its file (docs/schedule-format.md).
#pragma once

#include <cstdint>
#include <functional>
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

struct WriteOptions {
  /// Never changes the bytes; more than one lets another thread read ahead.
  int threads = 1;
  /// Called now and then with the share of the work done, 0 to 1; may be empty.
  std::function<void(double)> progress = {};
};

/// Written beside `path` and renamed when complete; "-" is standard output. Refused at once when
/// the disk has too little room.
[[nodiscard]] Status write_bundle(const Bundle& bundle,
                                  const std::string& path,
                                  const WriteOptions& options = {});
/// Reads everything but the transfers, which stream from the file as cursors ask for them.
[[nodiscard]] Result<Bundle> read_bundle(const std::string& path);

/// One line per chunk moved, in start order: `start_ps end_ps src dst chunk copy|reduce links`.
[[nodiscard]] Status write_trace(const Bundle& bundle,
                                 const std::string& path,
                                 const WriteOptions& options = {});

}  // namespace tacos
