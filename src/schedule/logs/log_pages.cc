// SPDX-License-Identifier: MIT
#include "schedule/logs/log_pages.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/assert.h"

namespace tacos {
namespace {

/// Of the NPUs whose entries are here; both NPUs and in-links are counted from the first of those.
class OwnPages final : public LogPages {
 public:
  explicit OwnPages(const WindowLog& log) : LogPages(log), npus_(log.npus()) {
    counts_.resize(log.num_links(npus_));
    first_.resize(npus_.size());
    entries_ = log.narrow() ? static_cast<const void*>(log.entries<std::uint16_t>(npus_.first))
                            : static_cast<const void*>(log.entries<std::uint32_t>(npus_.first));
    free_.assign(log.free().begin(), log.free().end());
  }

  void turn_to(std::size_t page) override {
    if (!at_) {
      at_ = page <= size() / 2 ? 0 : size();
      for (std::uint32_t i = 0; i < npus_.size(); ++i) {
        first_[i] = std::size_t{i} * log_.num_chunks() +
                    (*at_ == 0 ? log_.begun_with()[npus_.first + i] : log_.num_chunks());
      }
    }
    while (*at_ < page) {
      load(*at_);
      for (std::uint32_t i = 0; i < npus_.size(); ++i) {
        first_[i] += received(i);
      }
      ++*at_;
    }
    while (*at_ > page) {
      --*at_;
      load(*at_);
      for (std::uint32_t i = 0; i < npus_.size(); ++i) {
        first_[i] -= received(i);
      }
    }
    load(page);
  }

  /// For the leader, who has none of this: numbers as they are stored, then entries NPU by NPU.
  void put_page(Packet& packet) const {
    const WindowLog::Counts counts(counts_);
    put(packet, counts.bits);
    put_bytes(packet, counts.data);
    put_bytes(packet, pack_pauses(pauses_));
    if (*at_ + 1 == size()) {
      put_all(packet, std::span<const LogTime>(free_));
    }
    if (log_.narrow()) {
      put_entries<std::uint16_t>(packet);
    } else {
      put_entries<std::uint32_t>(packet);
    }
  }

 private:
  static void put_bytes(Packet& packet, std::span<const std::byte> bytes) {
    put(packet, bytes.size());
    put_all(packet, bytes);
  }
  void load(std::size_t page) {
    if (loaded_ == page) {
      return;
    }
    loaded_ = page;
    const auto windows = log_.windows();
    const std::size_t first = first_window(page);
    windows[first].counts.read(counts_);
    pauses_.clear();
    unpack_pauses(windows[first].pauses, 0, pauses_);
    for (std::size_t window = first + 1; window < end_window(page); ++window) {
      const std::size_t before = pauses_.size();
      unpack_pauses(windows[window].pauses, 0, pauses_);
      for (Pause& pause : std::span(pauses_).subspan(before)) {
        pause.after += counts_[pause.position];
      }
      more_.resize(counts_.size());
      windows[window].counts.read(more_);
      for (std::size_t i = 0; i < counts_.size(); ++i) {
        counts_[i] += more_[i];
      }
    }
    if (end_window(page) - first > 1) {
      sort_pauses();
    }
  }
  /// By position; those of a link are in order.
  void sort_pauses() {
    more_.assign(counts_.size() + 1, 0);
    for (const Pause& pause : pauses_) {
      ++more_[pause.position + 1];
    }
    std::partial_sum(more_.begin(), more_.end(), more_.begin());
    sorted_.resize(pauses_.size());
    for (const Pause& pause : pauses_) {
      sorted_[more_[pause.position]++] = pause;
    }
    pauses_.swap(sorted_);
  }
  [[nodiscard]] std::size_t received(std::uint32_t i) const {
    const std::uint32_t base = log_.first_link(npus_);
    const std::uint32_t npu = npus_.first + i;
    std::size_t total = 0;
    for (std::uint32_t at = log_.in_links().first[npu]; at < log_.in_links().first[npu + 1]; ++at) {
      total += counts_[at - base];
    }
    return total;
  }
  template <class Id>
  void put_entries(Packet& packet) const {
    for (std::uint32_t i = 0; i < npus_.size(); ++i) {
      put_all(packet, std::span(entries<Id>(i), received(i)));
    }
  }

  NpuRange npus_;
  /// The page where `first_` is, and that of `counts_`.
  std::optional<std::size_t> at_;
  std::optional<std::size_t> loaded_;
  /// For putting pages together.
  std::vector<std::uint32_t> more_;
  std::vector<Pause> sorted_;
};

/// Asks for pages from one to another, which may come before it.
struct Request {
  std::uint32_t label = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

/// The leader's: everybody's pages in one. It asks for several short ones at once, since an answer
/// is long in coming.
class TeamPages final : public LogPages {
 public:
  explicit TeamPages(const WindowLog& log) : LogPages(log), own_(log) {
    counts_.resize(log.in_links().num_links());
    free_.resize(log.in_links().in_step() ? 0 : counts_.size());
    first_.resize(log.in_links().num_npus());
  }

  void turn_to(std::size_t page) override {
    if (left_ == 0 || page != next_) {
      fetch(page);
    }
    own_.turn_to(page);
    shares_.front().clear();
    own_.put_page(shares_.front());
    readers_.front() = PacketReader(shares_.front());
    pauses_.clear();
    store_.resize(totals(page).deliveries * id_bytes());
    entries_ = store_.data();
    const auto members = static_cast<int>(shares_.size());
    std::size_t filled = 0;
    for (int member = 0; member < members; ++member) {
      const NpuRange npus = share_of(log_.in_links().num_npus(), member, members);
      PacketReader& reader = readers_[static_cast<std::size_t>(member)];
      unpack_numbers(npus, page, reader);
      filled = unpack_entries(npus, reader, filled);
    }
    TACOS_ASSERT(filled * id_bytes() == store_.size(), "shares make up the page");
    last_ = page;
    next_ = backwards_ ? page - 1 : page + 1;
    --left_;
  }

 private:
  [[nodiscard]] std::size_t id_bytes() const {
    return log_.narrow() ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
  }
  /// Gets the page and those after it, in the direction of reading, that are short.
  void fetch(std::size_t page) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 20U;
    backwards_ = last_ ? page < *last_ : page > size() / 2;
    const std::size_t most = backwards_ ? page + 1 : size() - page;
    std::uint64_t deliveries = totals(page).deliveries;
    std::size_t to = page;
    for (left_ = 1; left_ < most; ++left_) {
      const std::size_t after = backwards_ ? to - 1 : to + 1;
      deliveries += totals(after).deliveries;
      if (deliveries > kMost) {
        break;
      }
      to = after;
    }
    Packet request;
    put(request,
        Request{log_.label(), static_cast<std::uint32_t>(page), static_cast<std::uint32_t>(to)});
    shares_ = ask(*log_.team(), request);
    readers_.clear();
    for (const Packet& share : shares_) {
      readers_.emplace_back(share);
    }
  }
  void unpack_numbers(NpuRange npus, std::size_t page, PacketReader& reader) {
    const std::uint32_t first = log_.first_link(npus);
    const std::uint32_t links = log_.num_links(npus);
    WindowLog::Counts packed;
    packed.bits = reader.get<std::uint32_t>();
    const auto data = reader.bytes(reader.get<std::size_t>());
    packed.data.assign(data.begin(), data.end());
    packed.read(std::span(counts_).subspan(first, links));
    unpack_pauses(reader.bytes(reader.get<std::size_t>()), first, pauses_);
    if (page + 1 == size() && !free_.empty()) {
      reader.get_all(std::span(free_).subspan(first, links));
    }
  }
  /// Puts a share behind the `filled` entries that are there; returns how many are then.
  std::size_t unpack_entries(NpuRange npus, PacketReader& reader, std::size_t filled) {
    const std::size_t before = filled;
    for (std::uint32_t npu = npus.first; npu < npus.end; ++npu) {
      first_[npu] = filled;
      const auto& first = log_.in_links().first;
      for (std::uint32_t at = first[npu]; at < first[npu + 1]; ++at) {
        filled += counts_[at];
      }
    }
    reader.get_all(std::span(store_).subspan(before * id_bytes(), (filled - before) * id_bytes()));
    return filled;
  }

  OwnPages own_;
  std::vector<std::byte> store_;
  /// What the members have sent, and how far it has been read.
  std::vector<Packet> shares_;
  std::vector<PacketReader> readers_;
  /// The page that was turned to last, and what lies ready: so many, from `next_` on.
  std::optional<std::size_t> last_;
  std::size_t next_ = 0;
  std::size_t left_ = 0;
  bool backwards_ = false;
};

/// Answers the leader until it has read everything.
void help_reader(Team& team, std::span<const SharedLog> logs) {
  std::vector<std::unique_ptr<OwnPages>> pages(logs.size());
  serve(team, [&](std::span<const std::byte> bytes) {
    const auto request = PacketReader(bytes).get<Request>();
    const auto log = std::find_if(logs.begin(), logs.end(), [&](const SharedLog& one) {
      return one->label() == request.label;
    });
    TACOS_ASSERT(log != logs.end(), "the leader asks for logs that are being read");
    auto& opened = pages[static_cast<std::size_t>(log - logs.begin())];
    if (opened == nullptr) {
      opened = std::make_unique<OwnPages>(**log);
    }
    Packet answer;
    const bool backwards = request.to < request.from;
    for (std::size_t page = request.from;; page = backwards ? page - 1 : page + 1) {
      opened->turn_to(page);
      opened->put_page(answer);
      if (page == request.to) {
        return answer;
      }
    }
  });
}

}  // namespace

LogPages::LogPages(const WindowLog& log) : log_(log) {
  // A page should have several entries of each link.
  const std::uint64_t enough = log.in_links().in_step() ? 0 : 8 * log.in_links().num_links();
  std::uint64_t deliveries = 0;
  for (std::size_t window = 0; window < log.windows().size(); ++window) {
    deliveries += log.windows()[window].totals.deliveries;
    if (deliveries >= enough || window + 1 == log.windows().size()) {
      ends_.push_back(window + 1);
      deliveries = 0;
    }
  }
}

LogTime LogPages::begin(std::size_t page) const {
  return log_.windows()[first_window(page)].begin;
}

WindowLog::Totals LogPages::totals(std::size_t page) const {
  WindowLog::Totals totals;
  for (std::size_t window = first_window(page); window < end_window(page); ++window) {
    totals += log_.windows()[window].totals;
  }
  return totals;
}

std::unique_ptr<LogPages> open_own_pages(const WindowLog& log) {
  return std::make_unique<OwnPages>(log);
}

std::unique_ptr<LogPages> open_pages(const WindowLog& log) {
  return log.team() == nullptr ? open_own_pages(log) : std::make_unique<TeamPages>(log);
}

void read_together(std::span<const SharedLog> logs, const std::function<void()>& read) {
  Team* team = logs.empty() ? nullptr : logs.front()->team();
  if (team == nullptr) {
    read();
  } else if (team->leads()) {
    read();
    dismiss(*team);
  } else {
    help_reader(*team, logs);
  }
}

}  // namespace tacos
