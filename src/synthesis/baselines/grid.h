// SPDX-License-Identifier: MIT
// Participants with coordinates, for algorithms that go dimension by dimension.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synthesis/baselines/baseline.h"

namespace tacos::baselines {

struct Axis {
  Wiring wiring = Wiring::kRing;
  std::uint32_t length = 1;
  Bandwidth bandwidth;
};

/// How participants along one axis tell each other what they have.
enum class Style {
  kRing,      ///< everybody passes on to the next
  kDirect,    ///< everybody to everybody
  kDoubling,  ///< partners at distance 1, 2, 4, ...; where the length is no power of two, as
              ///< kDirect
};

class Grid {
 public:
  /// `participants` by coordinates, the first axis fastest.
  Grid(std::vector<Axis> axes, std::vector<std::uint32_t> participants);

  [[nodiscard]] std::span<const Axis> axes() const { return axes_; }

  /// Along one axis after the other everybody tells all that it has, so that in the end all have
  /// everything. `style(axis)` says how; rings go up, or down.
  template <class StyleOf>
  [[nodiscard]] Messages gather(std::span<const std::uint32_t> order,
                                bool up,
                                const StyleOf& style) const {
    Messages messages;
    std::uint32_t done = 0;
    for (const std::uint32_t axis : order) {
      gather_along(axis, done, style(axis), up, messages);
      done |= 1U << axis;
    }
    return messages;
  }

 private:
  [[nodiscard]] std::uint32_t coordinate(std::uint32_t place, std::uint32_t axis) const {
    return place / strides_[axis] % axes_[axis].length;
  }
  [[nodiscard]] std::uint32_t moved(std::uint32_t place,
                                    std::uint32_t axis,
                                    std::uint32_t coordinate_there) const {
    return place + (coordinate_there - coordinate(place, axis)) * strides_[axis];
  }
  void gather_along(
      std::uint32_t axis, std::uint32_t done, Style style, bool up, Messages& messages) const;
  /// One place of a line sends to another what those at coordinates [first, first + count) of the
  /// line had, after the axes `done`.
  struct Telling {
    std::uint32_t place = 0;
    std::uint32_t to = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 1;
  };
  void send(const Telling& telling,
            std::uint32_t axis,
            std::uint32_t done,
            Messages& messages) const;

  std::vector<Axis> axes_;
  std::vector<std::uint32_t> strides_;
  std::vector<std::uint32_t> participants_;
};

/// The dimensions of the network if everybody takes part, else boxes.
[[nodiscard]] Result<Grid> find_grid(const Setup& setup);

/// Two axes: equally many participants in boxes, whose links are faster than those between boxes.
[[nodiscard]] Result<Grid> find_boxes(const Setup& setup);

}  // namespace tacos::baselines
