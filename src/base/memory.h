// SPDX-License-Identifier: MIT
// How much memory this process may still take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tacos {

/// Where the system tells; tests tell other things elsewhere.
struct MemoryFiles {
  std::string proc = "/proc";
  std::string cgroup = "/sys/fs/cgroup";
};

/// The least of what the machine has available, what the control group leaves, and what the limit
/// on address space leaves; nothing when none is known.
[[nodiscard]] std::optional<std::uint64_t> available_memory(const MemoryFiles& files = {});

}  // namespace tacos
