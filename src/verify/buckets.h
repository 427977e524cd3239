// SPDX-License-Identifier: MIT
// Transfers on their way to the slices that replay them.
//
// A slice has some chunks, or some links, that follow each other; a bucket holds what concerns them
// of some transfers, in start order. Each transfer is checked here as a whole, and a slice gets its
// own chunks, or links, of it: however they are cut, the work is that of one reader.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tacos/ids.h"
#include "tacos/schedule.h"
#include "tacos/units.h"

#include "base/parallel/packet.h"
#include "verify/move.h"
#include "verify/wire_table.h"
#include "verify/wires.h"

namespace tacos {

struct Bucket {
  /// Of a link, by what takes no other.
  struct Use {
    LinkId link;
    /// Which of the times of the WireTable it is busy for.
    std::uint32_t busy = 0;
  };
  enum class Kind : std::uint8_t {
    kMoves,
    kUses,
    kFlight,    ///< of some of `chunks`, all with one of `flights`
    kPassages,  ///< of transfers that take other links, too
  };
  /// Things of one kind that start together.
  struct Run {
    Ticks start;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t flight = 0;
    Op op = Op::kCopy;
    Kind kind = Kind::kMoves;
  };
  std::vector<Move> moves;
  std::vector<Use> uses;
  std::vector<Run> runs;
  std::vector<Flight> flights;
  std::vector<ChunkId> chunks;
  std::vector<Passage> passages;

  /// What was added to moves, or to uses, becomes a run.
  void end_run(Ticks start, Op op, Kind kind) {
    std::uint32_t& before = kind == Kind::kMoves ? moves_in_runs_ : uses_in_runs_;
    const std::size_t now = kind == Kind::kMoves ? moves.size() : uses.size();
    if (now > before) {
      add_run(start, op, kind, before, now - before);
      before = static_cast<std::uint32_t>(now);
    }
  }
  /// A chunk of a transfer; `fresh` is its first here.
  void add(const Transfer& transfer, const Flight& flight, ChunkId chunk, bool fresh);
  void add(const Transfer& transfer, const Passage& passage);
  void clear();

 private:
  void add_run(Ticks start, Op op, Kind kind, std::size_t first, std::size_t count);

  std::uint32_t moves_in_runs_ = 0;
  std::uint32_t uses_in_runs_ = 0;
};

void put_bucket(Packet& packet, const Bucket& bucket);
void get_bucket(PacketReader& reader, Bucket& bucket);

/// Numbers of chunks or of links, 2^shift to a slice.
struct Slicing {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t shift = 0;

  [[nodiscard]] bool covers(std::uint32_t number) const { return number - first < count; }
  /// Of a number that is covered.
  [[nodiscard]] std::uint32_t slice(std::uint32_t number) const {
    return (number - first) >> shift;
  }
  [[nodiscard]] std::uint32_t num_slices() const {
    return count == 0 ? 0 : ((count - 1) >> shift) + 1;
  }
  [[nodiscard]] std::uint32_t first_of(std::uint32_t slice) const {
    return first + (slice << shift);
  }
  [[nodiscard]] std::uint32_t size_of(std::uint32_t slice) const {
    return std::min(count - (slice << shift), std::uint32_t{1} << shift);
  }
};

/// At least `least` slices where there are so many numbers, and more until none takes more than
/// `most_bytes`, but not too many.
[[nodiscard]] Slicing cut_slices(std::uint32_t first,
                                 std::uint32_t count,
                                 std::uint32_t least,
                                 std::uint64_t bytes_each,
                                 std::uint64_t most_bytes);

/// Which slices there are.
struct Slices {
  Slicing chunks;
  Slicing links;
  /// Whether links are looked at while the transfers are sorted, and need no slices.
  bool links_when_sorted = false;

  [[nodiscard]] std::uint32_t count() const { return chunks.num_slices() + links.num_slices(); }
};

}  // namespace tacos
