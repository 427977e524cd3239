// SPDX-License-Identifier: MIT
// How many links are busy over time, and how busy each is, in windows of equal length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tacos/ids.h"
#include "tacos/units.h"

namespace tacos::viewing {

/// A span of time cut into windows; what is busy when is added to them.
class Windows {
 public:
  Windows(Ticks time, std::size_t count) : time_(time), whole_(count + 1, 0), part_(count, 0) {}

  /// O(1).
  void add(Ticks start, Ticks length, std::uint64_t times = 1);
  /// The mean over each window of how many were busy.
  [[nodiscard]] std::vector<float> means() const;
  [[nodiscard]] std::size_t count() const { return part_.size(); }
  /// Which window a time is in, and where that begins.
  [[nodiscard]] std::size_t at(Ticks time) const;
  [[nodiscard]] Ticks begin(std::size_t window) const;

 private:
  Ticks time_;
  /// By how many more are busy in all of this window than in all of the one before.
  std::vector<std::int64_t> whole_;
  /// Picoseconds of those that are busy in part of the window; of a million links more than an
  /// integer holds.
  std::vector<double> part_;
};

/// The same for each link of a network: cells of one byte, 255 for one that is always busy.
class Cells {
 public:
  Cells(const Windows& windows, std::size_t links)
      : windows_(windows), busy_(links * windows.count(), 0) {}
  /// O(windows that it lasts).
  void add(LinkId link, Ticks start, Ticks length);
  /// All windows of the first link, then those of the next.
  [[nodiscard]] std::vector<std::uint8_t> shares() const;

 private:
  const Windows& windows_;
  std::vector<std::int64_t> busy_;
};

}  // namespace tacos::viewing
