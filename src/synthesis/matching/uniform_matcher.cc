// SPDX-License-Identifier: MIT
// The arrival-log matcher for networks on which time is a step number (THEORY 4.1).
//
// What an NPU has is an append-only log; every link keeps one pointer into its source's log and
// takes the next entry that its destination lacks. "The destination has it" is permanent, so each
// (link, entry) pair is looked at once: in-degree probes per delivery in all, no queue, no search.
//
// Windows: deciding several steps at once keeps an NPU's bit row and its neighbours' logs in cache.
// In a window of B steps a link makes up to B picks, all from what its source held when the window
// began, so the picks of different NPUs are independent (parallel, same result on any number of
// threads) and causal. The price is that news moves one hop per window. It stays ahead of demand as
// long as B is small against t / R(t), where R(t) is the radius of the ball of chunks that an NPU
// takes in by step t: B = t / (5 R). A constant fraction of t instead costs half the quality.
//
// The picks of a window go into a table of steps x links, which read row by row is the schedule in
// order: no sorting.
//
// Cost: O(links x chunks) probes, 4 bytes and a bit per delivery, plus the table (at most 64 MiB).
#include "synthesis/matching/uniform_matcher.h"

#include <algorithm>
#include <atomic>

#include "base/rng.h"
#include "base/wide.h"

namespace tacos {
namespace {

constexpr std::uint32_t kNothing = ~std::uint32_t{0};

/// How many NPUs whose chunks can reach an NPU within r hops, summed over a few sampled NPUs.
class Balls {
 public:
  Balls(const GatherNetwork& network, std::uint64_t seed) : seen_(network.num_npus(), kNothing) {
    Rng rng(seed);
    for (std::uint32_t sample = 0; sample < kSamples; ++sample) {
      add(network, rng.below(network.num_npus()), sample);
    }
  }

  static constexpr std::uint32_t kSamples = 8;
  [[nodiscard]] std::size_t size() const { return sum_.size(); }
  [[nodiscard]] std::uint64_t sum(std::size_t radius) const { return sum_[radius]; }

 private:
  void add(const GatherNetwork& network, std::uint32_t center, std::uint32_t sample) {
    std::vector<std::uint32_t> frontier{center};
    std::vector<std::uint32_t> next;
    seen_[center] = sample;
    std::uint64_t size = 1;
    for (std::size_t radius = 0; !frontier.empty() || radius < sum_.size(); ++radius) {
      // Samples before this one had reached everything by their last radius.
      const std::uint64_t before = std::uint64_t{network.num_npus()} * sample;
      sum_.resize(std::max(sum_.size(), radius + 1), before);
      sum_[radius] += size;
      next.clear();
      for (const std::uint32_t npu : frontier) {
        for (std::uint32_t at = network.first_in(npu); at < network.end_in(npu); ++at) {
          const std::uint32_t src = network.in_links()[at].src;
          if (seen_[src] != sample) {
            seen_[src] = sample;
            next.push_back(src);
          }
        }
      }
      size += next.size();
      frontier.swap(next);
    }
  }

  std::vector<std::uint32_t> seen_;
  std::vector<std::uint64_t> sum_;
};

class UniformMatcher {
 public:
  UniformMatcher(const GatherNetwork& network,
                 const GatherTask& task,
                 std::uint64_t seed,
                 ThreadPool& pool,
                 DeliveryBuffer& out)
      : network_(network),
        task_(task),
        pool_(pool),
        out_(out),
        log_(network.num_npus(), task.num_chunks(), false),
        visible_(network.num_npus(), 0),
        pointer_(network.num_links(), 0),
        column_(network.num_links()),
        balls_(network, seed) {
    for (std::uint32_t chunk = 0; chunk < task.num_chunks(); ++chunk) {
      log_.append(task.start_of(chunk), chunk);
    }
    for (std::uint32_t at = 0; at < network.num_links(); ++at) {
      column_[at] = network.in_links()[at].link.value();
    }
  }

  void run(const std::function<void(double)>& progress) {
    const std::uint64_t places = std::uint64_t{network_.num_npus()} * task_.num_chunks();
    std::uint64_t remaining = places - task_.num_chunks();
    for (std::uint32_t step = 0; remaining > 0;) {
      const std::uint32_t steps = window(step);
      remaining -= run_window(steps);
      emit(step, steps);
      step += steps;
      if (progress) {
        progress(1.0 - static_cast<double>(remaining) / static_cast<double>(places));
      }
    }
  }

 private:
  /// How many steps to decide at once from step `step` on.
  [[nodiscard]] std::uint32_t window(std::uint32_t step) {
    constexpr std::uint64_t kMargin = 5;
    const auto taken = UInt128{step} * network_.num_links() * Balls::kSamples;
    while (radius_ + 1 < balls_.size() &&
           UInt128{balls_.sum(radius_)} * task_.chunks_per_owner * network_.num_npus() < taken) {
      ++radius_;
    }
    const std::uint64_t steps = step / (kMargin * std::max<std::uint64_t>(1, radius_));
    constexpr std::uint32_t kTableEntries = 1U << 24U;
    const std::uint32_t most = std::max(1U, kTableEntries / std::max(1U, network_.num_links()));
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(steps, 1, most));
  }

  std::uint64_t run_window(std::uint32_t steps) {
    const std::size_t links = network_.num_links();
    std::copy(log_.lengths().begin(), log_.lengths().end(), visible_.begin());
    table_.assign(steps * links, kNothing);
    std::atomic<std::uint64_t> delivered = 0;
    constexpr std::size_t kGrain = 16;
    pool_.for_ranges(network_.num_npus(), kGrain, [&](std::size_t from, std::size_t to) {
      std::uint64_t count = 0;
      for (std::size_t npu = from; npu < to; ++npu) {
        count += run_npu(static_cast<std::uint32_t>(npu), steps);
      }
      delivered += count;
    });
    return delivered;
  }

  std::uint64_t run_npu(std::uint32_t npu, std::uint32_t steps) {
    const std::uint32_t before = log_.length(npu);
    const std::uint32_t first = network_.first_in(npu);
    const std::uint32_t end = network_.end_in(npu);
    std::uint32_t* row = table_.data();
    for (std::uint32_t step = 0; step < steps && !log_.complete(npu); ++step) {
      std::uint32_t idle = 0;
      for (std::uint32_t at = first; at < end; ++at) {
        const std::uint32_t src = network_.in_links()[at].src;
        const std::uint32_t* chunks = log_.chunks(src);
        const std::uint32_t visible = visible_[src];
        std::uint32_t pointer = pointer_[at];
        while (pointer < visible && log_.holds(npu, chunks[pointer])) {
          ++pointer;
        }
        if (pointer < visible) {
          log_.append(npu, chunks[pointer]);
          row[column_[at]] = chunks[pointer++];
        } else {
          ++idle;
        }
        pointer_[at] = pointer;
      }
      if (idle == end - first) {
        break;
      }
      row += network_.num_links();
    }
    return log_.length(npu) - before;
  }

  void emit(std::uint32_t first_step, std::uint32_t steps) {
    const std::uint32_t links = network_.num_links();
    const std::uint32_t* cell = table_.data();
    for (std::uint32_t step = 0; step < steps; ++step) {
      const Ticks start = network_.time(first_step + step);
      for (std::uint32_t link = 0; link < links; ++link, ++cell) {
        if (*cell != kNothing) {
          out_.append({.start = start, .link = LinkId(link), .chunk = ChunkId(*cell)});
        }
      }
    }
  }

  const GatherNetwork& network_;
  const GatherTask& task_;
  ThreadPool& pool_;
  DeliveryBuffer& out_;
  ArrivalLog log_;
  /// Lengths of the logs when the window began.
  std::vector<std::uint32_t> visible_;
  /// Per in-link: the destination has every entry of the source's log before this one.
  std::vector<std::uint32_t> pointer_;
  /// Per in-link: its column in the table, which is its link id.
  std::vector<std::uint32_t> column_;
  /// Picks of the window, steps x links.
  std::vector<std::uint32_t> table_;
  Balls balls_;
  std::size_t radius_ = 0;
};

}  // namespace

void match_in_steps(const GatherNetwork& network,
                    const GatherTask& task,
                    const StepOptions& options,
                    ThreadPool& pool,
                    DeliveryBuffer& out) {
  UniformMatcher(network, task, options.seed, pool, out).run(options.progress);
}

}  // namespace tacos
