// SPDX-License-Identifier: MIT
// A schedule as what the chunks of one NPU do, and the symmetries of the network.
//
// For each NPU there is one symmetry, its *translation*: a permutation of the links that takes
// those of NPU 0 to its own. An entry is a transfer of a chunk of NPU 0; it stands for its orbit,
// which is one transfer for each NPU: over the translated links, of the chunk of that NPU. In
// contrast to a Pattern the symmetries need not be those of a product: they are given by a few
// generators, and each translation as one generator after an earlier translation. Plain data: what
// the links cost, and whether these are symmetries at all, is for others to check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/units.h"

#include "base/numbers/permutation.h"
#include "schedule/patterns/pattern.h"
#include "schedule/source.h"

namespace tacos {

/// Translation 0 is the identity.
struct Translation {
  /// The NPU that it takes NPU 0 to.
  std::uint32_t owner = 0;
  /// An earlier translation, and the generator that comes after it. Means nothing for the first.
  std::uint32_t before = 0;
  std::uint32_t generator = 0;

  friend bool operator==(const Translation&, const Translation&) = default;
};

struct OrbitEntry {
  Ticks start;
  Op op = Op::kCopy;
  /// Which of the owner's chunks.
  std::uint32_t chunk = 0;
  /// How many of OrbitPattern::links its route has; those before are of earlier entries.
  std::uint32_t num_links = 1;

  friend bool operator==(const OrbitEntry&, const OrbitEntry&) = default;
};

struct OrbitPattern {
  /// Chunk c is owned by NPU c / chunks_per_npu.
  std::uint32_t chunks_per_npu = 0;
  /// Permutations of all links.
  std::vector<Permutation> generators;
  /// One for each NPU.
  std::vector<Translation> translations;
  /// In order of start.
  std::vector<OrbitEntry> entries;
  /// The routes of the entries, as NPU 0's chunks take them.
  std::vector<std::uint32_t> links;

  friend bool operator==(const OrbitPattern&, const OrbitPattern&) = default;
};

/// Appends the payload of an ORBT section (docs/schedule-format.md).
void encode_orbits(const OrbitPattern& pattern, std::vector<std::byte>& out);
/// Fails on numbers that do not fit together; what it returns can be expanded.
[[nodiscard]] Result<OrbitPattern> decode_orbits(std::span<const std::byte> payload,
                                                 const PatternLimits& limits);

/// Of the encoded pattern.
[[nodiscard]] std::uint64_t orbits_hash(const OrbitPattern& pattern);
/// Lists the transfers of the pattern as they are asked for.
[[nodiscard]] std::shared_ptr<const TransferSource> make_orbit_source(OrbitPattern pattern);
/// The same as a schedule; its totals but for the collective time follow from the pattern.
[[nodiscard]] Schedule make_orbit_schedule(OrbitPattern pattern, Ticks collective_time);

}  // namespace tacos
