// SPDX-License-Identifier: MIT
#include "schedule/logs/timed_window.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "schedule/blocks/block.h"
#include "schedule/stretches.h"

namespace tacos {
namespace {

constexpr LogTime kNever = std::numeric_limits<LogTime>::max();
/// What an in-link brings in a page, as far as it has not been looked at.
struct Stream {
  LogTime arrival = 0;
  LogTime period = 0;
  LogTime delay = 0;
  /// The chunk of the next arrival, and how many its segment has from there on.
  ChunkId* chunk = nullptr;
  std::uint32_t left = 0;
  /// Segments of the same link that follow.
  std::size_t next = 0;
  std::size_t end = 0;
};

/// `take(i)` uses up an arrival of stream i, and `after(i)` tells when the next comes. Takes
/// `count` of them: always the earliest, of equals that of the first stream.
template <std::size_t Streams, class Take, class After>
void merge(std::span<const Stream> streams,
           std::size_t count,
           const Take& take,
           const After& after) {
  // All in registers: what is earliest next depends on what was last, so waiting for memory adds
  // up.
  std::array<LogTime, Streams> arrivals;
  std::array<LogTime, Streams> periods;
  for (std::size_t i = 0; i < Streams; ++i) {
    arrivals[i] = streams[i].arrival;
    periods[i] = streams[i].period;
  }
  for (; count > 0; --count) {
    std::size_t earliest = 0;
    LogTime time = arrivals[0];
    for (std::size_t i = 1; i < Streams; ++i) {
      const bool earlier = arrivals[i] < time;
      time = earlier ? arrivals[i] : time;
      earliest = earlier ? i : earliest;
    }
    for (std::size_t i = 0; i < Streams; ++i) {
      arrivals[i] += earliest == i ? periods[i] : 0;
    }
    if (!take(earliest)) [[unlikely]] {
      const LogTime next = after(earliest);
      for (std::size_t i = 0; i < Streams; ++i) {
        arrivals[i] = earliest == i ? next : arrivals[i];
      }
    }
  }
}

/// The same for any number of streams.
template <class Take, class After>
void merge_many(std::span<const Stream> streams,
                std::size_t count,
                const Take& take,
                const After& after) {
  std::vector<std::pair<LogTime, std::size_t>> heap;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    heap.emplace_back(streams[i].arrival, i);
  }
  std::make_heap(heap.begin(), heap.end(), std::greater<>{});
  for (; count > 0; --count) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>{});
    auto& [arrival, i] = heap.back();
    arrival = take(i) ? arrival + streams[i].period : after(i);
    std::push_heap(heap.begin(), heap.end(), std::greater<>{});
  }
}

template <class Take, class After>
void merge(std::span<const Stream> streams,
           std::size_t count,
           const Take& take,
           const After& after) {
  switch (streams.size()) {
    case 0:
      return;
    case 1:
      return merge<1>(streams, count, take, after);
    case 2:
      return merge<2>(streams, count, take, after);
    case 3:
      return merge<3>(streams, count, take, after);
    case 4:
      return merge<4>(streams, count, take, after);
    case 5:
      return merge<5>(streams, count, take, after);
    case 6:
      return merge<6>(streams, count, take, after);
    default:
      return merge_many(streams, count, take, after);
  }
}

}  // namespace

TimedWindow::TimedWindow(const LogPart& part)
    : TimedWindow(part, {0, part.log->in_links().num_npus()}, open_pages(*part.log)) {}

TimedWindow TimedWindow::of_own(const LogPart& part) {
  return {part, part.log->npus(), open_own_pages(*part.log)};
}

TimedWindow::TimedWindow(const LogPart& part, NpuRange npus, std::unique_ptr<LogPages> pages)
    : part_(part),
      log_(*part.log),
      npus_(npus),
      base_(log_.first_link(npus)),
      pages_(std::move(pages)),
      free_(log_.num_links(npus), 0),
      first_segment_(npus.size() + 1, 0),
      order_(log_.in_links().num_ids) {
  for (const LinkTimes& times : log_.in_links().times) {
    longest_ = std::max(longest_, times.delay);
  }
}

bool TimedWindow::next(ThreadPool& pool) {
  if (done_ == pages_->size() && unlisted_ == 0) {
    return false;
  }
  while (done_ < pages_->size() && !enough()) {
    read_page(pool);
  }
  series_.clear();
  if (forwards()) {
    const bool all = done_ == pages_->size();
    list_forwards(all ? kNever : read_.back().last - longest_);
  } else {
    list_backwards();
  }
  order_.assign(series_);
  unlisted_ -= order_.links().size();
  while (!read_.empty() && (unlisted_ == 0 || std::all_of(read_.front().segments.begin(),
                                                          read_.front().segments.end(),
                                                          [](const Segment& segment) {
                                                            return segment.listed == segment.count;
                                                          }))) {
    read_.pop_front();
  }
  return true;
}

bool TimedWindow::enough() const {
  if (read_.empty()) {
    return false;
  }
  if (!forwards()) {
    return true;
  }
  // Each segment that has to wait is looked at again for every piece, so pieces are long.
  return read_.back().last >= longest_ && read_.back().last - longest_ >= listed_until_ + longest_;
}

void TimedWindow::read_page(ThreadPool& pool) {
  const std::size_t number = forwards() ? done_ : pages_->size() - 1 - done_;
  pages_->turn_to(number);
  if (!forwards() && done_ == 0) {
    std::copy(pages_->free().begin(), pages_->free().end(), free_.begin());
  }
  ++done_;
  Page& page = read_.emplace_back();
  page.last = pages_->totals(number).last;
  set_segments(page);
  if (log_.narrow()) {
    set_chunks<std::uint16_t>(page, pool);
  } else {
    set_chunks<std::uint32_t>(page, pool);
  }
  unlisted_ += page.chunks.size();
}

/// When the links brought something in the window.
void TimedWindow::set_segments(Page& page) {
  const InLinks& in = log_.in_links();
  const auto pauses = pages_->pauses();
  std::size_t chunk = 0;
  auto pause = pauses.begin();
  for (std::uint32_t i = 0; i < npus_.size(); ++i) {
    first_segment_[i] = page.segments.size();
    const std::uint32_t npu = npus_.first + i;
    for (std::uint32_t at = in.first[npu]; at < in.first[npu + 1]; ++at) {
      const std::uint32_t count = pages_->counts()[at - base_];
      if (count == 0) {
        continue;
      }
      const LogTime period = in.times[at].period;
      LogTime& free = free_[at - base_];
      auto after = pause;
      LogTime paused = 0;
      for (; after != pauses.end() && after->position == at - base_; ++after) {
        paused += after->length;
      }
      const LogTime lasts = period * count + paused;
      LogTime start = forwards() ? free : free - lasts;
      free = forwards() ? free + lasts : start;
      std::uint32_t before = 0;
      const auto add = [&](std::uint32_t until) {
        if (until > before) {
          page.segments.push_back(
              {.start = start, .position = at, .count = until - before, .chunk = chunk});
          chunk += until - before;
          start += period * (until - before);
          before = until;
        }
      };
      for (; pause != after; ++pause) {
        add(pause->after);
        start += pause->length;
      }
      add(count);
    }
  }
  first_segment_.back() = page.segments.size();
  page.chunks.resize(chunk);
}

/// Which entry came over which link.
template <class Id>
void TimedWindow::set_chunks(Page& page, ThreadPool& pool) const {
  const InLinks& in = log_.in_links();
  constexpr std::size_t kGrain = 64;
  pool.for_ranges(npus_.size(), kGrain, [&](std::size_t from, std::size_t to) {
    std::vector<Stream> streams;
    for (std::size_t own = from; own < to; ++own) {
      streams.clear();
      std::size_t count = 0;
      for (std::size_t i = first_segment_[own]; i < first_segment_[own + 1]; ++i) {
        const Segment& segment = page.segments[i];
        count += segment.count;
        if (i > first_segment_[own] && page.segments[i - 1].position == segment.position) {
          streams.back().end = i + 1;
          continue;
        }
        const LinkTimes& times = in.times[segment.position];
        streams.push_back({.arrival = segment.start + times.delay,
                           .period = times.period,
                           .delay = times.delay,
                           .chunk = page.chunks.data() + segment.chunk,
                           .left = segment.count,
                           .next = i + 1,
                           .end = i + 1});
      }
      const Id* entry = pages_->entries<Id>(static_cast<std::uint32_t>(own));
      merge(
          streams,
          count,
          [&](std::size_t i) {
            *streams[i].chunk++ = ChunkId(*entry++);
            return --streams[i].left > 0;
          },
          [&](std::size_t i) {
            Stream& stream = streams[i];
            if (stream.next == stream.end) {
              return kNever;
            }
            const Segment& segment = page.segments[stream.next++];
            stream.left = segment.count;
            return segment.start + stream.delay;
          });
    }
  });
}

/// All that start at `limit` or before.
void TimedWindow::list_forwards(LogTime limit) {
  const InLinks& in = log_.in_links();
  for (Page& page : read_) {
    for (Segment& segment : page.segments) {
      const LogTime period = in.times[segment.position].period;
      const LogTime first = segment.start + period * segment.listed;
      if (segment.listed == segment.count || first > limit) {
        continue;
      }
      const std::uint32_t after_first = segment.count - segment.listed - 1;
      const auto count =
          static_cast<std::uint32_t>(1 + std::min<LogTime>(after_first, (limit - first) / period));
      series_.push_back({.link = in.links[segment.position],
                         .count = count,
                         .first = first,
                         .period = period,
                         .chunk = page.chunks.data() + segment.chunk + segment.listed});
      segment.listed += count;
    }
  }
  listed_until_ = limit;
}

/// All that have been read; what ended last starts first.
void TimedWindow::list_backwards() {
  const InLinks& in = log_.in_links();
  for (Page& page : read_) {
    for (Segment& segment : page.segments) {
      const LinkTimes& times = in.times[segment.position];
      const LogTime last = segment.start + times.period * (segment.count - 1) + times.delay;
      series_.push_back({.link = in.links[segment.position],
                         .count = segment.count,
                         .first = log_.end() - last,
                         .period = times.period,
                         .chunk = page.chunks.data() + segment.chunk + segment.count - 1,
                         .next_chunk = -1});
      segment.listed = segment.count;
    }
  }
}

template <class Batch>
void TimedWindow::append_to(Batch& batch, std::size_t from, std::size_t to) const {
  const auto runs = order_.runs();
  auto run = std::upper_bound(
      runs.begin(), runs.end(), from, [](std::size_t at, const StartOrder::Run& r) {
        return at < r.end;
      });
  for (; from < to; ++run) {
    const std::size_t count = std::min(to, run->end) - from;
    batch.append_run(part_.at(run->start),
                     part_.op,
                     order_.links().subspan(from, count),
                     order_.chunks().subspan(from, count));
    from += count;
  }
}

template void TimedWindow::append_to(TransferBatch& batch, std::size_t from, std::size_t to) const;
template void TimedWindow::append_to(RunBlock& batch, std::size_t from, std::size_t to) const;
template void TimedWindow::append_to(StripSink& batch, std::size_t from, std::size_t to) const;

}  // namespace tacos
