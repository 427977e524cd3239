// SPDX-License-Identifier: MIT
// How much memory this process may still take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tacos/result.h"

namespace tacos {

/// Where the system tells; tests tell other things elsewhere.
struct MemoryFiles {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
};

/// The least of what the machine has available, what the control group leaves, and what the limit
/// on address space leaves; nothing when none is known.
[[nodiscard]] std::optional<std::uint64_t> available_memory(const MemoryFiles& files = {});

/// "needs 12.0 GiB, 3.0 GiB free; use ...": what does not fit is refused before the work starts.
[[nodiscard]] Error not_enough_memory(std::uint64_t needed,
                                      std::uint64_t free,
                                      std::string_view advice,
                                      std::string where);

/// Fails when more is needed than `free`, or than the machine has when that is not given. Needs of
/// a few megabytes are not worth asking.
[[nodiscard]] Status check_memory_room(std::uint64_t needed,
                                       std::optional<std::uint64_t> free,
                                       std::string_view advice,
                                       std::string where);

}  // namespace tacos
