// SPDX-License-Identifier: MIT
// Logs of unequal links, read link by link.
//
// A link sends back to back but for its pauses, so when it sends is known without any entry. An
// NPU's log is in order of arrival and, of what comes together, of in-link: so a link's entry lies
// behind as many of another's as have come by then, and those are counted by letting the times of
// the other links follow its own. The pauses of each link are put behind each other first, 8 bytes
// each: for meshes of two speeds a quarter of a byte for a transfer.
//
// Cost: O(in-degree) for a transfer.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/memory/huge_vector.h"
#include "schedule/logs/log_lists.h"
#include "schedule/logs/window_log.h"

namespace tacos {
namespace {

/// Transfers back to back, after a pause.
struct TimedSegment {
  std::uint32_t pause = 0;
  std::uint32_t count = 0;
};

/// The segments of each in-link.
class Segments {
 public:
  explicit Segments(const WindowLog& log) : log_(log), first_(log.in_links().num_links() + 1, 0) {
    for_each_pause([&](const Pause& pause) {
      fit_ = fit_ && pause.length <= kMost;
      ++first_[pause.position + 1];
    });
    // What a link begins with may follow no pause.
    for (std::size_t at = 1; at < first_.size(); ++at) {
      first_[at] += first_[at - 1] + 1;
    }
  }

  [[nodiscard]] bool fit() const { return fit_; }
  [[nodiscard]] std::size_t size() const { return first_.back(); }

  void fill() {
    segments_.resize(first_.back());
    std::vector<std::size_t> open(first_.begin(), first_.end() - 1);
    std::vector<std::uint32_t> counts(log_.in_links().num_links());
    std::vector<Pause> pauses;
    for (const WindowLog::Window& window : log_.windows()) {
      window.counts.read(counts);
      pauses.clear();
      unpack_pauses(window.pauses, 0, pauses);
      std::uint32_t position = 0;
      std::uint32_t before = 0;
      for (const Pause& pause : pauses) {
        before = pause.position == position ? before : 0;
        position = pause.position;
        segments_[open[position]].count += pause.after - before;
        counts[position] -= pause.after - before;
        before = pause.after;
        segments_[++open[position]].pause = static_cast<std::uint32_t>(pause.length);
      }
      for (std::size_t at = 0; at < counts.size(); ++at) {
        segments_[open[at]].count += counts[at];
      }
    }
  }
  [[nodiscard]] const TimedSegment* begin(std::size_t position) const {
    return segments_.data() + first_[position];
  }
  [[nodiscard]] const TimedSegment* end(std::size_t position) const { return begin(position + 1); }

 private:
  static constexpr LogTime kMost = std::numeric_limits<std::uint32_t>::max();

  template <class Visit>
  void for_each_pause(const Visit& visit) const {
    std::vector<Pause> pauses;
    for (const WindowLog::Window& window : log_.windows()) {
      pauses.clear();
      unpack_pauses(window.pauses, 0, pauses);
      for (const Pause& pause : pauses) {
        visit(pause);
      }
    }
  }

  const WindowLog& log_;
  bool fit_ = true;
  /// Per in-link, and one more.
  std::vector<std::size_t> first_;
  HugeVector<TimedSegment> segments_;
};

/// Another link into the same NPU: when its next entry came.
class Other {
 public:
  Other() = default;
  /// `earlier`: whether its entries come first of those that come together.
  Other(const Segments& segments, std::size_t position, const LinkTimes& times, bool earlier)
      : next_(times.delay - (earlier ? 1 : 0)),
        period_(times.period),
        segment_(segments.begin(position)),
        end_(segments.end(position)) {
    open();
  }

  /// How many more entries of it lie before what comes at that time, or at a later one than before.
  std::size_t follow(LogTime time) {
    std::size_t passed = 0;
    while (next_ < time) {
      ++passed;
      next_ += period_;
      if (--left_ == 0) [[unlikely]] {
        open();
      }
    }
    return passed;
  }

 private:
  /// Goes to the next segment that has entries.
  void open() {
    for (; left_ == 0 && segment_ != end_; ++segment_) {
      next_ += segment_->pause;
      left_ = segment_->count;
    }
    next_ = left_ == 0 ? std::numeric_limits<LogTime>::max() : next_;
  }

  LogTime next_ = 0;
  LogTime period_ = 0;
  std::uint32_t left_ = 0;
  const TimedSegment* segment_ = nullptr;
  const TimedSegment* end_ = nullptr;
};

class TimedLists final : public LinkLists {
 public:
  TimedLists(const LogPart& part, Segments segments)
      : part_(part),
        log_(*part.log),
        in_links_(log_.in_links()),
        places_(places_of(in_links_)),
        segments_(std::move(segments)) {}

  [[nodiscard]] Clock clock() const override { return clock_of(part_); }
  [[nodiscard]] Op op() const override { return part_.op; }
  [[nodiscard]] std::uint32_t num_links() const override { return in_links_.num_ids; }
  void read(LinkId link, LinkList& list) const override {
    list.runs.clear();
    list.chunks.clear();
    const LogPlace& place = places_[link.index()];
    if (!place) {
      return;
    }
    list.period = in_links_.times[place.position].period;
    LogTime start = 0;
    std::size_t count = 0;
    for (auto segment = segments_.begin(place.position); segment != segments_.end(place.position);
         ++segment) {
      start += segment->pause;
      if (segment->count > 0) {
        list.runs.push_back({.first = start, .count = segment->count});
        start += list.period * segment->count;
        count += segment->count;
      }
    }
    list.chunks.resize(count);
    with_types(log_, in_links_.degree(place.npu), [&]<class Id, std::uint32_t Degree>() {
      find<Id, Degree>(place, list);
    });
  }

 private:
  /// The chunks of the runs. `Degree`: how many links lead to the NPU, or 0 for any number.
  template <class Id, std::uint32_t Degree>
  void find(const LogPlace& place, LinkList& list) const {
    const std::uint32_t first = in_links_.first[place.npu];
    const std::uint32_t degree = Degree > 0 ? Degree : in_links_.degree(place.npu);
    std::vector<Other> many(Degree > 0 ? 0 : degree);
    std::array<Other, std::max(Degree, 1U)> few;
    Other* const others = Degree > 0 ? few.data() : many.data();
    std::uint32_t num_others = 0;
    for (std::uint32_t at = first; at < first + degree; ++at) {
      if (at != place.position) {
        others[num_others++] = Other(segments_, at, in_links_.times[at], at < place.position);
      }
    }
    const Id* entry = log_.entries<Id>(place.npu) + log_.begun_with()[place.npu];
    const LogTime delay = in_links_.times[place.position].delay;
    ChunkId* chunk = list.chunks.data();
    for (const LinkList::Run& run : list.runs) {
      LogTime arrival = run.first + delay;
      for (std::uint64_t i = 0; i < run.count; ++i, arrival += list.period) {
        for (std::uint32_t other = 0; other + 1 < degree; ++other) {
          entry += others[other].follow(arrival);
        }
        *chunk++ = ChunkId(*entry++);
      }
    }
  }

  LogPart part_;
  const WindowLog& log_;
  const InLinks& in_links_;
  std::vector<LogPlace> places_;
  Segments segments_;
};

}  // namespace

std::unique_ptr<LinkLists> make_timed_lists(const LogPart& part, std::size_t most_segments) {
  Segments segments(*part.log);
  if (!segments.fit() || segments.size() > most_segments) {
    return nullptr;
  }
  segments.fill();
  return std::make_unique<TimedLists>(part, std::move(segments));
}

}  // namespace tacos
