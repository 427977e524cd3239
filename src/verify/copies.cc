// SPDX-License-Identifier: MIT
#include "verify/copies.h"

#include <span>

#include <fmt/format.h>

#include "verify/places.h"

namespace tacos {

Copies::Copies(const Topology& topology,
               const Collective& collective,
               Violations& violations,
               std::uint32_t first,
               std::uint32_t count)
    : collective_(collective),
      violations_(violations),
      num_npus_(topology.num_npus()),
      first_(first),
      count_(count),
      held_(topology.num_npus(), count) {
  for (std::uint32_t c = first; c < first + count; ++c) {
    for_each_start(collective, ChunkId(c), [&](std::uint32_t participant) {
      held_.set(collective.participants()[participant].index(), c - first);
    });
  }
}

void Copies::arrive() {
  constexpr std::size_t kAhead = 16;
  arrivals_.take_next(arriving_);
  for (std::size_t i = 0; i < arriving_.size(); ++i) {
    if (i + kAhead < arriving_.size()) {
      fetch(arriving_[i + kAhead].node, arriving_[i + kAhead].chunk);
    }
    held_.set(arriving_[i].node.index(), column(arriving_[i].chunk));
  }
}

void Copies::settle(Ticks now) {
  constexpr std::size_t kAhead = 16;
  for (const auto& [end, moves] : sent_) {
    if (end > now) {
      arrivals_.push_all(sent_at_, end, moves.size(), [&, end = end, moves = moves](std::size_t i) {
        return Arrival{end, moves[i].dst, moves[i].chunk};
      });
      continue;
    }
    for (std::size_t i = 0; i < moves.size(); ++i) {
      if (i + kAhead < moves.size()) {
        fetch(moves[i + kAhead].dst, moves[i + kAhead].chunk);
      }
      held_.set(moves[i].dst.index(), column(moves[i].chunk));
    }
  }
  sent_.clear();
}

void Copies::finish() {
  advance(kMaxTime);
  if (collective_.chunk_kind() == CollectiveKind::kCustom) {
    for (std::uint32_t c = first_; c < first_ + count_; ++c) {
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
    for (std::uint32_t c = 0; c < count_; ++c) {
      // Whole words of chunks that are all there need no question.
      while (c % kBits == 0 && c / kBits < row.size() && row[c / kBits] == ~BitMatrix::Word{0}) {
        c += kBits;
      }
      const ChunkId chunk(first_ + c);
      if (c < count_ && !holds(node, chunk) && collective_.ends_with(chunk, p)) {
        require(node, chunk);
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
