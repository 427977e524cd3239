// SPDX-License-Identifier: MIT
// One function per format; formats.cc has the table of them and finds out which a text is in.
#pragma once

#include "tacos/topology.h"

#include "import/source.h"

namespace tacos::importing {

/// Also RCCL's.
[[nodiscard]] Result<Topology> read_nccl(const Source& source);
[[nodiscard]] Result<Topology> read_hwloc(const Source& source);
[[nodiscard]] Result<Topology> read_nvidia_smi(const Source& source);
[[nodiscard]] Result<Topology> read_rocm_smi(const Source& source);
[[nodiscard]] Result<Topology> read_astra_sim(const Source& source);
[[nodiscard]] Result<Topology> read_taccl(const Source& source);
[[nodiscard]] Result<Topology> read_sccl(const Source& source);
/// Also SimAI's.
[[nodiscard]] Result<Topology> read_ns3(const Source& source);
[[nodiscard]] Result<Topology> read_graphml(const Source& source);
[[nodiscard]] Result<Topology> read_networkx(const Source& source);
[[nodiscard]] Result<Topology> read_own_json(const Source& source);
[[nodiscard]] Result<Topology> read_own_yaml(const Source& source);

}  // namespace tacos::importing
