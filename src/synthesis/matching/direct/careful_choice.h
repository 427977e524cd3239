// SPDX-License-Identifier: MIT
// What a link brings to an NPU that has little time to spare.
//
// Sources side by side have had the same chunks longest, so links that take what is oldest bring
// the same to NPUs side by side, which then have nothing for each other. Where an NPU has links to
// spare that does no harm. Where few links lead into a few NPUs every chunk should come in once: of
// a mesh of 16x32 without the cable between (0,1) and (0,2) two links lead to (0,0) and (0,1), and
// an All-Gather took 55% longer than its bound when both brought the same.
//
// So an NPU that needs more than 9/16 of the time of the slowest takes, once its links have paused,
// of what it lacks among the next 32 entries of a source the oldest that none of its other sources
// has by now: what others have too they may bring. In the example that leaves 1.8%. NPUs inside a
// mesh, with twice the links of a corner, are just below 9/16, and need no care.
//
// Looking at what sources have by now, and not when the window began, is what keeps two NPUs from
// choosing the same, and makes the result depend on the order in which NPUs decide: one thread
// only. Tried and worse (above the bound, of the worst cable of mesh 16x32 with 100/50 GB/s, where
// this leaves 7.5%, default effort 12%): what the fewest sources have 11%, of the first 8 that are
// missing 22%, of 4 of them 28%; without asking when each entry came, among those known to be
// there, 25%; care only after a fourth of the time to spare is lost 17%, after half of it 28%. A
// random choice instead: twice the loss or more, in a prototype.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory/bit_matrix.h"
#include "synthesis/matching/direct/gather_network.h"
#include "synthesis/matching/direct/log_link.h"
#include "synthesis/matching/direct/window_length.h"

namespace tacos::matching {

/// When an NPU begins to choose with care.
class CareRule {
 public:
  /// Never.
  CareRule() = default;
  CareRule(const GatherNetwork& network, const GatherTask& task, const WindowLength& windows);

  /// Of an NPU that lacks so many chunks.
  [[nodiscard]] bool applies(std::uint32_t npu,
                             std::uint32_t lacking,
                             GridTime now,
                             const WindowLength& windows) const {
    return !latest_.empty() && latest_[npu] != kNever &&
           windows.finish(npu, lacking, now) > latest_[npu];
  }

 private:
  /// When each would have everything if its links had not paused; kNever where there is time.
  std::vector<GridTime> latest_;
};

/// What more than one of the sources of an NPU has.
class CommonChunks {
 public:
  void clear(std::size_t words) {
    common_.assign(words, 0);
    some_.assign(words, 0);
  }
  /// What one more source has.
  void add(std::span<const BitMatrix::Word> source) {
    for (std::size_t word = 0; word < common_.size(); ++word) {
      common_[word] |= some_[word] & source[word];
      some_[word] |= source[word];
    }
  }
  [[nodiscard]] const BitMatrix::Word* row() const { return common_.data(); }

 private:
  std::vector<BitMatrix::Word> common_;
  std::vector<BitMatrix::Word> some_;
};

/// How much of a log a link may look at, and take.
struct LogEnds {
  std::uint32_t length = 0;
  std::uint32_t open = 0;
};

/// Leaves behind and returns the oldest entry that the row of bits lacks and that is not common;
/// the one that was found where there is none. In a log whose `block` begins where the link is.
template <class Id>
Id take_uncommon(LogLink& link,
                 const Id* block,
                 const LogEnds& ends,
                 const BitMatrix::Word* held,
                 const BitMatrix::Word* common) {
  constexpr std::uint32_t kMaskBits = 32;
  const auto passed = static_cast<std::uint32_t>(std::countr_zero(link.missing));
  block += passed;
  link.block += passed;
  link.missing >>= passed;
  for (std::uint32_t at = link.next - link.block; at < kMaskBits && link.next < ends.length; ++at) {
    link.missing |= lacks(held, block[at]) << at;
    ++link.next;
  }
  // The link has found the first.
  std::uint32_t best = 0;
  for (std::uint32_t left = link.missing; left != 0; left &= left - 1) {
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(left));
    if (link.block + bit >= ends.open) {
      break;
    }
    if ((lacks(held, block[bit]) & lacks(common, block[bit])) != 0) {
      best = bit;
      break;
    }
  }
  link.missing &= ~(std::uint32_t{1} << best);
  return block[best];
}

}  // namespace tacos::matching
