// SPDX-License-Identifier: MIT
#include "verify/slices.h"

namespace tacos {

void LinkSlice::replay(const Bucket& bucket, const Bucket::Run& run) {
  const auto occupy = [&](const Passage& passage) {
    traffic_.occupy(
        passage, {.start = run.start, .op = run.op, .links = {&passage.link, 1}, .chunks = {}}, 0);
  };
  if (run.kind == Bucket::Kind::kPassages) {
    for (const Passage& passage : std::span(bucket.passages).subspan(run.first, run.count)) {
      occupy(passage);
    }
    return;
  }
  for (const Bucket::Use& use : std::span(bucket.uses).subspan(run.first, run.count)) {
    if (!traffic_.occupy_simple(run.start, use.link, times_[use.busy])) {
      occupy({.link = use.link, .first = true, .at = run.start, .busy = times_[use.busy]});
    }
  }
}

}  // namespace tacos
