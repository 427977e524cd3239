// SPDX-License-Identifier: MIT
// What happens to one chunk does not depend on any other chunk, and what happens on one link not on
// any other link. So chunks and links are cut into slices, each with its own places, arrivals and
// clocks, which nobody else touches.
//
// A stretch of the schedule at a time, all threads first read and check its transfers and sort them
// into buckets, one for each strip that is read and each slice; then they replay the slices, each
// from its own buckets. No thread waits for another but at the end of these two. Where the
// transfers of a link are all in one strip, as in logs, whoever reads the strip looks at the link
// as well. Within a team each member reads what it holds, has slices of its own, and is sent their
// buckets.
//
// Invariant: a slice sees all that concerns it, in start order. What starts at one instant it may
// see in any order, which makes no difference since no chunk is empty and everything takes time:
// what starts now arrives later, and two that want a link at one instant are in each other's way
// whoever is first.
//
// Slices know whether something is wrong, and no words for it. Then the schedule is replayed once
// more, in order and by one thread, which finds the words: verdicts and violations cannot depend on
// how the work was cut. Wrong schedules take longer for it, and are rare.
#include "verify/in_slices.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "base/parallel/jobs.h"
#include "base/parallel/threads.h"
#include "schedule/source.h"
#include "verify/buckets.h"
#include "verify/copies.h"
#include "verify/slices.h"
#include "verify/sorted_stretches.h"
#include "verify/sums.h"

namespace tacos {
namespace {

/// This member's slices, for one pass over the schedule. `Data` is Copies or Sums.
template <class Data>
class SlicedReplay {
 public:
  SlicedReplay(const WireTable& table,
               const Collective& collective,
               const Slices& slices,
               ThreadPool& pool,
               const Team& team)
      : pool_(pool) {
    const OwnSlices chunks = own_slices(slices.chunks.num_slices(), team.member(), team.size());
    const OwnSlices links = own_slices(slices.links.num_slices(), team.member(), team.size());
    data_.resize(chunks.size());
    links_.resize(links.size());
    for_each_slice(
        [&](std::size_t slice) {
          const std::uint32_t number = chunks.first + static_cast<std::uint32_t>(slice);
          data_[slice] = std::make_unique<DataSlice<Data>>(
              table, collective, slices.chunks.first_of(number), slices.chunks.size_of(number));
        },
        [&](std::size_t slice) {
          const std::uint32_t number = links.first + static_cast<std::uint32_t>(slice);
          links_[slice] = std::make_unique<LinkSlice>(
              table, slices.links.first_of(number), slices.links.size_of(number));
        });
  }

  /// Replays everything; calls seen(transfers so far) after each stretch.
  template <class Seen>
  void run(SortedStretches& sorted, const Seen& seen) {
    while (sorted.next(sound())) {
      for_each_job(pool_, data_.size() + links_.size() + 1, [&](std::size_t job) {
        if (job == 0) {
          sorted.read_ahead();
        } else {
          replay(job - 1, sorted);
        }
      });
      seen(sorted.transfers());
    }
    if (sorted.sound()) {
      for_each_slice([&](std::size_t slice) { data_[slice]->finish(); },
                     [&](std::size_t slice) { links_[slice]->finish(); });
    }
  }
  [[nodiscard]] bool sound() const {
    const auto is_sound = [](const auto& slice) { return slice->sound(); };
    return std::all_of(data_.begin(), data_.end(), is_sound) &&
           std::all_of(links_.begin(), links_.end(), is_sound);
  }

 private:
  template <class OfChunks, class OfLinks>
  void for_each_slice(const OfChunks& of_chunks, const OfLinks& of_links) {
    for_each_job(pool_, data_.size() + links_.size(), [&](std::size_t job) {
      if (job < data_.size()) {
        of_chunks(job);
      } else {
        of_links(job - data_.size());
      }
    });
  }
  void replay(std::size_t slice, const SortedStretches& sorted) {
    for_each_run(
        sorted.buckets(slice), sorted.order(), [&](const Bucket& bucket, const Bucket::Run& run) {
          if (slice < data_.size()) {
            data_[slice]->replay(bucket, run);
          } else {
            links_[slice - data_.size()]->replay(bucket, run);
          }
        });
    if (slice < data_.size()) {
      data_[slice]->keep();
    }
  }

  ThreadPool& pool_;
  std::vector<std::unique_ptr<DataSlice<Data>>> data_;
  std::vector<std::unique_ptr<LinkSlice>> links_;
};

/// All passes over a schedule, by all members of a team.
class Passes {
 public:
  Passes(const WireTable& table,
         const Collective& collective,
         const Schedule& schedule,
         const VerifyOptions& options,
         const SliceOptions& cut,
         Team& team)
      : table_(table),
        collective_(collective),
        schedule_(schedule),
        options_(options),
        cut_(cut),
        team_(team),
        pool_(options.threads),
        least_(least_slices()) {}

  std::optional<Counts> run() {
    const std::uint32_t chunks = collective_.num_chunks();
    if (!collective_.reduces()) {
      return pass<Copies>(0, chunks, bytes_of_copies(), Pass::kFirst);
    }
    const std::uint32_t block = chunks_at_once();
    std::optional<Counts> counts;
    for (std::uint32_t first = 0; first < chunks; first += std::min(block, chunks - first)) {
      const std::optional<Counts> more = pass<Sums>(first,
                                                    std::min(block, chunks - first),
                                                    Sums::kPlaceBytes * npus(),
                                                    first == 0 ? Pass::kFirst : Pass::kLater);
      if (!more) {
        return std::nullopt;
      }
      counts = counts ? counts : more;
    }
    return counts;
  }

 private:
  [[nodiscard]] std::uint64_t npus() const { return table_.topology().num_npus(); }
  [[nodiscard]] std::uint64_t bytes_of_copies() const { return npus() / 8 + 1; }

  /// For the threads of all members.
  [[nodiscard]] std::uint32_t least_slices() const {
    std::uint32_t threads = 0;
    for (const int of_member : all_gather(team_, options_.threads)) {
      threads += static_cast<std::uint32_t>(of_member);
    }
    return cut_.slices_per_thread * threads;
  }
  /// How many chunks of sums fit into the memory of all members.
  [[nodiscard]] std::uint32_t chunks_at_once() const {
    const std::vector<int> machines = all_gather(team_, team_.machine());
    const auto here =
        static_cast<std::size_t>(std::count(machines.begin(), machines.end(), team_.machine()));
    const std::vector<std::size_t> memory = all_gather(team_, options_.memory_bytes / here);
    const std::size_t least = *std::min_element(memory.begin(), memory.end());
    return Sums::chunks_within(
        least * memory.size(), table_.topology().num_npus(), collective_.num_chunks());
  }

  template <class Data>
  std::optional<Counts> pass(std::uint32_t first,
                             std::uint32_t count,
                             std::uint64_t bytes_each,
                             Pass number) {
    auto stretches = source_of(schedule_).stretches(options_.threads);
    Slices slices;
    slices.chunks = cut_slices(first, count, least_, bytes_each, cut_.slice_bytes);
    if (number == Pass::kFirst) {
      slices.links_when_sorted = for_all(stretches->links_keep_to_strips());
      if (!slices.links_when_sorted) {
        slices.links =
            cut_slices(0, table_.num_links(), least_, sizeof(WireTable::Wire), cut_.slice_bytes);
      }
    }
    SlicedReplay<Data> replay(table_, collective_, slices, pool_, team_);
    SortedStretches sorted(table_, slices, std::move(stretches), cut_.stretch, pool_, team_);
    replay.run(sorted, [&](std::uint64_t transfers) { tell(first, count, transfers); });
    return together(sorted, replay.sound());
  }
  /// Whether it is true for every member.
  [[nodiscard]] bool for_all(bool mine) const {
    const std::vector<char> all = all_gather(team_, static_cast<char>(mine));
    return std::find(all.begin(), all.end(), 0) == all.end();
  }

  /// What all members found.
  [[nodiscard]] std::optional<Counts> together(const SortedStretches& sorted, bool sound) const {
    struct Found {
      Counts counts;
      bool sound = false;
    };
    const Sorter::Tally tally = sorted.tally();
    Counts counts;
    sound &= sorted.sound();
    for (const Found& found :
         all_gather(team_, Found{{tally.transfers, tally.moves, tally.latest}, sound})) {
      sound &= found.sound;
      counts.transfers += found.counts.transfers;
      counts.moves += found.counts.moves;
      counts.latest = std::max(counts.latest, found.counts.latest);
    }
    return sound ? std::optional(counts) : std::nullopt;
  }

  /// As far as the stated length can be trusted.
  void tell(std::uint32_t first, std::uint32_t count, std::uint64_t transfers) const {
    if (options_.progress) {
      const auto all = static_cast<double>(std::max<std::uint64_t>(1, schedule_.num_transfers()));
      const double share = std::min(1.0, static_cast<double>(transfers) / all);
      options_.progress((first + count * share) / collective_.num_chunks());
    }
  }

  const WireTable& table_;
  const Collective& collective_;
  const Schedule& schedule_;
  const VerifyOptions& options_;
  const SliceOptions& cut_;
  Team& team_;
  ThreadPool pool_;
  std::uint32_t least_;
};

}  // namespace

std::optional<Counts> replay_in_slices(const WireTable& table,
                                       const Collective& collective,
                                       const Schedule& schedule,
                                       const VerifyOptions& options,
                                       const SliceOptions& cut,
                                       Team& team) {
  TACOS_ASSERT(table.times().front() > Ticks{}, "every transfer takes time");
  return Passes(table, collective, schedule, options, cut, team).run();
}

}  // namespace tacos
