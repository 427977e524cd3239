// SPDX-License-Identifier: MIT
// Which messages may start when hops of others have arrived.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "synthesis/routing/route_table.h"

namespace tacos::routing {

/// Costs nothing when no message waits.
class WaitingMessages {
 public:
  explicit WaitingMessages(const Itineraries& itineraries) {
    if (itineraries.waits.empty()) {
      return;
    }
    const std::uint32_t count = itineraries.num_messages();
    first_.assign(itineraries.hops.size() + 1, 0);
    for (const std::uint32_t hop : itineraries.waits) {
      ++first_[hop + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    messages_.resize(first_.back());
    missing_.resize(count);
    std::vector<std::uint32_t> next = first_;
    for (std::uint32_t message = 0; message < count; ++message) {
      const auto waits = itineraries.waits_of(message);
      missing_[message] = static_cast<std::uint32_t>(waits.size());
      for (const std::uint32_t hop : waits) {
        messages_[next[hop]++] = message;
      }
    }
  }

  [[nodiscard]] bool may_start(std::uint32_t message) const {
    return missing_.empty() || missing_[message] == 0;
  }
  /// Calls start(message) for every message that waited for the hop and now waits for no other.
  template <class Start>
  void arrived(std::uint32_t hop, const Start& start) {
    if (first_.empty()) {
      return;
    }
    for (std::uint32_t at = first_[hop]; at < first_[hop + 1]; ++at) {
      if (--missing_[messages_[at]] == 0) {
        start(messages_[at]);
      }
    }
  }

 private:
  /// By hop.
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> messages_;
  /// By message: hops that it still waits for.
  std::vector<std::uint32_t> missing_;
};

}  // namespace tacos::routing
