// SPDX-License-Identifier: MIT
// Patterns seen as the transfers that they stand for.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "tacos/schedule.h"

#include "base/numbers/rng.h"
#include "schedule/patterns/pattern.h"
#include "schedule/source.h"

namespace tacos::testing {

/// The transfers of a schedule, without what they are translations of.
class ExpandedSource final : public TransferSource {
 public:
  explicit ExpandedSource(Schedule schedule) : schedule_(std::move(schedule)) {}
  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override {
    return schedule_.cursor();
  }
  [[nodiscard]] std::size_t memory_bytes() const override { return 0; }

 private:
  Schedule schedule_;
};

[[nodiscard]] inline Schedule expanded(const Schedule& schedule) {
  return make_schedule(std::make_shared<ExpandedSource>(schedule), schedule.totals());
}

/// In the order that a pattern must have.
inline void sort_entries(Pattern& pattern) {
  std::stable_sort(pattern.entries.begin(),
                   pattern.entries.end(),
                   [&](const PatternEntry& a, const PatternEntry& b) {
                     return std::tuple(a.start, pattern.moves[a.move].slot) <
                            std::tuple(b.start, pattern.moves[b.move].slot);
                   });
}

/// A random product of up to three dimensions and about 60 NPUs.
[[nodiscard]] inline std::string random_product(std::uint64_t seed) {
  Rng rng(seed);
  constexpr std::array<const char*, 3> kKinds{"ring", "fc", "switch"};
  constexpr std::array<const char*, 4> kSpeeds{"25GBps", "50GBps", "60GBps", "200GBps"};
  constexpr std::array<const char*, 3> kLatencies{"0ns", "501ps", "700ns"};
  const std::uint32_t dimensions = 1 + rng.below(3);
  std::string blocks;
  std::string speeds;
  std::string latencies;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const char* join = i == 0 ? "" : "/";
    blocks += std::string(i == 0 ? "" : "*") + kKinds[rng.below(3)] + ":" +
              std::to_string(1 + rng.below(4) + (i == 0 ? 1 : 0));
    speeds += std::string(join) + kSpeeds[rng.below(4)];
    latencies += std::string(join) + kLatencies[rng.below(3)];
  }
  return blocks + ",bw=" + speeds + ",lat=" + latencies;
}

}  // namespace tacos::testing
