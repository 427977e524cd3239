// SPDX-License-Identifier: MIT
// Which slots the steps of a program use when scratch is never used twice, and who must be done
// with a slot before it is written to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/program.h"

#include "export/runtimes/beats.h"

namespace tacos::exporting {

struct SlotUses {
  /// By step.
  std::vector<Slot> from;
  std::vector<Slot> to;
  /// By NPU: slots of scratch.
  std::vector<std::uint32_t> scratch;

  /// The last that wrote to the slot that a step writes to, and those that have read it since.
  [[nodiscard]] std::span<const std::uint32_t> before(std::uint32_t step) const {
    return std::span(others).subspan(first[step], count[step]);
  }
  std::vector<std::uint32_t> others;
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> count;
};

/// O(steps).
[[nodiscard]] SlotUses use_slots(const Program& program, const Beats& beats);

}  // namespace tacos::exporting
