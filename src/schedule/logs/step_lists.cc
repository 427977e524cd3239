// SPDX-License-Identifier: MIT
// Logs that are in step, read link by link.
//
// What a link brought is in the log of the NPU that it leads to, between what the others brought: a
// window has an entry of each link that works, then the next of each, and links only drop out. So
// between two who drop out a link's entries are equally far from each other, and it takes one
// addition to find the next. How many entries each link has in each window is unpacked first, and
// the numbers of an NPU are put next to each other: 2 bytes for each link and window, 0.2 GB for
// 40,000 NPUs.
//
// Cost: O(1) for a transfer, and for each link and window O(in-degree) to find where its entries
// are. Where many links lead to each NPU that is more work than the transfers themselves.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/memory/huge_vector.h"
#include "schedule/logs/log_lists.h"
#include "schedule/logs/window_log.h"

namespace tacos {
namespace {

/// What a link brought in a window.
using Count = std::uint16_t;

class StepLists final : public LinkLists {
 public:
  StepLists(const LogPart& part, ThreadPool& pool)
      : part_(part),
        log_(*part.log),
        in_links_(log_.in_links()),
        places_(places_of(in_links_)),
        counts_(std::size_t{in_links_.num_links()} * log_.windows().size()) {
    for (const WindowLog::Window& window : log_.windows()) {
      begins_.push_back(window.begin);
    }
    // So many NPUs that their numbers stay in the cache while they are filled window by window.
    constexpr std::size_t kBlock = 256;
    pool.for_ranges(in_links_.num_npus(), kBlock, [&](std::size_t from, std::size_t to) {
      for (; from < to; from += std::min(kBlock, to - from)) {
        transpose(static_cast<std::uint32_t>(from),
                  static_cast<std::uint32_t>(std::min(to, from + kBlock)));
      }
    });
  }

  [[nodiscard]] Clock clock() const override { return clock_of(part_); }
  [[nodiscard]] Op op() const override { return part_.op; }
  [[nodiscard]] std::uint32_t num_links() const override { return in_links_.num_ids; }
  void read(LinkId link, LinkList& list) const override {
    list.runs.clear();
    list.period = 1;
    const LogPlace& place = places_[link.index()];
    if (!place) {
      list.chunks.clear();
    } else {
      with_types(log_, in_links_.degree(place.npu), [&]<class Id, std::uint32_t Degree>() {
        read<Id, Degree>(place, list);
      });
    }
  }

 private:
  /// The numbers of NPUs from `first` up to `end`.
  void transpose(std::uint32_t first, std::uint32_t end) {
    const std::uint32_t base = in_links_.first[first];
    std::vector<std::uint32_t> counts(in_links_.first[end] - base);
    for (std::size_t window = 0; window < begins_.size(); ++window) {
      log_.windows()[window].counts.read(base, counts);
      for (std::uint32_t npu = first; npu < end; ++npu) {
        const std::uint32_t begin = in_links_.first[npu];
        const std::uint32_t degree = in_links_.degree(npu);
        Count* const to = counts_.data() + begin * begins_.size() + window * degree;
        std::copy_n(counts.begin() + (begin - base), degree, to);
      }
    }
  }

  /// `Degree`: how many links lead to the NPU, or 0 for any number.
  template <class Id, std::uint32_t Degree>
  void read(const LogPlace& place, LinkList& list) const {
    const std::uint32_t first = in_links_.first[place.npu];
    const std::uint32_t degree = Degree > 0 ? Degree : in_links_.degree(place.npu);
    const std::uint32_t own = place.position - first;
    const Count* counts = counts_.data() + first * begins_.size();
    std::size_t all = 0;
    for (std::size_t window = 0; window < begins_.size(); ++window) {
      all += counts[window * degree + own];
    }
    list.chunks.resize(all);
    ChunkId* chunks = list.chunks.data();
    std::vector<std::uint32_t> many(Degree > 0 ? 0 : degree);
    std::array<std::uint32_t, std::max(Degree, 1U)> few;
    std::uint32_t* const until = Degree > 0 ? few.data() : many.data();
    const Id* window = log_.entries<Id>(place.npu) + log_.begun_with()[place.npu];
    for (const LogTime begin : begins_) {
      // Between an entry and the link's next are those of the links behind it that bring one at
      // the same step, and of the links before it that bring one at the next.
      const Id* entry = window;
      for (std::uint32_t i = 0; i < degree; ++i) {
        const std::uint32_t brings = std::min<std::uint32_t>(counts[i], 1);
        window += counts[i];
        entry += i < own ? brings : 0;
        until[i] = i < own ? counts[i] - brings : counts[i];
      }
      until[own] = 0;
      for (std::uint32_t step = 0; step < counts[own]; ++step) {
        *chunks++ = ChunkId(*entry++);
        for (std::uint32_t i = 0; i < degree; ++i) {
          entry += until[i] > step ? 1 : 0;
        }
      }
      add_run(begin, counts[own], list);
      counts += degree;
    }
  }
  static void add_run(LogTime begin, std::uint32_t count, LinkList& list) {
    if (count == 0) {
      return;
    }
    if (!list.runs.empty() && list.runs.back().first + list.runs.back().count == begin) {
      list.runs.back().count += count;
    } else {
      list.runs.push_back({.first = begin, .count = count});
    }
  }

  LogPart part_;
  const WindowLog& log_;
  const InLinks& in_links_;
  /// Per link id.
  std::vector<LogPlace> places_;
  /// When each window begins.
  std::vector<LogTime> begins_;
  /// Per NPU and window, those of its links.
  HugeVector<Count> counts_;
};

bool has_short_windows(const WindowLog& log) {
  return std::all_of(log.windows().begin(), log.windows().end(), [](const auto& window) {
    return window.totals.last - window.begin <= std::numeric_limits<Count>::max();
  });
}

}  // namespace

std::unique_ptr<LinkLists> make_step_lists(const LogPart& part, ThreadPool& pool) {
  if (!has_short_windows(*part.log)) {
    return nullptr;
  }
  return std::make_unique<StepLists>(part, pool);
}

}  // namespace tacos
