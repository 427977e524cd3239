// SPDX-License-Identifier: MIT
#include "verify/copies.h"

#include <span>

#include <fmt/format.h>

#include "verify/places.h"

namespace tacos {

Copies::Copies(const Topology& topology, const Collective& collective, Violations& violations)
    : collective_(collective),
      violations_(violations),
      num_npus_(topology.num_npus()),
      held_(topology.num_npus(), collective.num_chunks()) {
  for (std::uint32_t c = 0; c < collective.num_chunks(); ++c) {
    for_each_start(collective, ChunkId(c), [&](std::uint32_t participant) {
      held_.set(collective.participants()[participant].index(), c);
    });
  }
}

void Copies::arrive() {
  constexpr std::size_t kAhead = 16;
  arrivals_.take_next(arriving_);
  for (std::size_t i = 0; i < arriving_.size(); ++i) {
    if (i + kAhead < arriving_.size()) {
      prefetch(arriving_[i + kAhead].node, arriving_[i + kAhead].chunk);
    }
    held_.set(arriving_[i].node.index(), arriving_[i].chunk.index());
  }
}

void Copies::finish() {
  advance(kMaxTime);
  if (collective_.chunk_kind() == CollectiveKind::kCustom) {
    for (std::uint32_t c = 0; c < collective_.num_chunks(); ++c) {
      for_each_end(collective_, ChunkId(c), [&](std::uint32_t p) {
        require(collective_.participants()[p], ChunkId(c));
      });
    }
    return;
  }
  constexpr auto kBits = static_cast<std::uint32_t>(BitMatrix::kWordBits);
  for (std::uint32_t p = 0; p < collective_.num_participants(); ++p) {
    const NodeId node = collective_.participants()[p];
    const std::span<const BitMatrix::Word> row = held_.row(node.index());
    for (std::uint32_t c = 0; c < collective_.num_chunks(); ++c) {
      // Whole words of chunks that are all there need no question.
      while (c % kBits == 0 && c / kBits < row.size() && row[c / kBits] == ~BitMatrix::Word{0}) {
        c += kBits;
      }
      if (c < collective_.num_chunks() && !holds(node, ChunkId(c)) &&
          collective_.ends_with(ChunkId(c), p)) {
        require(node, ChunkId(c));
      }
    }
  }
}

void Copies::require(NodeId node, ChunkId chunk) {
  if (!holds(node, chunk)) {
    violations_.add([&] {
      return fmt::format("{} never gets chunk {}", violations_.name(node), chunk.value());
    });
  }
}

}  // namespace tacos
