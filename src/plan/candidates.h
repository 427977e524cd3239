// SPDX-License-Identifier: MIT
// The best schedule for one size that its reader takes.
#pragma once

#include <optional>

#include "tacos/bundle.h"
#include "tacos/export.h"
#include "tacos/result.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"

namespace tacos::planning {

/// What schedules are for: anything, or the reader of a format.
struct Target {
  const ExportFormat* format = nullptr;
  ExportOptions options;
};

/// Fails, with kInternal, where the schedule is wrong.
[[nodiscard]] Status check(const Bundle& bundle);

/// Whether what NPUs do, in whatever time, makes the collective: then it does so at every size.
/// Fails, with kInternal, where not.
[[nodiscard]] Status check_without_times(const Bundle& bundle);

/// Synthesized, and verified.
[[nodiscard]] Result<Bundle> make_bundle(const Topology& topology,
                                         const Problem& problem,
                                         const SynthesisOptions& options);

/// Whether the target's reader takes it, or why not.
[[nodiscard]] Status takes(const Target& target, const Bundle& bundle);

/// The fastest of the chunk counts that were tried. Where what `auto` makes is refused, powers of
/// two are searched for the most chunks that are not, and then the other engines are asked; where
/// that does not help either, says why the first one was refused.
[[nodiscard]] Result<Bundle> best_bundle(const Topology& topology,
                                         const Problem& problem,
                                         const SynthesisOptions& options,
                                         const Target& target);

/// A schedule of the same collective by the same engine in fewer chunks, which the target takes; or
/// by another engine where that one has none. Nothing where there is none at all.
[[nodiscard]] Result<std::optional<Bundle>> smaller_bundle(const Bundle& bundle,
                                                           const Target& target);

/// What the schedule takes when its links keep their order and carry the chunks of another size, as
/// its program would; kNever where the buffer cannot be cut so.
[[nodiscard]] Result<Ticks> time_at(const Bundle& bundle, Bytes size);

}  // namespace tacos::planning
