// SPDX-License-Identifier: MIT
// The arrival-log matcher for networks on which time is a step number.
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
// takes in by step t: B = t / (5 R). A constant fraction of t instead costs half the quality. Where
// some NPUs have fewer links than the average, as in the corners of a mesh, they decide how long it
// takes and the others have time to spare: then B grows by as much, but not beyond a fifth of the
// steps in which R grows by one hop. On a mesh of 100x100 that halves the windows, and saves a
// quarter of the time, at the same quality.
//
// A team shares out the NPUs: a member decides for its own, as a thread does, and sees of the
// others what their logs gain in each window (halo.h). Logs, bits and pointers shrink with its
// share.
//
// The logs are the result (schedule/logs/step_log.h): what a window adds to them is, with the
// number of picks of each link, all that a reader needs.
//
// Probing is what takes the time: three of four entries are held already, in no pattern that a
// branch predictor could learn. So entries are tested in blocks of 8, without branches, into a
// mask of those that are missing, of which one is taken in each step.
//
// Cost: O(links x chunks) probes; 2 or 4 bytes, and a bit, per delivery.
#include "synthesis/matching/direct/uniform_matcher.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <optional>
#include <span>
#include <vector>

#include "base/memory/bit_matrix.h"
#include "base/numbers/rng.h"
#include "base/numbers/wide.h"
#include "synthesis/matching/direct/halo.h"

namespace tacos::matching {
namespace {

constexpr std::uint32_t kNobody = ~std::uint32_t{0};

/// A reader puts a window together in a table of steps x links, which must stay small.
std::uint64_t most_steps_in_window(std::uint32_t num_links) {
  constexpr std::uint32_t kTableEntries = 1U << 24U;
  return std::max(1U, kTableEntries / std::max(1U, num_links));
}

/// How many NPUs whose chunks can reach an NPU within r hops, summed over a few sampled NPUs.
class Balls {
 public:
  Balls(const GatherNetwork& network, std::uint64_t seed) : seen_(network.num_npus(), kNobody) {
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

constexpr auto kBits = BitMatrix::kWordBits;

/// 1 when the row of bits lacks the chunk, else 0.
std::uint32_t lacks(const BitMatrix::Word* held, std::size_t chunk) {
  return static_cast<std::uint32_t>(~held[chunk / kBits] >> chunk % kBits & 1U);
}

/// A link in a window: what is left of its source's log for it to look at, a block at a time.
template <class Id>
class Reader {
 public:
  Reader(const Id* next, const Id* end, std::uint32_t at) : block_(next), end_(end), at_(at) {}

  /// Goes to the next entry that the row of bits lacks; false when there is none.
  bool find(const BitMatrix::Word* held) {
    for (;;) {
      while (missing_ != 0) {
        if (lacks(held, chunk()) != 0) [[likely]] {
          return true;
        }
        // Another link has brought it since the block was read.
        missing_ &= missing_ - 1;
      }
      block_ += size_;
      if (block_ == end_) {
        size_ = 0;
        return false;
      }
      read(held);
    }
  }
  [[nodiscard]] Id chunk() const { return block_[std::countr_zero(missing_)]; }
  /// Counts the entry found and leaves it behind.
  void take() {
    missing_ &= missing_ - 1;
    ++taken_;
  }

  [[nodiscard]] std::uint32_t at() const { return at_; }
  [[nodiscard]] std::uint32_t taken() const { return taken_; }
  /// How many entries are left; the destination has every one before them.
  [[nodiscard]] std::uint32_t left() const {
    return static_cast<std::uint32_t>(
        end_ - (missing_ != 0 ? block_ + std::countr_zero(missing_) : block_ + size_));
  }

 private:
  static constexpr std::uint32_t kBlock = 8;

  void read(const BitMatrix::Word* held) {
    missing_ = 0;
    if (end_ - block_ >= kBlock) [[likely]] {
      size_ = kBlock;
      for (std::uint32_t i = 0; i < kBlock; ++i) {
        missing_ |= lacks(held, block_[i]) << i;
      }
      return;
    }
    size_ = static_cast<std::uint32_t>(end_ - block_);
    for (std::uint32_t i = 0; i < size_; ++i) {
      missing_ |= lacks(held, block_[i]) << i;
    }
  }

  const Id* block_;
  const Id* end_;
  /// Entries in the block, and those of them that were missing when it was read and not taken
  /// since.
  std::uint32_t size_ = 0;
  std::uint32_t missing_ = 0;
  std::uint32_t at_;
  std::uint32_t taken_ = 0;
};

/// `Id` is the type of the log's entries.
template <class Id>
class UniformMatcher {
 public:
  UniformMatcher(const GatherNetwork& network,
                 const GatherTask& task,
                 std::uint64_t seed,
                 ThreadPool& pool,
                 StepLog& log)
      : network_(network),
        task_(task),
        pool_(pool),
        log_(log),
        own_(log.npus()),
        held_(own_.size(), task.num_chunks()),
        length_(network.num_npus(), 0),
        visible_(network.num_npus(), 0),
        pointer_(network.num_links(), 0),
        counts_(network.num_links(), 0),
        balls_(network, seed),
        least_links_(std::max(1U, network.min_in_degree())) {
    if (log.team() != nullptr) {
      halo_.emplace(network, *log.team(), own_);
    }
    for (std::uint32_t chunk = 0; chunk < task.num_chunks(); ++chunk) {
      const std::uint32_t npu = task.start_of(chunk);
      const auto id = static_cast<Id>(chunk);
      if (own_.contains(npu)) {
        log_.entries<Id>(npu)[length_[npu]] = id;
        held_.set(npu - own_.first, chunk);
      } else if (halo_->has(npu)) {
        halo_->append(npu, id);
      }
      ++length_[npu];
    }
    std::copy(length_.begin(), length_.end(), log_.begun_with().begin());
  }

  void run(const std::function<void(double)>& progress) {
    const std::uint64_t places = std::uint64_t{network_.num_npus()} * task_.num_chunks();
    const std::uint64_t deliveries = places - task_.num_chunks();
    while (log_.num_deliveries() < deliveries) {
      const std::uint32_t steps = window(log_.num_steps());
      run_window(steps);
      const auto counts = std::span<const std::uint32_t>(counts_).subspan(log_.first_link(own_),
                                                                          log_.num_links(own_));
      StepLog::Totals totals = StepLog::totals_of(counts);
      if (halo_) {
        halo_->trim(pointer_, length_, task_.num_chunks());
        totals = halo_->exchange(log_, totals, visible_, length_);
      }
      log_.add_window(steps, counts, totals);
      if (progress) {
        progress(static_cast<double>(log_.num_deliveries()) / static_cast<double>(deliveries));
      }
    }
  }

 private:
  /// How many steps to decide at once from step `step` on.
  [[nodiscard]] std::uint32_t window(std::uint32_t step) {
    constexpr std::uint64_t kMargin = 5;
    const std::uint64_t links = network_.num_links();
    const std::uint64_t npus = network_.num_npus();
    const auto taken = UInt128{step} * links * Balls::kSamples;
    while (radius_ + 1 < balls_.size() &&
           UInt128{balls_.sum(radius_)} * task_.chunks_per_owner * npus < taken) {
      ++radius_;
    }
    const std::uint64_t safe = step / (kMargin * std::max<std::uint64_t>(1, radius_));
    const std::uint64_t ring = balls_.sum(radius_) - (radius_ == 0 ? 0 : balls_.sum(radius_ - 1));
    const auto hop = static_cast<std::uint64_t>(UInt128{ring} * task_.chunks_per_owner * npus /
                                                (UInt128{links} * Balls::kSamples));
    const std::uint64_t slack =
        step * links / (kMargin * std::max<std::uint64_t>(1, radius_) * least_links_ * npus);
    const std::uint64_t steps = std::max(safe, std::min(slack, hop / kMargin));
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(steps, 1, most_steps_in_window(network_.num_links())));
  }

  void run_window(std::uint32_t steps) {
    std::copy(length_.begin(), length_.end(), visible_.begin());
    constexpr std::size_t kGrain = 32;
    constexpr std::uint32_t kAhead = 2;
    pool_.for_ranges(own_.size(), kGrain, [&](std::size_t from, std::size_t to) {
      std::vector<Reader<Id>> readers;
      for (std::size_t i = from; i < to; ++i) {
        const auto npu = static_cast<std::uint32_t>(own_.first + i);
        if (i + kAhead < to) {
          prefetch(npu + kAhead);
        }
        run_npu(npu, steps, readers);
      }
    });
  }

  /// What an in-link has not looked at yet; the entries that were there when the window began.
  [[nodiscard]] const Id* unread(std::uint32_t at) const {
    const std::uint32_t src = network_.in_links()[at].src;
    return own_.contains(src) ? log_.entries<Id>(src) + pointer_[at]
                              : halo_->entries(src, pointer_[at]);
  }

  void prefetch(std::uint32_t npu) const {
    if (length_[npu] == task_.num_chunks()) {
      return;
    }
    constexpr std::size_t kLine = 64;
    constexpr std::size_t kLineWords = kLine / sizeof(BitMatrix::Word);
    const auto row = held_.row(npu - own_.first);
    for (std::size_t word = 0; word < row.size(); word += kLineWords) {
      __builtin_prefetch(&row[word]);
    }
    for (std::uint32_t at = network_.first_in(npu); at < network_.end_in(npu); ++at) {
      const Id* next = unread(at);
      __builtin_prefetch(next);
      __builtin_prefetch(next + kLine / sizeof(Id));
    }
    __builtin_prefetch(log_.entries<Id>(npu) + length_[npu], 1);
  }

  void run_npu(std::uint32_t npu, std::uint32_t steps, std::vector<Reader<Id>>& readers) {
    const std::uint32_t first = network_.first_in(npu);
    const std::uint32_t end = network_.end_in(npu);
    if (length_[npu] == task_.num_chunks()) {
      std::fill(counts_.begin() + first, counts_.begin() + end, 0U);
      return;
    }
    readers.clear();
    for (std::uint32_t at = first; at < end; ++at) {
      const std::uint32_t src = network_.in_links()[at].src;
      const Id* next = unread(at);
      readers.emplace_back(next, next + (visible_[src] - pointer_[at]), at);
    }
    for (std::uint32_t step = 0; step < steps && !readers.empty(); ++step) {
      run_step(npu, readers);
    }
    for (const Reader<Id>& reader : readers) {
      leave(reader);
    }
  }

  /// One delivery by each link that has one; the others are done with the window.
  void run_step(std::uint32_t npu, std::vector<Reader<Id>>& readers) {
    BitMatrix::Word* held = held_.row(npu - own_.first).data();
    Id* entries = log_.entries<Id>(npu);
    std::uint32_t length = length_[npu];
    std::size_t kept = 0;
    for (std::size_t i = 0; i < readers.size(); ++i) {
      Reader<Id>& reader = readers[i];
      // Who has everything need not look.
      if (length == task_.num_chunks() || !reader.find(held)) {
        leave(reader);
        continue;
      }
      const Id chunk = reader.chunk();
      reader.take();
      entries[length++] = chunk;
      held[chunk / kBits] |= BitMatrix::Word{1} << chunk % kBits;
      if (kept != i) {
        readers[kept] = reader;
      }
      ++kept;
    }
    readers.erase(readers.begin() + static_cast<std::ptrdiff_t>(kept), readers.end());
    length_[npu] = length;
  }

  /// The link is done with the window.
  void leave(const Reader<Id>& reader) {
    pointer_[reader.at()] = visible_[network_.in_links()[reader.at()].src] - reader.left();
    counts_[reader.at()] = reader.taken();
  }

  const GatherNetwork& network_;
  const GatherTask& task_;
  ThreadPool& pool_;
  StepLog& log_;
  /// Whose entries are ours to decide.
  NpuRange own_;
  /// With a team, what it sees of the others.
  std::optional<Halo<Id>> halo_;
  /// Rows of our own only.
  BitMatrix held_;
  /// Per NPU: how many entries its log has, now and when the window began.
  std::vector<std::uint32_t> length_;
  std::vector<std::uint32_t> visible_;
  /// Per in-link: the destination has every entry of the source's log before this one.
  std::vector<std::uint32_t> pointer_;
  /// Per in-link: its deliveries in the window.
  std::vector<std::uint32_t> counts_;
  Balls balls_;
  std::size_t radius_ = 0;
  /// Links into the NPU that has fewest; 1 when it is a root that has none.
  std::uint64_t least_links_;
};

InLinks in_links_of(const GatherNetwork& network) {
  InLinks in_links;
  for (std::uint32_t npu = 0; npu < network.num_npus(); ++npu) {
    in_links.first.push_back(network.first_in(npu));
  }
  in_links.first.push_back(network.num_links());
  for (const InLink& link : network.in_links()) {
    in_links.links.push_back(link.link);
  }
  return in_links;
}

}  // namespace

SharedLog match_in_steps(const GatherNetwork& network,
                         const GatherTask& task,
                         const StepOptions& options,
                         ThreadPool& pool) {
  auto log = std::make_shared<StepLog>(
      in_links_of(network), task.num_chunks(), options.team, options.directory);
  if (log->narrow()) {
    UniformMatcher<std::uint16_t>(network, task, options.seed, pool, *log).run(options.progress);
  } else {
    UniformMatcher<std::uint32_t>(network, task, options.seed, pool, *log).run(options.progress);
  }
  return log;
}

}  // namespace tacos::matching
