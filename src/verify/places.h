// SPDX-License-Identifier: MIT
// Who starts and who ends with a chunk, without asking every participant where one is known.
#pragma once

#include <cstdint>

#include "tacos/collective.h"
#include "tacos/ids.h"

#include "base/assert.h"

namespace tacos {

/// Calls visit(participant) for all that start with the chunk or a share of it.
template <class Visit>
void for_each_start(const Collective& collective, ChunkId chunk, const Visit& visit) {
  if (collective.chunk_kind() == CollectiveKind::kAllGather ||
      collective.chunk_kind() == CollectiveKind::kGather ||
      collective.chunk_kind() == CollectiveKind::kAllToAll) {
    const std::uint32_t owner = collective.owner(chunk);
    TACOS_ASSERT(collective.starts_with(chunk, owner), "an owner starts with its chunk");
    visit(owner);
    return;
  }
  if (collective.chunk_kind() == CollectiveKind::kCustom) {
    for (const std::uint32_t participant : collective.sources(chunk)) {
      visit(participant);
    }
    return;
  }
  for (std::uint32_t participant = 0; participant < collective.num_participants(); ++participant) {
    if (collective.starts_with(chunk, participant)) {
      visit(participant);
    }
  }
}

/// Calls visit(participant) for all that must end with the complete chunk.
template <class Visit>
void for_each_end(const Collective& collective, ChunkId chunk, const Visit& visit) {
  if (collective.chunk_kind() == CollectiveKind::kReduceScatter ||
      collective.chunk_kind() == CollectiveKind::kScatter) {
    const std::uint32_t owner = collective.owner(chunk);
    TACOS_ASSERT(collective.ends_with(chunk, owner), "an owner ends with its chunk");
    visit(owner);
    return;
  }
  if (collective.chunk_kind() == CollectiveKind::kCustom) {
    for (const std::uint32_t participant : collective.destinations(chunk)) {
      visit(participant);
    }
    return;
  }
  for (std::uint32_t participant = 0; participant < collective.num_participants(); ++participant) {
    if (collective.ends_with(chunk, participant)) {
      visit(participant);
    }
  }
}

}  // namespace tacos
