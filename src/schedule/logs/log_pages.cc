// SPDX-License-Identifier: MIT
#include "schedule/logs/log_pages.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/assert.h"

namespace tacos {
namespace {

/// Of the NPUs whose entries are here; both NPUs and in-links are counted from the first of those.
class OwnPages final : public LogPages {
 public:
  explicit OwnPages(const StepLog& log) : log_(log), npus_(log.npus()) {
    counts_.resize(log.num_links(npus_));
    first_.resize(npus_.size());
    entries_ = log.narrow() ? static_cast<const void*>(log.entries<std::uint16_t>(npus_.first))
                            : static_cast<const void*>(log.entries<std::uint32_t>(npus_.first));
  }

  void turn_to(std::size_t window) override {
    const std::size_t windows = log_.windows().size();
    if (!at_) {
      at_ = window <= windows / 2 ? 0 : windows;
      for (std::uint32_t i = 0; i < npus_.size(); ++i) {
        first_[i] = std::size_t{i} * log_.num_chunks() +
                    (*at_ == 0 ? log_.begun_with()[npus_.first + i] : log_.num_chunks());
      }
    }
    while (*at_ < window) {
      load(*at_);
      for (std::uint32_t i = 0; i < npus_.size(); ++i) {
        first_[i] += received(i);
      }
      ++*at_;
    }
    while (*at_ > window) {
      --*at_;
      load(*at_);
      for (std::uint32_t i = 0; i < npus_.size(); ++i) {
        first_[i] -= received(i);
      }
    }
    load(window);
  }

  /// For the leader, who has none of this: numbers as they are stored, then entries NPU by NPU.
  void put_page(Packet& packet) const {
    const StepLog::Counts& counts = log_.windows()[*at_].counts;
    put(packet, counts.bits);
    put(packet, counts.data.size());
    put_all(packet, std::span<const std::byte>(counts.data));
    if (log_.narrow()) {
      put_entries<std::uint16_t>(packet);
    } else {
      put_entries<std::uint32_t>(packet);
    }
  }

 private:
  void load(std::size_t window) {
    if (loaded_ != window) {
      log_.windows()[window].counts.read(counts_);
      loaded_ = window;
    }
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

  const StepLog& log_;
  NpuRange npus_;
  /// The window where `first_` is, and that of `counts_`.
  std::optional<std::size_t> at_;
  std::optional<std::size_t> loaded_;
};

/// Asks for windows from one to another, which may come before it.
struct Request {
  std::uint32_t label = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

/// The leader's: everybody's pages in one. It asks for several short windows at once, since an
/// answer is long in coming.
class TeamPages final : public LogPages {
 public:
  explicit TeamPages(const StepLog& log) : log_(log), own_(log) {
    counts_.resize(log.in_links().num_links());
    first_.resize(log.in_links().num_npus());
  }

  void turn_to(std::size_t window) override {
    if (left_ == 0 || window != next_) {
      fetch(window);
    }
    own_.turn_to(window);
    shares_.front().clear();
    own_.put_page(shares_.front());
    readers_.front() = PacketReader(shares_.front());
    store_.resize(log_.windows()[window].totals.deliveries * id_bytes());
    entries_ = store_.data();
    const auto size = static_cast<int>(shares_.size());
    std::size_t filled = 0;
    for (int member = 0; member < size; ++member) {
      filled = unpack(share_of(log_.in_links().num_npus(), member, size),
                      readers_[static_cast<std::size_t>(member)],
                      filled);
    }
    TACOS_ASSERT(filled * id_bytes() == store_.size(), "shares make up the window");
    last_ = window;
    next_ = backwards_ ? window - 1 : window + 1;
    --left_;
  }

 private:
  [[nodiscard]] std::size_t id_bytes() const {
    return log_.narrow() ? sizeof(std::uint16_t) : sizeof(std::uint32_t);
  }
  /// Gets the window and those after it, in the direction of reading, that are short.
  void fetch(std::size_t window) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 20U;
    const auto windows = log_.windows();
    backwards_ = last_ ? window < *last_ : window > windows.size() / 2;
    const std::size_t most = backwards_ ? window + 1 : windows.size() - window;
    std::uint64_t deliveries = windows[window].totals.deliveries;
    std::size_t to = window;
    for (left_ = 1; left_ < most; ++left_) {
      const std::size_t after = backwards_ ? to - 1 : to + 1;
      deliveries += windows[after].totals.deliveries;
      if (deliveries > kMost) {
        break;
      }
      to = after;
    }
    Packet request;
    put(request,
        Request{log_.label(), static_cast<std::uint32_t>(window), static_cast<std::uint32_t>(to)});
    shares_ = ask(*log_.team(), request);
    readers_.clear();
    for (const Packet& share : shares_) {
      readers_.emplace_back(share);
    }
  }
  /// Puts a share behind the `filled` entries that are there; returns how many are then.
  std::size_t unpack(NpuRange npus, PacketReader& reader, std::size_t filled) {
    StepLog::Counts packed{.bits = reader.get<std::uint32_t>(), .data = {}};
    const auto data = reader.bytes(reader.get<std::size_t>());
    packed.data.assign(data.begin(), data.end());
    packed.read(std::span(counts_).subspan(log_.first_link(npus), log_.num_links(npus)));
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

  const StepLog& log_;
  OwnPages own_;
  std::vector<std::byte> store_;
  /// What the members have sent, and how far it has been read.
  std::vector<Packet> shares_;
  std::vector<PacketReader> readers_;
  /// The window that was turned to last, and what lies ready: so many, from `next_` on.
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
    for (std::size_t window = request.from;; window = backwards ? window - 1 : window + 1) {
      opened->turn_to(window);
      opened->put_page(answer);
      if (window == request.to) {
        return answer;
      }
    }
  });
}

}  // namespace

std::unique_ptr<LogPages> open_pages(const StepLog& log) {
  if (log.team() == nullptr) {
    return std::make_unique<OwnPages>(log);
  }
  return std::make_unique<TeamPages>(log);
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
