// SPDX-License-Identifier: MIT
// The chunks of a gathered All-Reduce are, number by number and byte by byte, those of an
// All-Gather of N buffers, so engines make that and never know. Chunk p * C + c starts at
// participant p in both, since an All-Gather of N x S bytes with C chunks per participant cuts at c
// x S / C too.
#include "synthesis/gathering.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tacos/bound.h"

#include "base/numbers/wide.h"
#include "synthesis/common/deal.h"

namespace tacos {
namespace {

/// What the slowest to hear needs for the bytes of the others alone, however they come.
bool has_room(const Topology& topology, const Problem& problem, Ticks reached) {
  const Int128 bytes = Int128{problem.size.count} /
                       static_cast<std::int64_t>(problem.participants.size()) *
                       static_cast<std::int64_t>(problem.participants.size() - 1);
  return std::all_of(
      problem.participants.begin(), problem.participants.end(), [&](NodeId participant) {
        if (problem.root && *problem.root != participant) {
          return true;
        }
        Int128 bandwidth = 0;
        for (const LinkId id : topology.in_links(participant)) {
          bandwidth += topology.link(id).bandwidth.bytes_per_second;
        }
        return bytes * kPsPerSecond < bandwidth * reached.ps;
      });
}

}  // namespace

Result<Problem> contributions_of(const Problem& problem) {
  const auto kind = traits(problem.kind).gathered;
  const auto participants = static_cast<std::int64_t>(problem.participants.size());
  // It says what is wrong, if anything is.
  const Result<Collective> whole = Collective::make(problem.kind,
                                                    problem.size,
                                                    problem.chunks.value_or(1),
                                                    problem.participants,
                                                    problem.root,
                                                    CollectiveForm::kGathered);
  if (!whole) {
    return whole.error();
  }
  return Problem{.kind = *kind,
                 .size = Bytes{problem.size.count * participants},
                 .chunks = problem.chunks,
                 .participants = problem.participants,
                 .root = is_rooted(problem.kind) ? std::optional(whole->root()) : std::nullopt};
}

bool may_gather_within(const Topology& topology,
                       const Problem& problem,
                       LinkModel model,
                       Ticks reached) {
  const Result<Problem> contributions = contributions_of(problem);
  if (!contributions || !has_room(topology, *contributions, reached)) {
    return false;
  }
  const Result<Collective> collective = decided(*contributions, contributions->chunks.value_or(1));
  const Result<BoundReport> bound =
      collective ? compute_bounds(topology, *collective, {.link_model = model})
                 : Result<BoundReport>(collective.error());
  return bound && bound->best.time < reached;
}

Result<Synthesis> as_gathered(const Problem& problem, Synthesis made) {
  if (!made.collective) {
    return made;
  }
  Result<Collective> collective = Collective::make(problem.kind,
                                                   problem.size,
                                                   made.collective->chunk_argument(),
                                                   problem.participants,
                                                   problem.root,
                                                   CollectiveForm::kGathered);
  if (!collective) {
    return collective.error();
  }
  made.collective = *std::move(collective);
  return made;
}

}  // namespace tacos
