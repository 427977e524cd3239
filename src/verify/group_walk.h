// SPDX-License-Identifier: MIT
// Goes through the elements of a group without a division for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/numbers/mixed_radix.h"
#include "schedule/patterns/pattern.h"

namespace tacos {

/// The elements in turn, with their coordinates.
class GroupWalk {
 public:
  explicit GroupWalk(const MixedRadix& group) : group_(group), x_(group.num_digits(), 0) {}

  [[nodiscard]] bool done() const { return element_ == group_.size(); }
  [[nodiscard]] std::uint32_t element() const { return element_; }
  [[nodiscard]] std::uint32_t x(std::size_t axis) const { return x_[axis]; }
  void next() {
    ++element_;
    for (std::size_t i = 0; i < x_.size() && ++x_[i] == group_.lengths()[i]; ++i) {
      x_[i] = 0;
    }
  }
  /// The element whose coordinate is `step` more (less than the length), modulo the length.
  [[nodiscard]] std::uint32_t moved(std::size_t axis, std::uint32_t step) const {
    const std::uint32_t back =
        x_[axis] + step < group_.lengths()[axis] ? 0 : group_.lengths()[axis];
    return element_ + (step - back) * group_.stride(axis);
  }
  [[nodiscard]] std::uint32_t link(const PatternPort& port) const {
    std::uint32_t link = port.first;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      link += x_[i] * port.strides[i];
    }
    return link;
  }

 private:
  const MixedRadix& group_;
  std::vector<std::uint32_t> x_;
  std::uint32_t element_ = 0;
};

}  // namespace tacos
