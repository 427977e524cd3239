// SPDX-License-Identifier: MIT
// What transfers do to the data, in start order. `Data` is Copies or Sums.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "tacos/collective.h"
#include "tacos/ids.h"
#include "tacos/schedule.h"

#include "verify/violations.h"
#include "verify/wires.h"

namespace tacos {

template <class Data>
class DataReplay {
 public:
  DataReplay(const Collective& collective, Data& data, Violations& violations)
      : collective_(collective), data_(data), violations_(violations) {}

  [[nodiscard]] bool allows(Op op, ChunkId chunk) const { return data_.allows(op, chunk); }
  [[nodiscard]] bool covers(ChunkId chunk) const { return data_.covers(chunk); }
  [[nodiscard]] bool covers_any(std::span<const ChunkId> chunks) const {
    return std::any_of(
        chunks.begin(), chunks.end(), [this](ChunkId chunk) { return covers(chunk); });
  }
  void prefetch(NodeId node, ChunkId chunk) const { data_.prefetch(node, chunk); }

  /// A transfer that makes sense: what the operation may not do is reported, and what is covered of
  /// its chunks is moved.
  void replay(const Flight& flight, const Transfer& transfer, std::uint64_t index) {
    const auto wrong = std::find_if(transfer.chunks.begin(),
                                    transfer.chunks.end(),
                                    [&](ChunkId chunk) { return !allows(transfer.op, chunk); });
    if (wrong != transfer.chunks.end()) {
      violations_.add(transfer, index, [&] {
        return collective_.reduces()
                   ? fmt::format("chunk {} is copied, not added", wrong->value())
                   : fmt::format("{} copies, it does not add", to_string(collective_.chunk_kind()));
      });
    }
    for (const ChunkId chunk : transfer.chunks) {
      move(flight, transfer, chunk, index);
    }
  }

  void move(const Flight& flight, const Transfer& transfer, ChunkId chunk, std::uint64_t index) {
    if (!covers(chunk)) {
      return;
    }
    data_.advance(transfer.start);
    if (!data_.holds(flight.src, chunk)) [[unlikely]] {
      violations_.add(transfer, index, [&] {
        return fmt::format(
            "{} does not hold chunk {} at the start", violations_.name(flight.src), chunk.value());
      });
    }
    data_.send(flight, transfer, chunk, index);
  }
  /// Call after the last transfer.
  void finish() { data_.finish(); }

 private:
  const Collective& collective_;
  Data& data_;
  Violations& violations_;
};

}  // namespace tacos
