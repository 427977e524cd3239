// SPDX-License-Identifier: MIT
// From a schedule to a program.
#pragma once

#include <cstdint>
#include <optional>

#include "tacos/collective.h"
#include "tacos/loop.h"
#include "tacos/program.h"
#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

namespace tacos {

struct LowerOptions {
  /// Whether input and output are the same memory; not every collective can be.
  bool in_place = false;
  /// Messages that a FIFO of the runtime takes. Scratch is reused as soon as it is free unless the
  /// program would get stuck with that.
  std::uint32_t fifo_slots = 2;
  /// Where several senders share a port into an NPU, it lets them in in the order of the schedule,
  /// by messages without data (StepKind::kGrant).
  bool credits = false;
};

/// What each NPU does to make the schedule. The order on links that leave an NPU is kept; steps
/// wait for exactly what their data need, and for nothing else. Fails when no order of steps could
/// do with the FIFOs.
[[nodiscard]] Result<Program> lower(const Topology& topology,
                                    const Collective& collective,
                                    const Schedule& schedule,
                                    const LowerOptions& options = {});

/// The same as a loop, of a schedule that is periodic: takes as long as one round, however many
/// there are. Nothing where the schedule is not, with credits, and where it is not plain that FIFOs
/// suffice.
[[nodiscard]] Result<std::optional<Loop>> lower_loop(const Topology& topology,
                                                     const Collective& collective,
                                                     const Schedule& schedule,
                                                     const LowerOptions& options = {});

/// What executors load.
struct Runnable {
  /// Of a loop, what its first round does.
  Program program;
  std::optional<Loop> loop = std::nullopt;
};
/// A loop where there is one, else a program.
[[nodiscard]] Result<Runnable> lower_to_run(const Topology& topology,
                                            const Collective& collective,
                                            const Schedule& schedule,
                                            const LowerOptions& options = {});

}  // namespace tacos
