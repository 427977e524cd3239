// SPDX-License-Identifier: MIT
// Which messages may start when hops of others have arrived.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/csr.h"
#include "replay/route_table.h"

namespace tacos::replay {

/// Costs nothing when no message waits.
class WaitingMessages {
 public:
  explicit WaitingMessages(const Itineraries& itineraries) {
    if (itineraries.waits.empty()) {
      return;
    }
    const std::uint32_t count = itineraries.num_messages();
    missing_.resize(count);
    messages_ = {itineraries.hops.size(), [&](const auto& add) {
                   for (std::uint32_t message = 0; message < count; ++message) {
                     const auto waits = itineraries.waits_of(message);
                     missing_[message] = static_cast<std::uint32_t>(waits.size());
                     for (const std::uint32_t hop : waits) {
                       add(hop, message);
                     }
                   }
                 }};
  }

  [[nodiscard]] bool may_start(std::uint32_t message) const {
    return missing_.empty() || missing_[message] == 0;
  }
  /// Calls start(message) for every message that waited for the hop and now waits for no other.
  template <class Start>
  void arrived(std::uint32_t hop, const Start& start) {
    if (missing_.empty()) {
      return;
    }
    for (const std::uint32_t message : messages_[hop]) {
      if (--missing_[message] == 0) {
        start(message);
      }
    }
  }

 private:
  /// By hop.
  Csr<std::uint32_t> messages_;
  /// By message: hops that it still waits for.
  std::vector<std::uint32_t> missing_;
};

}  // namespace tacos::replay
