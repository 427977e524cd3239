// SPDX-License-Identifier: MIT
// The pauses of a window, as threads find them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "schedule/logs/pauses.h"

namespace tacos::matching {

/// Into a list in order of position, near whose end it belongs: an NPU seldom has two.
inline void insert_in_order(const Pause& pause, std::vector<Pause>& pauses) {
  auto place = pauses.end();
  while (place != pauses.begin() && *std::prev(place) > pause) {
    --place;
  }
  pauses.insert(place, pause);
}

class FoundPauses {
 public:
  void clear() { found_.clear(); }
  /// Those of a range of NPUs, in order.
  void add(std::size_t from, std::vector<Pause> pauses) {
    if (!pauses.empty()) {
      found_.emplace_back(from, std::move(pauses));
    }
  }
  /// All of them, in order of position.
  void sort() {
    std::sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) {
      return a.first < b.first;
    });
    sorted_.clear();
    for (const auto& [from, pauses] : found_) {
      sorted_.insert(sorted_.end(), pauses.begin(), pauses.end());
    }
  }
  [[nodiscard]] const std::vector<Pause>& sorted() const { return sorted_; }

 private:
  std::vector<std::pair<std::size_t, std::vector<Pause>>> found_;
  std::vector<Pause> sorted_;
};

}  // namespace tacos::matching
