// SPDX-License-Identifier: MIT
#include "schedule/logs/log_lists.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/memory/huge_vector.h"
#include "schedule/logs/window_log.h"

namespace tacos {
namespace {

/// What a link brought in a window.
using Count = std::uint16_t;

class LogLists final : public LinkLists {
 public:
  LogLists(const LogPart& part, ThreadPool& pool)
      : part_(part),
        log_(*part.log),
        in_links_(log_.in_links()),
        places_(in_links_.num_ids),
        counts_(std::size_t{in_links_.num_links()} * log_.windows().size()) {
    for (std::uint32_t npu = 0; npu < in_links_.num_npus(); ++npu) {
      for (std::uint32_t at = in_links_.first[npu]; at < in_links_.first[npu + 1]; ++at) {
        places_[in_links_.links[at].index()] = {.npu = npu, .position = at};
      }
    }
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

  [[nodiscard]] Clock clock() const override { return {.begin = part_.begin, .unit = part_.unit}; }
  [[nodiscard]] Op op() const override { return part_.op; }
  [[nodiscard]] std::uint32_t num_links() const override { return in_links_.num_ids; }
  void read(LinkId link, LinkList& list) const override {
    list.runs.clear();
    const Place& place = places_[link.index()];
    if (place.position == kNone) {
      list.chunks.clear();
    } else if (log_.narrow()) {
      read<std::uint16_t>(place, list);
    } else {
      read<std::uint32_t>(place, list);
    }
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// Which NPU a link leads to, and where it is among the in-links.
  struct Place {
    std::uint32_t npu = 0;
    std::uint32_t position = kNone;
  };

  /// The numbers of NPUs from `first` up to `end`.
  void transpose(std::uint32_t first, std::uint32_t end) {
    const std::uint32_t base = in_links_.first[first];
    std::vector<std::uint32_t> counts(in_links_.first[end] - base);
    for (std::size_t window = 0; window < begins_.size(); ++window) {
      log_.windows()[window].counts.read(base, counts);
      for (std::uint32_t npu = first; npu < end; ++npu) {
        const std::uint32_t begin = in_links_.first[npu];
        const std::uint32_t degree = in_links_.first[npu + 1] - begin;
        Count* const to = counts_.data() + begin * begins_.size() + window * degree;
        std::copy_n(counts.begin() + (begin - base), degree, to);
      }
    }
  }

  template <class Id>
  void read(const Place& place, LinkList& list) const {
    switch (in_links_.first[place.npu + 1] - in_links_.first[place.npu]) {
      case 2:
        return read<Id, 2>(place, list);
      case 3:
        return read<Id, 3>(place, list);
      case 4:
        return read<Id, 4>(place, list);
      case 6:
        return read<Id, 6>(place, list);
      default:
        return read<Id, 0>(place, list);
    }
  }

  /// `Degree`: how many links lead to the NPU, or 0 for any number.
  template <class Id, std::uint32_t Degree>
  void read(const Place& place, LinkList& list) const {
    const std::uint32_t first = in_links_.first[place.npu];
    const std::uint32_t degree = Degree > 0 ? Degree : in_links_.first[place.npu + 1] - first;
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
  std::vector<Place> places_;
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

std::unique_ptr<LinkLists> make_log_lists(std::span<const LogPart> parts, ThreadPool& pool) {
  const WindowLog& log = *parts.front().log;
  if (parts.size() > 1 || parts.front().order == LogOrder::kBackwards || log.team() != nullptr ||
      !log.in_links().in_step() || !has_short_windows(log)) {
    return nullptr;
  }
  return std::make_unique<LogLists>(parts.front(), pool);
}

bool is_quick_by_link(const WindowLog& log) {
  constexpr std::uint64_t kMost = 4;
  const std::vector<std::uint32_t>& first = log.in_links().first;
  std::uint64_t work = 0;
  for (std::size_t npu = 0; npu + 1 < first.size(); ++npu) {
    const std::uint64_t degree = first[npu + 1] - first[npu];
    work += degree * degree;
  }
  return work * log.windows().size() <= kMost * log.num_deliveries();
}

}  // namespace tacos
