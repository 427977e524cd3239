// SPDX-License-Identifier: MIT
// What machines that run programs have in their slots: the shares that were added up there.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tacos/program.h"

namespace tacos::test {

using Data = std::multiset<std::pair<std::uint32_t, std::uint32_t>>;
/// By participant.
using Memory = std::vector<std::map<Slot, Data>>;

/// Who has what at the start: a share of a sum is a participant's own, a copy is nobody's.
[[nodiscard]] Memory memory_at_start(const Collective& collective, bool in_place);
/// Empty when everybody has what it should have in the end.
[[nodiscard]] std::string check_end(const Collective& collective, bool in_place, Memory& memory);

}  // namespace tacos::test
