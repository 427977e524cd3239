// SPDX-License-Identifier: MIT
// The arrival-log matcher: link-chunk matching (TACOS, arXiv 2304.05301, section IV) for any number
// of NPUs.
//
// What an NPU has is an append-only log; every link keeps one pointer into its source's log and
// takes the next entry that its destination lacks. "The destination has it" is permanent, so each
// (link, entry) pair is looked at once: in-degree probes per delivery in all, no queue, no search.
// As in rarest_matcher, which chunk a transfer carries is decided when it ends, among those that
// the source had when it began: on unequal links the earliest arrival wins.
//
// Windows: deciding a span of time at once keeps an NPU's bit row and its neighbours' logs in
// cache. What comes in a window is picked from what sources had when it began, so NPUs decide
// independently (parallel, same result on any number of threads) and causally. A link that finds
// nothing waits for the next window, and begins at the earliest time at which it could have known
// of what it then finds. How long windows are is in window_length; as long as they are exact, no
// longer than the shortest delay, the result is that of deciding at every moment.
//
// A team shares out the NPUs: a member decides for its own, as a thread does, and sees of the
// others what their logs gain in each window (halo.h). Logs, bits and pointers shrink with its
// share.
//
// The logs are the result (schedule/logs/window_log.h): what a window adds to them is, with the
// number of picks and the pauses of each link, all that a reader needs.
//
// Cost: O(links x chunks) probes, O(in-degree) for each delivery to find the next link (O(log
// in-degree) of many), O(links) for each window; 2 or 4 bytes, and a bit, per delivery.
#include "synthesis/matching/direct/log_matcher.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/memory/bit_matrix.h"
#include "synthesis/matching/direct/arrival_times.h"
#include "synthesis/matching/direct/careful_choice.h"
#include "synthesis/matching/direct/found_pauses.h"
#include "synthesis/matching/direct/halo.h"
#include "synthesis/matching/direct/log_link.h"
#include "synthesis/matching/direct/window_length.h"

namespace tacos::matching {
namespace {

/// Among so many links, looking at all is the quickest way to find the next.
constexpr std::uint32_t kFewLinks = 16;

/// `Id` is the type of the log's entries. `InStep`: all transfers take one unit of time, so every
/// entry that a window may use came by its beginning, and links that wait start then.
template <class Id, bool InStep>
class LogMatcher {
 public:
  LogMatcher(const GatherNetwork& network,
             const GatherTask& task,
             std::uint64_t seed,
             Care care,
             ThreadPool& pool,
             WindowLog& log)
      : network_(network),
        num_chunks_(task.num_chunks()),
        pool_(pool),
        log_(log),
        own_(log.npus()),
        base_(log.first_link(own_)),
        held_(own_.size(), num_chunks_),
        length_(network.num_npus(), 0),
        links_(log.num_links(own_)),
        counts_(links_.size(), 0),
        free_(InStep ? 0 : links_.size(), 0),
        windows_(network, task, seed) {
    if (log.team() != nullptr) {
      halo_.emplace(network, *log.team(), own_);
    }
    set_times();
    for (std::uint32_t chunk = 0; chunk < num_chunks_; ++chunk) {
      begin_with(task.start_of(chunk), chunk);
    }
    if (care == Care::kWhereTimeIsShort) {
      TACOS_ASSERT(pool.threads() == 1 && !halo_, "what others have by now is in one order");
      care_ = CareRule(network, task, windows_);
    }
    visible_ = length_;
    std::copy(length_.begin(), length_.end(), log_.begun_with().begin());
    if constexpr (!InStep) {
      came_.emplace(network, windows_.shortest(), num_chunks_, [&](std::uint32_t npu) {
        return own_.contains(npu) || halo_->has(npu);
      });
      came_->add_all(length_, 0);
    }
  }

  /// False when there is no time for it.
  [[nodiscard]] bool run(const std::function<void(double)>& progress) {
    const std::uint64_t deliveries = std::uint64_t{network_.num_npus() - 1} * num_chunks_;
    GridTime finish = windows_.least();
    while (log_.num_deliveries() < deliveries) {
      const WindowLength::Length length = windows_.next(begin_, finish);
      exact_ = length.exact;
      end_ = begin_ + length.time;
      WindowSums sums = run_window();
      if (sums.totals.deliveries == 0) {
        // Nothing comes for a while: the window goes on until something does.
        TACOS_ASSERT(sums.next != kNever, "every owner reaches every NPU");
        end_ = sums.next;
        sums = run_window();
      }
      if (end_ >= network_.end_of_time()) {
        return false;
      }
      log_.add_window(begin_, counts_, pauses_.sorted(), sums.totals);
      begin_ = sums.totals.last;
      finish = sums.finish;
      if constexpr (!InStep) {
        if (!exact_) {
          came_->add_all(length_, begin_);
        }
        came_->publish();
      }
      visible_ = length_;
      if (progress) {
        progress(static_cast<double>(log_.num_deliveries()) / static_cast<double>(deliveries));
      }
    }
    if constexpr (!InStep) {
      for (const LogLink& link : links_) {
        if (link.waits == 0) {
          free_[index_of(link)] = link.arrival - times_[link.times].delay;
        }
      }
      log_.set_free(std::move(free_));
    }
    return true;
  }

 private:
  /// An NPU of our own while arrivals at it are decided.
  struct Receiver {
    BitMatrix::Word* held;
    Id* entries;
    std::uint32_t npu;
    std::uint32_t length;
    /// When the last entry came.
    GridTime last;
    std::vector<Pause>& pauses;
  };

  void set_times() {
    const auto own = network_.in_links().subspan(base_, links_.size());
    times_ = different_times(own);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const LinkTimes times{.period = own[i].period, .delay = own[i].delay};
      links_[i].src = own[i].src;
      links_[i].times =
          static_cast<std::uint32_t>(std::lower_bound(times_.begin(), times_.end(), times) -
                                     times_.begin()) &
          0x7fffffffU;
    }
  }

  void begin_with(std::uint32_t npu, std::uint32_t chunk) {
    const auto id = static_cast<Id>(chunk);
    if (own_.contains(npu)) {
      log_.template entries<Id>(npu)[length_[npu]] = id;
      held_.set(npu - own_.first, chunk);
    } else if (halo_->has(npu)) {
      halo_->append(npu, id);
    }
    ++length_[npu];
  }

  WindowSums run_window() {
    constexpr std::size_t kGrain = 32;
    constexpr std::uint32_t kAhead = 2;
    WindowSums all;
    std::mutex adding;
    pauses_.clear();
    pool_.for_ranges(own_.size(), kGrain, [&](std::size_t from, std::size_t to) {
      WindowSums sums;
      std::vector<Pause> pauses;
      for (std::size_t i = from; i < to; ++i) {
        const auto npu = static_cast<std::uint32_t>(own_.first + i);
        if (i + kAhead < to) {
          prefetch(npu + kAhead);
        }
        run_npu(npu, sums, pauses);
      }
      const std::scoped_lock lock(adding);
      all += sums;
      pauses_.add(from, std::move(pauses));
    });
    pauses_.sort();
    if (all.totals.deliveries == 0) {
      all.next = next_arrival();
    }
    if (halo_) {
      halo_->trim([&](std::uint32_t at) { return links_[at - base_].block; }, length_, num_chunks_);
      all = halo_->exchange(log_, all, visible_, length_, exact_ ? &*came_ : nullptr);
    }
    return all;
  }

  [[nodiscard]] GridTime next_arrival() {
    GridTime next = kNever;
    for (std::uint32_t npu = own_.first; npu < own_.end; ++npu) {
      if (length_[npu] != num_chunks_) {
        for (const LogLink& link : links_into(npu)) {
          next = std::min(next, link.arrival);
        }
      }
    }
    return next;
  }

  /// Of a log from a position on that no link has passed.
  [[nodiscard]] const Id* entries(std::uint32_t npu, std::uint32_t from) const {
    return own_.contains(npu) ? log_.template entries<Id>(npu) + from : halo_->entries(npu, from);
  }
  [[nodiscard]] std::span<LogLink> links_into(std::uint32_t npu) {
    const std::uint32_t first = network_.first_in(npu);
    return std::span(links_).subspan(first - base_, network_.end_in(npu) - first);
  }

  void prefetch(std::uint32_t npu) {
    if (length_[npu] == num_chunks_) {
      return;
    }
    constexpr std::size_t kLine = 64;
    constexpr std::size_t kLineWords = kLine / sizeof(BitMatrix::Word);
    const auto row = held_.row(npu - own_.first);
    for (std::size_t word = 0; word < row.size(); word += kLineWords) {
      __builtin_prefetch(&row[word]);
    }
    for (const LogLink& link : links_into(npu)) {
      const Id* next = entries(link.src, link.block);
      __builtin_prefetch(next);
      __builtin_prefetch(next + kLine / sizeof(Id));
    }
    __builtin_prefetch(log_.template entries<Id>(npu) + length_[npu], 1);
  }

  /// Everything that comes to an NPU in the window.
  void run_npu(std::uint32_t npu, WindowSums& sums, std::vector<Pause>& pauses) {
    const std::span<LogLink> links = links_into(npu);
    for (const LogLink& link : links) {
      counts_[index_of(link)] = 0;
    }
    if (length_[npu] == num_chunks_) {
      return;
    }
    Receiver receiver{.held = held_.row(npu - own_.first).data(),
                      .entries = log_.template entries<Id>(npu),
                      .npu = npu,
                      .length = length_[npu],
                      .last = 0,
                      .pauses = pauses};
    if (care_.applies(npu, num_chunks_ - receiver.length, begin_, windows_)) {
      common_.clear(held_.words_per_row());
      for (const LogLink& link : links) {
        common_.add(held_.row(link.src));
      }
      receive_all<true>(links, receiver);
    } else {
      receive_all<false>(links, receiver);
    }
    sums.totals.deliveries += receiver.length - length_[npu];
    sums.totals.last = std::max(sums.totals.last, receiver.last);
    length_[npu] = receiver.length;
    sums.finish = std::max(sums.finish, windows_.finish(npu, num_chunks_ - receiver.length, end_));
  }

  /// `Careful`: what is chosen with care, by `common_`.
  template <bool Careful>
  void receive_all(std::span<LogLink> links, Receiver& receiver) {
    if constexpr (InStep) {
      receive_in_step<Careful>(links, receiver);
    } else {
      for (LogLink& link : links) {
        if (link.arrival == kNever && !link.done(visible_[link.src])) {
          wake(link, receiver);
        }
      }
      if (links.size() <= kFewLinks) {
        receive_from_few<Careful>(links, receiver);
      } else {
        receive_from_many<Careful>(links, receiver);
      }
    }
  }

  /// One entry from each link that has one, then the next.
  template <bool Careful>
  void receive_in_step(std::span<LogLink> links, Receiver& receiver) {
    for (GridTime now = begin_ + 1; now <= end_; ++now) {
      const std::uint32_t before = receiver.length;
      for (LogLink& link : links) {
        if (link.done(visible_[link.src])) {
          continue;
        }
        const Id* entry = find(link, receiver);
        if (entry != nullptr) {
          receive<Careful>(link, *entry, visible_[link.src], receiver);
          if (receiver.length == num_chunks_) {
            receiver.last = now;
            return;
          }
        }
      }
      if (receiver.length == before) {
        return;
      }
      receiver.last = now;
    }
  }

  /// Always from the link whose transfer ends first, of equals from the first link.
  template <bool Careful>
  void receive_from_few(std::span<LogLink> links, Receiver& receiver) {
    while (receiver.length != num_chunks_) {
      LogLink* next = links.data();
      GridTime time = next->arrival;
      for (LogLink& link : links.subspan(1)) {
        const bool earlier = link.arrival < time;
        time = earlier ? link.arrival : time;
        next = earlier ? &link : next;
      }
      if (time > end_) {
        return;
      }
      arrive<Careful>(*next, receiver);
    }
  }

  template <bool Careful>
  void receive_from_many(std::span<LogLink> links, Receiver& receiver) {
    std::vector<std::pair<GridTime, std::size_t>> heap;
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (links[i].arrival <= end_) {
        heap.emplace_back(links[i].arrival, i);
      }
    }
    std::make_heap(heap.begin(), heap.end(), std::greater<>{});
    while (!heap.empty() && receiver.length != num_chunks_) {
      std::pop_heap(heap.begin(), heap.end(), std::greater<>{});
      LogLink& link = links[heap.back().second];
      arrive<Careful>(link, receiver);
      if (link.arrival <= end_) {
        heap.back().first = link.arrival;
        std::push_heap(heap.begin(), heap.end(), std::greater<>{});
      } else {
        heap.pop_back();
      }
    }
  }

  [[nodiscard]] const Id* find(LogLink& link, const Receiver& receiver) const {
    return find_missing(link, entries(link.src, link.block), visible_[link.src], receiver.held);
  }

  /// What a link has found, or with care another before `open`.
  template <bool Careful>
  [[gnu::always_inline]] void receive(LogLink& link,
                                      Id chunk,
                                      std::uint32_t open,
                                      Receiver& receiver) {
    constexpr auto kBits = BitMatrix::kWordBits;
    if constexpr (Careful) {
      const Id* block = entries(link.src, link.block);
      chunk = take_uncommon(link, block, {visible_[link.src], open}, receiver.held, common_.row());
    } else {
      link.take();
    }
    ++counts_[index_of(link)];
    receiver.entries[receiver.length++] = chunk;
    receiver.held[chunk / kBits] |= BitMatrix::Word{1} << chunk % kBits;
  }

  /// A transfer ends: binds it to a chunk, or finds that it could not have started.
  template <bool Careful>
  [[gnu::always_inline]] void arrive(LogLink& link, Receiver& receiver) {
    const GridTime now = link.arrival;
    const LinkTimes& times = times_[link.times];
    const GridTime start = now - times.delay;
    const Id* entry = find(link, receiver);
    if (entry == nullptr) {
      wait(link, start);
      link.arrival = kNever;
      return;
    }
    if (link.found() >= link.open) {
      const ArrivalTimes::Came came = came_->came(link.src, link.found(), start);
      link.open = came.by_then;
      if (came.time > start) {
        wait(link, start);
        link.arrival = std::max(came.time + times.delay, begin_ + 1);
        return;
      }
    }
    if (link.waits != 0) {
      end_wait(link, start, receiver);
    }
    link.arrival = now + times.period;
    if constexpr (Careful) {
      link.open = std::max(link.open, came_->came(link.src, link.found(), start).by_then);
    }
    receive<Careful>(link, *entry, link.open, receiver);
    receiver.last = now;
    if (exact_) {
      came_->add(receiver.npu, receiver.length, now);
    }
  }

  void wait(LogLink& link, GridTime free) {
    if (link.waits == 0) {
      link.waits = 1;
      free_[index_of(link)] = free;
    }
  }
  void end_wait(LogLink& link, GridTime start, Receiver& receiver) {
    const std::size_t at = index_of(link);
    link.waits = 0;
    if (start != free_[at]) {
      const Pause pause{.position = static_cast<std::uint32_t>(at),
                        .after = counts_[at],
                        .length = start - free_[at]};
      insert_in_order(pause, receiver.pauses);
    }
  }

  /// The source of a link that has nothing to send has news.
  void wake(LogLink& link, const Receiver& receiver) {
    if (find(link, receiver) != nullptr) {
      const GridTime free = free_[index_of(link)];
      const GridTime came = came_->came(link.src, link.found(), free).time;
      link.arrival = std::max(std::max(free, came) + times_[link.times].delay, begin_ + 1);
    }
  }

  [[nodiscard]] std::size_t index_of(const LogLink& link) const {
    return static_cast<std::size_t>(&link - links_.data());
  }

  const GatherNetwork& network_;
  std::uint32_t num_chunks_;
  ThreadPool& pool_;
  WindowLog& log_;
  /// Whose entries are ours to decide, and the position of their first in-link.
  NpuRange own_;
  std::uint32_t base_;
  /// With a team, what it sees of the others.
  std::optional<Halo<Id>> halo_;
  /// Rows of our own only.
  BitMatrix held_;
  /// Per NPU: how many entries its log has, now and when the window began.
  std::vector<std::uint32_t> length_;
  std::vector<std::uint32_t> visible_;
  /// The links into our own NPUs, and how many each has brought in the window.
  std::vector<LogLink> links_;
  std::vector<std::uint32_t> counts_;
  /// Of those that wait: when they could have started again after their last transfer.
  std::vector<GridTime> free_;
  std::vector<LinkTimes> times_;
  /// Unless in step.
  std::optional<ArrivalTimes> came_;
  WindowLength windows_;
  CareRule care_;
  /// Of the NPU that chooses with care, what its sources have.
  CommonChunks common_;
  /// The window, and whether it is an exact one.
  GridTime begin_ = 0;
  GridTime end_ = 0;
  bool exact_ = false;
  FoundPauses pauses_;
};

}  // namespace

SharedLog match_oldest_first(const GatherNetwork& network,
                             const GatherTask& task,
                             const LogOptions& options,
                             ThreadPool& pool) {
  auto log = std::make_shared<WindowLog>(
      in_links_of(network), task.num_chunks(), options.team, options.directory);
  const auto run = [&]<class Id, bool InStep>() {
    return LogMatcher<Id, InStep>(network, task, options.seed, options.care, pool, *log)
        .run(options.progress);
  };
  const bool in_step = network.uniform();
  const bool in_time = log->narrow() ? (in_step ? run.template operator()<std::uint16_t, true>()
                                                : run.template operator()<std::uint16_t, false>())
                                     : (in_step ? run.template operator()<std::uint32_t, true>()
                                                : run.template operator()<std::uint32_t, false>());
  return in_time ? log : nullptr;
}

}  // namespace tacos::matching
