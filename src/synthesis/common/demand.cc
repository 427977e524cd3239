// SPDX-License-Identifier: MIT
#include "synthesis/common/demand.h"

#include <utility>

namespace tacos {

Demand make_demand(const Collective& collective) {
  const auto npus = collective.participants();
  const std::uint32_t n = collective.num_participants();
  const auto per_pair = static_cast<std::uint32_t>(collective.chunk_argument());
  Demand demand{
      .pairs = {}, .chunks_per_pair = per_pair, .chunk_bytes = collective.chunks().max_bytes()};
  const auto add = [&](NodeId from, NodeId to, std::uint32_t number) {
    if (from != to) {
      demand.pairs.push_back({.from = from, .to = to, .first_chunk = ChunkId(number * per_pair)});
    }
  };
  if (traits(collective.kind()).chunks_per == ChunksPer::kPair) {
    demand.pairs.reserve(std::size_t{n} * (n - 1));
    for (std::uint32_t pair = 0; pair < n * n; ++pair) {
      add(npus[pair / n], npus[pair % n], pair);
    }
    return demand;
  }
  const bool gathers = traits(collective.kind()).after == Holder::kRoot;
  for (std::uint32_t i = 0; i < n; ++i) {
    add(gathers ? npus[i] : collective.root(), gathers ? collective.root() : npus[i], i);
  }
  return demand;
}

Demand reversed(Demand demand) {
  for (Pair& pair : demand.pairs) {
    std::swap(pair.from, pair.to);
  }
  return demand;
}

}  // namespace tacos
