// SPDX-License-Identifier: MIT
// What a search does when it has found a good number of chunks: other ways to send them, and every
// number nearby.
#include <algorithm>

#include "synthesis/common/attempts.h"
#include "synthesis/trees/search.h"

namespace tacos::trees {
namespace {

/// Up to this many, each number of chunks is a case of its own, ...
constexpr std::uint32_t kFewChunks = 128;
/// ... which gains 5% on average over 17 networks, and takes most of the time there.
constexpr int kRefinedFrom = 4;
/// More than so many gained 0.2% at most where messages cost links nothing but their bytes, and
/// nothing through switches, in an All-Reduce.
constexpr std::uint32_t kFewChunksOfBytes = 48;
/// Through switches, where packing takes long, nobody who was behind another engine before that by
/// more than 4% has won (61 cases); a tenth is allowed.
constexpr std::int64_t kMostRefined = 10;

}  // namespace

bool Search::may_pay_to_refine(const Draft& best) const {
  const bool hopeless =
      beat_ && !fabric_.direct() && best.time - best.time / kMostRefined >= beat_->ps;
  const bool only_bytes =
      job_.flow == Flow::kUpAndDown && (!fabric_.direct() || !sharing_pays(topology_, model_));
  return best.chunks <= (only_bytes ? kFewChunksOfBytes : kFewChunks) && best.time > suffices_ &&
         effort_ >= kRefinedFrom && !hopeless;
}

/// Looks at every number of chunks near the best: what whole rounds and transfers make of a few
/// chunks, no formula says.
void Search::refine(Draft& best) {
  fixed_ = true;
  const std::uint32_t centre = best.chunks;
  const std::uint32_t step = std::max(1U, centre / job_.unit() / 24) * job_.unit();
  for (std::uint32_t distance = 0; distance < 16; ++distance) {
    for (const Shape shape : shapes(best)) {
      for (const bool upwards : {false, true}) {
        const std::uint32_t by = distance * step;
        const std::uint32_t chunks = upwards ? centre + by : centre - by;
        if ((upwards ? distance != 0 : by < centre) && affordable(chunks) &&
            best.time > suffices_) {
          (void)try_draft(chunks, shape, best);
        }
      }
    }
  }
}

/// All but the plain one: shared transfers save what each costs beyond its bytes, meetings save a
/// hop where both directions of a link cost the same. Where bandwidth decides, few can matter.
std::vector<Shape> Search::shapes(const Draft& plain) const {
  const bool slow_start = plain.packing.depth > plain.time / 8;
  const bool may_meet =
      fabric_.symmetric() && fabric_.direct() && job_.everybody() && job_.flow == Flow::kUpAndDown;
  std::vector<Shape> result;
  for (const Top top : {Top::kRoot, Top::kMeeting}) {
    for (const std::uint32_t sharing : {1U, 0U, 2U, 3U, 4U}) {
      const bool is_plain = top == Top::kRoot && sharing == 1;
      const bool possible =
          (sharing == 1 || sharing_pays(topology_, model_)) && (top == Top::kRoot || may_meet);
      const bool matters = slow_start || (top == Top::kRoot && sharing <= 2);
      if (!is_plain && possible && matters) {
        result.push_back({.sharing = sharing, .top = top});
      }
    }
  }
  return result;
}

}  // namespace tacos::trees
