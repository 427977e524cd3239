// SPDX-License-Identifier: MIT
// A slice of the replay: the data of some chunks, or the traffic on some links. What happens to one
// chunk does not depend on any other, nor what happens on one link, so slices know nothing of each
// other. They find out whether something is wrong, and leave it to others to say what.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tacos/collective.h"
#include "tacos/units.h"

#include "verify/buckets.h"
#include "verify/data_replay.h"
#include "verify/sorted_stretches.h"
#include "verify/traffic.h"
#include "verify/violations.h"
#include "verify/wire_table.h"
#include "verify/wires.h"

namespace tacos {

/// Calls visit(bucket, run) with the runs of all buckets in start order.
template <class Visit>
void for_each_run(std::span<const Bucket* const> buckets, BucketOrder order, const Visit& visit) {
  if (order == BucketOrder::kOneByOne) {
    for (const Bucket* bucket : buckets) {
      for (const Bucket::Run& run : bucket->runs) {
        visit(*bucket, run);
      }
    }
    return;
  }
  std::vector<std::size_t> next(buckets.size());
  constexpr Ticks kNever{std::numeric_limits<std::int64_t>::max()};
  for (Ticks now{};;) {
    Ticks later = kNever;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      const std::vector<Bucket::Run>& runs = buckets[i]->runs;
      for (; next[i] < runs.size() && runs[next[i]].start <= now; ++next[i]) {
        visit(*buckets[i], runs[next[i]]);
      }
      if (next[i] < runs.size()) {
        later = std::min(later, runs[next[i]].start);
      }
    }
    if (later == kNever) {
      return;
    }
    now = later;
  }
}

/// Of chunks. `Data` is Copies or Sums.
template <class Data>
class DataSlice {
 public:
  DataSlice(const WireTable& table,
            const Collective& collective,
            std::uint32_t first,
            std::uint32_t count)
      : times_(table.times()),
        violations_(table.topology(), 0),
        data_(table.topology(), collective, violations_, first, count),
        replay_(collective, data_, violations_) {}
  DataSlice(const DataSlice&) = delete;
  DataSlice& operator=(const DataSlice&) = delete;
  ~DataSlice() = default;

  void replay(const Bucket& bucket, const Bucket::Run& run) {
    if (run.kind == Bucket::Kind::kMoves) {
      replay_moves(std::span(bucket.moves).subspan(run.first, run.count), run);
      return;
    }
    const std::span<const ChunkId> chunks = std::span(bucket.chunks).subspan(run.first, run.count);
    replay_.replay(bucket.flights[run.flight],
                   {.start = run.start, .op = run.op, .links = {}, .chunks = chunks},
                   0);
  }
  /// Before the buckets are used for something else.
  void keep() { data_.keep(); }
  void finish() { replay_.finish(); }
  [[nodiscard]] bool sound() const { return sound_ && violations_.count() == 0; }

 private:
  void replay_moves(std::span<const Move> moves, const Bucket::Run& run) {
    data_.advance(run.start);
    for (std::size_t from = 0; from < moves.size();) {
      std::size_t to = from + 1;
      while (to < moves.size() && moves[to].duration == moves[from].duration) {
        ++to;
      }
      sound_ &= data_.send_all(run.start,
                               run.start + times_[moves[from].duration],
                               run.op,
                               moves.subspan(from, to - from));
      from = to;
    }
  }

  std::span<const Ticks> times_;
  Violations violations_;
  Data data_;
  DataReplay<Data> replay_;
  bool sound_ = true;
};

/// Of links.
class LinkSlice {
 public:
  LinkSlice(const WireTable& table, std::uint32_t first, std::uint32_t count)
      : times_(table.times()),
        violations_(table.topology(), 0),
        traffic_(table, first, count, violations_) {}
  LinkSlice(const LinkSlice&) = delete;
  LinkSlice& operator=(const LinkSlice&) = delete;
  ~LinkSlice() = default;

  void replay(const Bucket& bucket, const Bucket::Run& run);
  void finish() { traffic_.finish(); }
  [[nodiscard]] bool sound() const { return violations_.count() == 0; }

 private:
  std::span<const Ticks> times_;
  Violations violations_;
  Traffic traffic_;
};

}  // namespace tacos
