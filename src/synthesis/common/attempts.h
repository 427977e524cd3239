// SPDX-License-Identifier: MIT
// What a search over numbers of chunks and ways to share transfers tries; `multicast` does as
// `routing` does.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/topology.h"
#include "tacos/units.h"

namespace tacos {

/// Shared transfers take up to so many latencies.
inline constexpr std::int64_t kPatience = 64;

/// Whether a transfer of several chunks keeps links busy for less than one for each would.
[[nodiscard]] bool sharing_pays(const Topology& topology, LinkModel model);

/// Whether it does, and some link takes no longer for the bytes themselves than so many times what
/// a transfer costs it beyond them.
[[nodiscard]] bool is_short(const Topology& topology,
                            LinkModel model,
                            Bytes bytes,
                            std::int64_t times);

/// Numbers of chunks beyond one, up to `most`, while they are cheap: one chunk for each part of
/// the buffer makes `hops` hops in all.
[[nodiscard]] std::vector<std::int64_t> more_chunks(Bytes part,
                                                    std::uint64_t hops,
                                                    std::int64_t most);

}  // namespace tacos
