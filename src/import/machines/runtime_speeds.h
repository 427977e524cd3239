// SPDX-License-Identifier: MIT
// Bandwidths as NCCL and RCCL count them: what a link gives in practice, not what is printed on it
// (NCCL src/graph/topo.h and topo.cc, RCCL the same file).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "tacos/units.h"

namespace tacos::importing {

/// One NVLink, one way, of a GPU with this compute capability (80: A100).
[[nodiscard]] Bandwidth nvlink_bandwidth(std::int64_t sm);
/// One xGMI link, one way, of this architecture: "gfx942", or "906" in old files.
[[nodiscard]] Bandwidth xgmi_bandwidth(std::string_view gcn);
/// "16.0 GT/s PCIe" and a number of lanes, 0 for 16; nothing when the speed is not known. An empty
/// speed is that of the third generation.
[[nodiscard]] std::optional<Bandwidth> pcie_bandwidth(std::string_view speed, std::int64_t width);
/// Sixteen lanes of the third generation: what runtimes take when they do not know.
[[nodiscard]] Bandwidth default_pcie_bandwidth();

struct CpuModel {
  std::string_view arch;
  std::string_view vendor;
  std::int64_t family = 0;
  std::int64_t model = 0;
};
/// Between two sockets of it, one way.
[[nodiscard]] Bandwidth socket_bandwidth(const CpuModel& cpu);

}  // namespace tacos::importing
