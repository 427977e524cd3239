// SPDX-License-Identifier: MIT
// A schedule, stretch by stretch, sorted into the buckets of slices: by the threads of this process
// and, where there is a team, by all members, each of which reads what it holds and gets what
// concerns its own slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tacos/result.h"
#include "tacos/units.h"

#include "base/parallel/team.h"
#include "base/parallel/threads.h"
#include "schedule/stretches.h"
#include "verify/buckets.h"
#include "verify/sorter.h"
#include "verify/wire_table.h"

namespace tacos {

/// Which of `count` slices are this member's: [first, end).
struct OwnSlices {
  std::uint32_t first = 0;
  std::uint32_t end = 0;

  [[nodiscard]] std::uint32_t size() const { return end - first; }
};
[[nodiscard]] OwnSlices own_slices(std::uint32_t count, int member, int members);

/// How the buckets of a slice follow each other: one by one, or all of them side by side in time.
enum class BucketOrder : std::uint8_t { kOneByOne, kSideBySide };

class SortedStretches {
 public:
  /// About `stretch` transfers at a time.
  SortedStretches(const WireTable& table,
                  const Slices& slices,
                  std::unique_ptr<Stretches> stretches,
                  std::uint64_t stretch,
                  ThreadPool& pool,
                  Team& team);

  /// Goes on to the next stretch, unless there is none or something is wrong anywhere: `good` says
  /// that nothing was with the one before. All members call it and get the same answer.
  [[nodiscard]] bool next(bool good);
  /// Does what next() would begin with, while others look at the buckets.
  void read_ahead();
  /// Whether nothing was wrong so far; the same for all members.
  [[nodiscard]] bool sound() const { return sound_; }

  [[nodiscard]] BucketOrder order() const { return order_; }
  /// Of a slice of this member, counted from its first.
  [[nodiscard]] std::vector<const Bucket*> buckets(std::size_t own) const;
  /// Of what this member has read.
  [[nodiscard]] Sorter::Tally tally() const;
  /// How many transfers all members have read.
  [[nodiscard]] std::uint64_t transfers() const { return transfers_; }

 private:
  /// What a member knows of its own part of a stretch.
  struct Part {
    bool more = false;
    bool sound = true;
    BucketOrder order = BucketOrder::kOneByOne;
    std::uint32_t strips = 0;
    /// So far.
    std::uint64_t transfers = 0;
    /// When its first and its last transfer start.
    Ticks first = kMaxTime;
    Ticks last;
  };
  [[nodiscard]] Part sort_own();
  void sort_strips(std::size_t strips, Part& part);
  [[nodiscard]] std::vector<Part> exchange(const Part& mine);
  void put_own(Packet& packet, const Part& mine, int member) const;
  void get_own(PacketReader& reader, const Part& part, std::vector<Bucket>& buckets) const;
  template <class Visit>
  void for_each_slice_of(int member, const Visit& visit) const;

  const WireTable& table_;
  Slices slices_;
  std::unique_ptr<Stretches> stretches_;
  std::uint64_t stretch_;
  ThreadPool& pool_;
  Team& team_;
  /// When each link is free again, where they are looked at here.
  std::vector<Ticks> free_at_;
  std::vector<std::unique_ptr<Sorter>> sorters_;
  /// Per member: strip by strip, the buckets of this member's slices. Its own are with the sorters.
  std::vector<std::vector<Bucket>> received_;
  std::size_t strips_ = 0;
  Result<bool> more_ = false;
  bool ahead_ = false;
  bool sound_ = true;
  BucketOrder order_ = BucketOrder::kOneByOne;
  Ticks last_;
  std::uint64_t transfers_ = 0;
};

}  // namespace tacos
