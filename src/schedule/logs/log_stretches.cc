// SPDX-License-Identifier: MIT
#include "schedule/logs/log_stretches.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/parallel/threads.h"
#include "schedule/logs/timed_window.h"
#include "schedule/logs/window_log.h"

namespace tacos {
namespace {

/// Some steps of a window, counted in the order of reading: [from, to).
struct StepRange {
  std::size_t part = 0;
  std::size_t window = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

/// How many steps of a window something comes in.
std::uint32_t busy_steps(const WindowLog::Window& window) {
  return static_cast<std::uint32_t>(window.totals.last - window.begin);
}

/// Cuts parts into ranges of steps.
class StepCutter {
 public:
  explicit StepCutter(std::span<const LogPart> parts) : parts_(parts) {}

  /// Replaces `ranges` by the next ones, of one part, with about `most` transfers of the whole
  /// team.
  void cut(std::uint64_t most, std::vector<StepRange>& ranges) {
    ranges.clear();
    while (part_ < parts_.size() && ranges.empty()) {
      const auto windows = parts_[part_].log->windows();
      for (std::uint64_t taken = 0; done_ < windows.size() && taken < most;) {
        taken += cut_window(windows, most - taken, ranges);
      }
      if (done_ == windows.size()) {
        done_ = 0;
        ++part_;
      }
    }
  }

 private:
  /// Takes what is left of the next window, or part of that; returns how many transfers about.
  std::uint64_t cut_window(std::span<const WindowLog::Window> windows,
                           std::uint64_t most,
                           std::vector<StepRange>& ranges) {
    const std::size_t from_end = windows.size() - 1 - done_;
    const std::size_t window = parts_[part_].order == LogOrder::kForwards ? done_ : from_end;
    const std::uint32_t busy = busy_steps(windows[window]);
    const std::uint64_t per_step = windows[window].totals.deliveries / std::max(1U, busy) + 1;
    const std::uint64_t steps = (most + per_step - 1) / per_step;
    const auto to = static_cast<std::uint32_t>(std::min<std::uint64_t>(busy, step_ + steps));
    const std::uint64_t taken = (to - step_) * per_step;
    ranges.push_back({.part = part_, .window = window, .from = step_, .to = to});
    step_ = to;
    if (step_ == busy) {
      step_ = 0;
      ++done_;
    }
    return taken;
  }

  std::span<const LogPart> parts_;
  /// The part, how many of its windows have been read, and how many steps of the next.
  std::size_t part_ = 0;
  std::size_t done_ = 0;
  std::uint32_t step_ = 0;
};

/// What comes to some NPUs, where logs are in step.
class LogStrip {
 public:
  LogStrip(std::span<const LogPart> parts, NpuRange npus)
      : parts_(parts), npus_(npus), at_(npus.size()), first_(npus.size() + 1) {}

  void read(std::span<const StepRange> ranges, StripSink& sink) {
    for (const StepRange& range : ranges) {
      turn_to(range);
      const LogPart& part = parts_[range.part];
      const WindowLog::Window& window = part.log->windows()[range.window];
      for (std::uint32_t turn = range.from; turn < range.to; ++turn) {
        const bool forwards = part.order == LogOrder::kForwards;
        const std::uint32_t step = forwards ? turn : busy_steps(window) - 1 - turn;
        // Backwards, what ended last starts first.
        const LogTime time = window.begin + step;
        const Ticks start = part.at(forwards ? time : part.log->end() - time - 1);
        if (part.log->narrow()) {
          list<std::uint16_t>(part, step, start, sink);
        } else {
          list<std::uint32_t>(part, step, start, sink);
        }
      }
    }
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  /// How many transfers are handed on at once, or a few more.
  static constexpr std::size_t kRun = 1024;
  /// An in-link, and how many it delivers in the window.
  struct Active {
    LinkId link;
    std::uint32_t count = 0;
  };

  void turn_to(const StepRange& range) {
    if (part_ != range.part) {
      begin(parts_[range.part]);
      part_ = range.part;
      window_ = kNone;
    }
    if (window_ != range.window) {
      load(*parts_[range.part].log, range.window);
      window_ = range.window;
    }
  }
  void begin(const LogPart& part) {
    for (std::uint32_t i = 0; i < npus_.size(); ++i) {
      at_[i] = part.order == LogOrder::kForwards ? part.log->begun_with()[npus_.first + i]
                                                 : part.log->num_chunks();
    }
  }
  /// Lists the links that deliver something in the window.
  void load(const WindowLog& log, std::size_t window) {
    const InLinks& in_links = log.in_links();
    const std::uint32_t base = log.first_link(npus_);
    counts_.resize(log.num_links(npus_));
    log.windows()[window].counts.read(base - log.first_link(log.npus()), counts_);
    active_.clear();
    std::size_t most = 0;
    for (std::uint32_t i = 0; i < npus_.size(); ++i) {
      first_[i] = static_cast<std::uint32_t>(active_.size());
      const std::uint32_t npu = npus_.first + i;
      for (std::uint32_t at = in_links.first[npu]; at < in_links.first[npu + 1]; ++at) {
        if (counts_[at - base] > 0) {
          active_.push_back({in_links.links[at], counts_[at - base]});
        }
      }
      most = std::max(most, active_.size() - first_[i]);
    }
    first_.back() = static_cast<std::uint32_t>(active_.size());
    // One more than there will ever be, to be written over.
    links_.resize(kRun + most + 1);
    chunks_.resize(links_.size());
  }

  /// A step. Backwards, entries of an NPU are still in the order of its links.
  template <class Id>
  void list(const LogPart& part, std::uint32_t step, Ticks start, StripSink& sink) {
    const std::size_t num_chunks = part.log->num_chunks();
    const Id* entries = part.log->entries<Id>(npus_.first);
    LinkId* const links = links_.data();
    ChunkId* const chunks = chunks_.data();
    std::size_t listed = 0;
    for (std::uint32_t i = 0; i < npus_.size(); ++i, entries += num_chunks) {
      const auto active = std::span(active_).subspan(first_[i], first_[i + 1] - first_[i]);
      std::size_t at = at_[i];
      if (part.order == LogOrder::kBackwards) {
        for (const Active& link : active) {
          at -= link.count > step ? 1 : 0;
        }
        at_[i] = at;
      }
      // Without branches: what is written for a link that delivers nothing is written over.
      for (const Active& link : active) {
        links[listed] = link.link;
        chunks[listed] = ChunkId(entries[std::min(at, num_chunks - 1)]);
        const std::size_t delivers = link.count > step ? 1 : 0;
        listed += delivers;
        at += delivers;
      }
      if (part.order == LogOrder::kForwards) {
        at_[i] = at;
      }
      if (listed >= kRun) {
        sink.append_run(start, part.op, {links, listed}, {chunks, listed});
        listed = 0;
      }
    }
    if (listed > 0) {
      sink.append_run(start, part.op, {links, listed}, {chunks, listed});
    }
  }

  std::span<const LogPart> parts_;
  NpuRange npus_;
  std::size_t part_ = kNone;
  std::size_t window_ = kNone;
  /// Per NPU: where its entries of the step before end, or, backwards, begin.
  std::vector<std::size_t> at_;
  std::vector<std::uint32_t> counts_;
  /// The links of NPU i of the strip are active_[first_[i]] to active_[first_[i + 1]].
  std::vector<std::uint32_t> first_;
  std::vector<Active> active_;
  std::vector<LinkId> links_;
  std::vector<ChunkId> chunks_;
};

/// Where logs are in step.
class StepStretches final : public Stretches {
 public:
  StepStretches(std::span<const LogPart> parts, int threads) : parts_(parts), cutter_(parts) {
    // Enough of them to end at about the same time, but none too short to be worth starting.
    constexpr std::uint32_t kLeastNpus = 32;
    const NpuRange here = parts.front().log->npus();
    const auto strips = static_cast<int>(std::clamp<std::uint32_t>(
        2 * static_cast<std::uint32_t>(threads), 1, here.size() / kLeastNpus + 1));
    for (int strip = 0; strip < strips; ++strip) {
      const NpuRange share = share_of(here.size(), strip, strips);
      strips_.emplace_back(parts, NpuRange{here.first + share.first, here.first + share.end});
    }
  }

  [[nodiscard]] Result<bool> next(std::uint64_t most) override {
    cutter_.cut(most, ranges_);
    return !ranges_.empty();
  }
  [[nodiscard]] std::size_t num_strips() const override { return strips_.size(); }
  [[nodiscard]] bool side_by_side() const override { return true; }
  /// From one part to the next a link may go to another strip, but not to another member.
  [[nodiscard]] bool links_keep_to_strips() const override {
    return parts_.size() == 1 || parts_.front().log->team() == nullptr;
  }
  [[nodiscard]] Status read(std::size_t strip, StripSink& sink) override {
    strips_[strip].read(ranges_, sink);
    return ok();
  }

 private:
  std::span<const LogPart> parts_;
  StepCutter cutter_;
  std::vector<StepRange> ranges_;
  std::vector<LogStrip> strips_;
};

/// Where they are not. What is read at once is a piece; all decoding is done in next(). One process
/// cuts it into strips that follow each other; what a member of a team has is one strip, since
/// others have theirs at the same time.
class TimedStretches final : public Stretches {
 public:
  TimedStretches(std::span<const LogPart> parts, int threads) : parts_(parts), pool_(threads) {}

  [[nodiscard]] Result<bool> next(std::uint64_t /*most*/) override {
    while (!window_ || !window_->next(pool_)) {
      if (part_ == parts_.size()) {
        return false;
      }
      window_.emplace(TimedWindow::of_own(parts_[part_++]));
    }
    return true;
  }
  [[nodiscard]] std::size_t num_strips() const override {
    return shared() ? 1 : (window_->size() + kStrip - 1) / kStrip;
  }
  [[nodiscard]] bool side_by_side() const override { return shared(); }
  [[nodiscard]] Status read(std::size_t strip, StripSink& sink) override {
    const std::size_t from = shared() ? 0 : strip * kStrip;
    const std::size_t to = shared() ? window_->size() : std::min(window_->size(), from + kStrip);
    window_->append_to(sink, from, to);
    return ok();
  }

 private:
  static constexpr std::size_t kStrip = std::size_t{1} << 15U;

  [[nodiscard]] bool shared() const { return parts_.front().log->team() != nullptr; }

  std::span<const LogPart> parts_;
  ThreadPool pool_;
  std::size_t part_ = 0;
  std::optional<TimedWindow> window_;
};

}  // namespace

std::unique_ptr<Stretches> make_log_stretches(std::span<const LogPart> parts, int threads) {
  if (parts.front().log->in_links().in_step()) {
    return std::make_unique<StepStretches>(parts, threads);
  }
  return std::make_unique<TimedStretches>(parts, threads);
}

}  // namespace tacos
