// SPDX-License-Identifier: MIT
// Which messages may start when a hop of another has arrived.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "synthesis/routing/route_table.h"

namespace tacos {

/// Costs nothing when no message waits.
class WaitingMessages {
 public:
  explicit WaitingMessages(const Itineraries& itineraries) {
    const std::vector<std::uint32_t>& after = itineraries.after;
    if (after.empty()) {
      return;
    }
    first_.assign(itineraries.hops.size() + 1, 0);
    for (const std::uint32_t hop : after) {
      if (hop != kNoHop) {
        ++first_[hop + 1];
      }
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    messages_.resize(first_.back());
    std::vector<std::uint32_t> next = first_;
    for (std::uint32_t message = 0; message < after.size(); ++message) {
      if (after[message] != kNoHop) {
        messages_[next[after[message]]++] = message;
      }
    }
  }

  [[nodiscard]] std::span<const std::uint32_t> for_hop(std::uint32_t hop) const {
    return first_.empty()
               ? std::span<const std::uint32_t>()
               : std::span(messages_).subspan(first_[hop], first_[hop + 1] - first_[hop]);
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> messages_;
};

}  // namespace tacos
