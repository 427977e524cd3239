// SPDX-License-Identifier: MIT
// A schedule as one pattern and its translations.
//
// The NPUs are the elements of a group, a product of cyclic groups: NPU id = x0 + L0*(x1 + L1*...),
// added coordinate by coordinate. A chunk that is owned by NPU u is sent by NPU u + from to NPU
// u + from + shift; an entry of the pattern says so for all u at once. So an entry stands for as
// many transfers as there are NPUs, one out of each and one into each. Plain data: what the links
// cost, and whether they are there at all, is for others to check (src/verify/pattern_proof.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/units.h"

#include "base/numbers/mixed_radix.h"
#include "schedule/source.h"

namespace tacos {

/// The links out of switches that lead to the NPUs, one to each: the one to NPU v is `first` plus
/// each coordinate of v times its stride.
struct PatternPort {
  std::uint32_t first = 0;
  std::vector<std::uint32_t> strides;

  friend bool operator==(const PatternPort&, const PatternPort&) = default;
};

/// A way from every NPU v to NPU v + shift: link v * links_per_npu + slot, and where that leads to
/// a switch, the link of a port to NPU v + shift.
struct PatternMove {
  static constexpr std::uint32_t kNoPort = 0xffffffff;

  std::uint32_t shift = 0;
  std::uint32_t slot = 0;
  std::uint32_t port = kNoPort;

  friend bool operator==(const PatternMove&, const PatternMove&) = default;
};

struct PatternEntry {
  Ticks start;
  Op op = Op::kCopy;
  std::uint32_t move = 0;
  /// The sender, as seen from the owner of the chunk.
  std::uint32_t from = 0;
  /// Which of the owner's chunks.
  std::uint32_t chunk = 0;

  friend bool operator==(const PatternEntry&, const PatternEntry&) = default;
};

struct Pattern {
  /// Of the cyclic groups; 1 or more, their product below 2^32.
  std::vector<std::uint32_t> lengths;
  std::uint32_t links_per_npu = 0;
  /// Chunk c is owned by NPU c / chunks_per_npu.
  std::uint32_t chunks_per_npu = 0;
  std::vector<PatternPort> ports;
  std::vector<PatternMove> moves;
  /// In order of (start, slot of the move).
  std::vector<PatternEntry> entries;

  friend bool operator==(const Pattern&, const Pattern&) = default;
};

/// The link of a port that leads to an NPU; the group is that of the pattern's lengths.
[[nodiscard]] LinkId port_link(const PatternPort& port, const MixedRadix& group, std::uint32_t npu);

/// The links of a move.
struct PatternRoute {
  std::array<LinkId, 2> all;
  std::size_t count = 1;
  [[nodiscard]] std::span<const LinkId> links() const { return std::span(all).first(count); }
};
/// Out of one NPU. O(dimensions).
[[nodiscard]] PatternRoute route_of(const Pattern& pattern,
                                    const MixedRadix& group,
                                    std::uint32_t npu,
                                    const PatternMove& move);

/// Appends the payload of a PTRN section (docs/schedule-format.md).
void encode_pattern(const Pattern& pattern, std::vector<std::byte>& out);

/// What a pattern is for, so that no more is read than can make sense.
struct PatternLimits {
  std::uint32_t npus = 0;
  std::uint32_t links = 0;
  std::uint32_t chunks = 0;
};
/// Fails on numbers that do not fit together; what it returns can be expanded.
[[nodiscard]] Result<Pattern> decode_pattern(std::span<const std::byte> payload,
                                             const PatternLimits& limits);

/// Of the encoded pattern.
[[nodiscard]] std::uint64_t pattern_hash(const Pattern& pattern);
/// Lists the transfers of the pattern as they are asked for.
[[nodiscard]] std::shared_ptr<const TransferSource> make_pattern_source(Pattern pattern);
/// The same as a schedule; its totals but for the collective time follow from the pattern.
[[nodiscard]] Schedule make_pattern_schedule(Pattern pattern, Ticks collective_time);

}  // namespace tacos
