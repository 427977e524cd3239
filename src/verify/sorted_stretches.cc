// SPDX-License-Identifier: MIT
#include "verify/sorted_stretches.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/parallel/jobs.h"

namespace tacos {

OwnSlices own_slices(std::uint32_t count, int member, int members) {
  const auto before = [&](int number) {
    return static_cast<std::uint32_t>(std::uint64_t{count} * static_cast<std::uint32_t>(number) /
                                      static_cast<std::uint32_t>(members));
  };
  return {before(member), before(member + 1)};
}

SortedStretches::SortedStretches(const WireTable& table,
                                 const Slices& slices,
                                 std::unique_ptr<Stretches> stretches,
                                 std::uint64_t stretch,
                                 ThreadPool& pool,
                                 Team& team)
    : table_(table),
      slices_(slices),
      stretches_(std::move(stretches)),
      stretch_(stretch),
      pool_(pool),
      team_(team),
      free_at_(slices.links_when_sorted ? table.num_links() : 0),
      received_(static_cast<std::size_t>(team.size())) {}

void SortedStretches::read_ahead() {
  more_ = stretches_->next(stretch_);
  ahead_ = true;
}

bool SortedStretches::next(bool good) {
  Part mine = sort_own();
  mine.sound &= good;
  const std::vector<Part> parts = team_.size() == 1 ? std::vector<Part>{mine} : exchange(mine);
  bool more = false;
  Ticks first = kMaxTime;
  Ticks last = last_;
  order_ = BucketOrder::kOneByOne;
  transfers_ = 0;
  for (const Part& part : parts) {
    more |= part.more;
    transfers_ += part.transfers;
    sound_ &= part.sound;
    first = std::min(first, part.first);
    last = std::max(last, part.last);
    if (part.order == BucketOrder::kSideBySide) {
      order_ = part.order;
    }
  }
  sound_ &= first >= last_;
  last_ = last;
  return sound_ && more;
}

SortedStretches::Part SortedStretches::sort_own() {
  if (!ahead_) {
    read_ahead();
  }
  ahead_ = false;
  Part part;
  part.sound = more_.has_value();
  part.more = more_ && *more_;
  strips_ = part.more ? stretches_->num_strips() : 0;
  part.strips = static_cast<std::uint32_t>(strips_);
  if (part.more && stretches_->side_by_side()) {
    part.order = BucketOrder::kSideBySide;
  }
  while (sorters_.size() < strips_) {
    sorters_.push_back(std::make_unique<Sorter>(table_, slices_, free_at_));
  }
  sort_strips(strips_, part);
  part.transfers = tally().transfers;
  return part;
}

void SortedStretches::sort_strips(std::size_t strips, Part& part) {
  std::atomic<bool> sound = part.sound;
  for_each_job(pool_, strips, [&](std::size_t strip) {
    Sorter& sorter = *sorters_[strip];
    sorter.begin_strip();
    if (!stretches_->read(strip, sorter) || !sorter.tally().sound) {
      sound = false;
    }
  });
  part.sound = sound;
  for (std::size_t strip = 0; strip < strips; ++strip) {
    const Sorter::Tally& tally = sorters_[strip]->tally();
    // One after the other: none may start before the strip before it has ended.
    part.sound &= part.order == BucketOrder::kSideBySide || tally.first >= part.last;
    part.first = std::min(part.first, tally.first);
    part.last = std::max(part.last, tally.last);
  }
}

template <class Visit>
void SortedStretches::for_each_slice_of(int member, const Visit& visit) const {
  const std::uint32_t of_chunks = slices_.chunks.num_slices();
  const OwnSlices chunks = own_slices(of_chunks, member, team_.size());
  const OwnSlices links = own_slices(slices_.links.num_slices(), member, team_.size());
  for (std::uint32_t slice = chunks.first; slice < chunks.end; ++slice) {
    visit(slice);
  }
  for (std::uint32_t slice = links.first; slice < links.end; ++slice) {
    visit(of_chunks + slice);
  }
}

std::vector<SortedStretches::Part> SortedStretches::exchange(const Part& mine) {
  const auto members = static_cast<std::size_t>(team_.size());
  std::vector<Packet> packets(members);
  for_each_job(pool_, members, [&](std::size_t member) {
    put_own(packets[member], mine, static_cast<int>(member));
  });
  packets = team_.exchange(std::move(packets));
  std::vector<Part> parts(members);
  for_each_job(pool_, members, [&](std::size_t member) {
    PacketReader reader(packets[member]);
    parts[member] = reader.get<Part>();
    get_own(reader, parts[member], received_[member]);
  });
  return parts;
}

/// Nothing but the part to itself.
void SortedStretches::put_own(Packet& packet, const Part& mine, int member) const {
  put(packet, mine);
  for (std::size_t strip = 0; strip < strips_ && member != team_.member(); ++strip) {
    for_each_slice_of(member, [&](std::uint32_t slice) {
      put_bucket(packet, sorters_[strip]->buckets()[slice]);
    });
  }
}

void SortedStretches::get_own(PacketReader& reader,
                              const Part& part,
                              std::vector<Bucket>& buckets) const {
  std::size_t filled = 0;
  for (std::uint32_t strip = 0; strip < part.strips && !reader.empty(); ++strip) {
    for_each_slice_of(team_.member(), [&](std::uint32_t /*slice*/) {
      if (filled == buckets.size()) {
        buckets.emplace_back();
      }
      get_bucket(reader, buckets[filled++]);
    });
  }
  buckets.resize(filled);
}

std::vector<const Bucket*> SortedStretches::buckets(std::size_t own) const {
  std::vector<std::uint32_t> slices;
  for_each_slice_of(team_.member(), [&](std::uint32_t slice) { slices.push_back(slice); });
  std::vector<const Bucket*> buckets;
  for (int member = 0; member < team_.size(); ++member) {
    if (member == team_.member()) {
      for (std::size_t strip = 0; strip < strips_; ++strip) {
        buckets.push_back(&sorters_[strip]->buckets()[slices[own]]);
      }
      continue;
    }
    const std::vector<Bucket>& received = received_[static_cast<std::size_t>(member)];
    for (std::size_t at = own; at < received.size(); at += slices.size()) {
      buckets.push_back(&received[at]);
    }
  }
  return buckets;
}

Sorter::Tally SortedStretches::tally() const {
  Sorter::Tally sum;
  for (const auto& sorter : sorters_) {
    sum.transfers += sorter->tally().transfers;
    sum.moves += sorter->tally().moves;
    sum.latest = std::max(sum.latest, sorter->tally().latest);
  }
  return sum;
}

}  // namespace tacos
