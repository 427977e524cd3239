// SPDX-License-Identifier: MIT
// One priority queue of messages per route, all in a few flat arrays.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/numbers/rng.h"
#include "replay/route_table.h"

namespace tacos::replay {

inline constexpr std::uint32_t kNoMessage = ~std::uint32_t{0};

/// A message waits in one queue at a time, so the queues are pairing heaps (Fredman et al. 1986)
/// threaded through per-message arrays. Largest key first; no two keys may be equal.
class MessageQueues {
 public:
  MessageQueues(std::uint32_t num_routes, std::uint32_t num_messages, std::uint64_t seed)
      : seed_(seed),
        root_(num_routes, kNoMessage),
        child_(num_messages, kNoMessage),
        sibling_(num_messages, kNoMessage),
        key_(num_messages) {}

  [[nodiscard]] bool empty(RouteId route) const { return root_[route] == kNoMessage; }
  [[nodiscard]] std::uint32_t top(RouteId route) const { return root_[route]; }
  [[nodiscard]] std::int64_t key(std::uint32_t message) const { return key_[message]; }

  void push(RouteId route, std::uint32_t message, std::int64_t key) {
    key_[message] = key;
    child_[message] = kNoMessage;
    sibling_[message] = kNoMessage;
    root_[route] = root_[route] == kNoMessage ? message : meld(root_[route], message);
  }

  std::uint32_t pop(RouteId route) {
    const std::uint32_t top = root_[route];
    // Meld children in pairs, then the pairs from the last to the first.
    std::uint32_t pairs = kNoMessage;
    for (std::uint32_t at = child_[top]; at != kNoMessage;) {
      const std::uint32_t other = sibling_[at];
      const std::uint32_t next = other == kNoMessage ? kNoMessage : sibling_[other];
      const std::uint32_t pair = other == kNoMessage ? at : meld(at, other);
      sibling_[pair] = pairs;
      pairs = pair;
      at = next;
    }
    std::uint32_t root = pairs;
    for (std::uint32_t at = pairs == kNoMessage ? kNoMessage : sibling_[pairs]; at != kNoMessage;) {
      const std::uint32_t next = sibling_[at];
      root = meld(root, at);
      at = next;
    }
    root_[route] = root;
    return top;
  }

 private:
  [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const {
    return key_[a] != key_[b] ? key_[a] > key_[b] : mix64(a + seed_) < mix64(b + seed_);
  }
  std::uint32_t meld(std::uint32_t a, std::uint32_t b) {
    if (before(b, a)) {
      std::swap(a, b);
    }
    sibling_[b] = child_[a];
    child_[a] = b;
    return a;
  }

  std::uint64_t seed_;
  std::vector<std::uint32_t> root_;
  std::vector<std::uint32_t> child_;
  std::vector<std::uint32_t> sibling_;
  std::vector<std::int64_t> key_;
};

}  // namespace tacos::replay
