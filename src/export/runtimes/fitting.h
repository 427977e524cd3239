// SPDX-License-Identifier: MIT
// What all runtimes ask of a program, and how they say that one does not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tacos/collective.h"
#include "tacos/program.h"
#include "tacos/result.h"

namespace tacos::exporting {

struct Excess {
  std::string_view what;
  std::size_t value = 0;
  std::size_t limit = 0;
};
/// Says the limit, the value and what would help.
[[nodiscard]] Error does_not_fit(const Collective& collective,
                                 std::string_view runtime,
                                 const Excess& excess);
/// Fails when an NPU that takes no part has something to do: ranks are for participants.
[[nodiscard]] Status check_ranks(const Program& program, std::string_view runtime);

/// Slots of the whole buffer: what a chunk is a part of.
[[nodiscard]] std::uint32_t whole_slots(const Collective& collective);

/// Whether a slot is the next after another.
[[nodiscard]] inline bool follows(const Slot& slot, const Slot& before) {
  return slot.buffer == before.buffer && slot.index == before.index + 1;
}

}  // namespace tacos::exporting
