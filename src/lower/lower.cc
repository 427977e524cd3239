// SPDX-License-Identifier: MIT
#include "tacos/lower.h"

#include <utility>

#include <fmt/format.h>

#include "base/memory/room.h"
#include "lower/fifos.h"
#include "lower/lowering.h"

namespace tacos {

using lowering::Lowering;
using lowering::Scratch;

Result<Program> lower(const Topology& topology,
                      const Collective& collective,
                      const Schedule& schedule,
                      const LowerOptions& options) {
  if (options.in_place && !can_be_in_place(collective)) {
    return input_error(std::string(collective.name()) +
                       " cannot be done in place: what is received would overwrite what is still "
                       "to be sent; use --in-place no");
  }
  // Notes, two steps and what they wait for.
  const std::uint64_t needed = 96 * schedule.num_moves();
  if (Status fits = check_memory_room(
          needed, std::nullopt, "fewer chunks or a smaller network", topology.name());
      !fits) {
    return fits.error();
  }
  Lowering lowering(topology, collective, options);
  if (Status followed = lowering.follow(schedule); !followed) {
    return followed.error();
  }
  const auto ends = [&](const Program& program) {
    return lowering.fifos_suffice() || lowering::ends_with_fifos(program, options.fifo_slots);
  };
  Program program = lowering.write(options.in_place, Scratch::kReused);
  if (ends(program)) {
    return program;
  }
  // A loop knows how much scratch is enough.
  const Result<std::optional<Loop>> loop = lower_loop(topology, collective, schedule, options);
  if (loop && *loop) {
    return unroll(**loop);
  }
  program = lowering.write(options.in_place, Scratch::kOnce);
  if (ends(program)) {
    return program;
  }
  return input_error(fmt::format("a program of this schedule gets stuck with FIFOs of {} messages",
                                 options.fifo_slots),
                     topology.name());
}

Result<Runnable> lower_to_run(const Topology& topology,
                              const Collective& collective,
                              const Schedule& schedule,
                              const LowerOptions& options) {
  Result<std::optional<Loop>> loop = lower_loop(topology, collective, schedule, options);
  if (!loop) {
    return loop.error();
  }
  if (*loop) {
    Program first = first_round(**loop);
    return Runnable{.program = std::move(first), .loop = *std::move(loop)};
  }
  Result<Program> program = lower(topology, collective, schedule, options);
  if (!program) {
    return program.error();
  }
  return Runnable{.program = *std::move(program)};
}

}  // namespace tacos
