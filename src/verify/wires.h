// SPDX-License-Identifier: MIT
// Whether a transfer makes sense: its links and chunks exist, are a route from NPU to NPU, and it
// starts no earlier than those before it. And when its data arrives.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tacos/ids.h"
#include "tacos/schedule.h"
#include "tacos/units.h"

#include "verify/violations.h"
#include "verify/wire_table.h"

namespace tacos {

/// A transfer that makes sense: between which NPUs, and when its data is there.
struct Flight {
  NodeId src;
  NodeId dst;
  Ticks end;
};

/// Reductions are read several times; the first time everything is checked, later only the data.
enum class Pass { kFirst, kLater };

/// For one reading of a schedule.
class Wires {
 public:
  Wires(const WireTable& table, Pass pass, Violations& violations)
      : table_(table), pass_(pass), violations_(violations) {}

  /// Moves the clock to the start of the transfer. A transfer that makes no sense is reported (in
  /// the first pass), leaves the clock alone, and is nothing.
  [[nodiscard]] std::optional<Flight> check(const Transfer& transfer, std::uint64_t index);

  /// `check` without words for one chunk over one link: false means ask `check`.
  [[nodiscard]] bool check_simple(Ticks start, LinkId link, ChunkId chunk, Flight& flight) {
    if (link.value() >= table_.num_links() || chunk.value() >= table_.num_simple() ||
        start < clock_) {
      return false;
    }
    const WireTable::Wire& wire = table_[link];
    const Ticks duration = wire.latency + wire.serialization[table_.size_class(chunk)];
    if (!wire.direct || duration > kMaxTime - start) {
      return false;
    }
    clock_ = start;
    flight = {wire.src, wire.dst, start + duration};
    return true;
  }
  /// Where a link begins, for prefetching; any id will do.
  [[nodiscard]] NodeId source(LinkId link) const {
    return link.value() < table_.num_links() ? table_[link].src : NodeId(0);
  }

 private:
  [[nodiscard]] bool well_formed(const Transfer& transfer, std::uint64_t index);
  [[nodiscard]] bool is_route(const Transfer& transfer, std::uint64_t index);
  [[nodiscard]] bool lists_twice(std::span<const ChunkId> chunks);
  template <class Sentence>
  void reject(const Transfer& transfer, std::uint64_t index, const Sentence& sentence) {
    if (pass_ == Pass::kFirst) {
      violations_.add(transfer, index, sentence);
    }
  }

  const WireTable& table_;
  Pass pass_;
  Violations& violations_;
  Ticks clock_;
  std::vector<ChunkId> sorted_;
};

}  // namespace tacos
