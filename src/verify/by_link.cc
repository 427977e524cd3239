// SPDX-License-Identifier: MIT
// A transfer is right when its link is free and its source has the chunk by then. The one is known
// from what else the link carries, the other from what the links into the source have brought: all
// that concerns the links out of an NPU is in the lists of those links and of the links into it. So
// where what a link carries can be read by itself, nothing has to be replayed in order of time.
//
// Of an NPU, first the links into it are read: when does it have each chunk for the first time?
// Then the links out of it: each transfer is compared with that. Every link is read twice, by
// whoever looks at its one end and at its other. What takes the time of a replay, to bring every
// transfer to the place that it concerns, is not there: a table of one NPU, 4 bytes a chunk, stays
// in the cache of the core that looks at it (160 KB for 40,000 chunks), and lists are read from
// front to back.
//
// Times are steps: transfers start at steps, so of how long something takes it matters how many
// steps have begun by its end, which is a division rounded up. Both sizes of chunks (they differ by
// a byte) are taken for the larger one: what is right then is right, and of the rest nothing is
// told here.
//
// What is proved is what a replay proves (verify.cc): a source holds a chunk at a step if it began
// with it or something that brings it has ended by then, and whether that something was right
// itself is looked at in its own turn. Nothing has words for what is wrong.
//
// Cost: O(1) for each transfer, twice, and what it takes to read it; and O(chunks) for each NPU.
// Mesh 140x140, on two threads of a busy machine: 15 ns of CPU time a transfer, where slices
// (in_slices.cc) take 74.
#include "verify/by_link.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <numeric>
#include <span>
#include <vector>

#include "base/assert.h"
#include "base/parallel/cancel.h"
#include "base/parallel/jobs.h"
#include "verify/places.h"

namespace tacos {
namespace {

/// Which chunks each NPU begins with.
class Beginnings {
 public:
  Beginnings(const Topology& topology, const Collective& collective)
      : first_(std::size_t{topology.num_npus()} + 1, 0) {
    const auto for_each = [&](const auto& visit) {
      for (std::uint32_t chunk = 0; chunk < collective.num_chunks(); ++chunk) {
        for_each_start(collective, ChunkId(chunk), [&](std::uint32_t participant) {
          visit(collective.participants()[participant].index(), ChunkId(chunk));
        });
      }
    };
    for_each([&](std::size_t npu, ChunkId /*chunk*/) { ++first_[npu + 1]; });
    for (std::size_t npu = 1; npu < first_.size(); ++npu) {
      first_[npu] += first_[npu - 1];
    }
    chunks_.resize(first_.back());
    std::vector<std::size_t> next = first_;
    for_each([&](std::size_t npu, ChunkId chunk) { chunks_[next[npu]++] = chunk; });
  }
  [[nodiscard]] std::span<const ChunkId> of(std::size_t npu) const {
    return std::span(chunks_).subspan(first_[npu], first_[npu + 1] - first_[npu]);
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<ChunkId> chunks_;
};

/// Numbers of steps are `Step`s: few fill half as much of a cache.
template <class Step>
class ByLink {
 public:
  ByLink(const WireTable& table,
         const Collective& collective,
         const LinkLists& lists,
         ThreadPool& pool)
      : table_(table),
        collective_(collective),
        lists_(lists),
        clock_(lists.clock()),
        pool_(pool),
        beginnings_(table.topology(), collective),
        participant_(table.topology().num_npus(), kNobody) {
    for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
      participant_[collective.participants()[p].index()] = p;
    }
  }

  /// Calls seen(NPUs so far) now and then.
  template <class Seen>
  [[nodiscard]] std::optional<Counts> run(const Seen& seen) {
    if (lists_.op() != Op::kCopy || lists_.num_links() > table_.num_links() ||
        table_.num_simple() < table_.num_chunks() || clock_.begin < Ticks{} ||
        clock_.unit <= Ticks{} || clock_.begin > kMaxTime || !unused_links_are_empty()) {
      return std::nullopt;
    }
    // Few enough to be fair to all threads, many enough that these seldom wait for each other.
    constexpr std::size_t kJob = 16;
    constexpr std::size_t kJobs = 64;
    const std::size_t npus = participant_.size();
    for (std::size_t from = 0; from < npus && sound_; from += kJob * kJobs) {
      const std::size_t to = std::min(npus, from + kJob * kJobs);
      for_each_job(pool_, (to - from + kJob - 1) / kJob, [&](std::size_t job) {
        check(from + job * kJob, std::min(to, from + (job + 1) * kJob));
      });
      seen(to);
    }
    return sound_ ? std::optional(counts_) : std::nullopt;
  }

 private:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  static constexpr Step kNever = std::numeric_limits<Step>::max();
  /// Of the two sizes of chunks.
  static constexpr std::size_t kLarger = 0;
  /// What transfers take of a link.
  struct Steps {
    Step duration = 0;
    Step busy = 0;
  };
  /// Of a thread.
  struct Desk {
    LinkList list;
    /// Per chunk: from which step on the NPU has it.
    std::vector<Step> since;
    Counts counts;
  };

  /// Links that have failed, or do not lead from NPU to NPU, carry nothing.
  [[nodiscard]] bool unused_links_are_empty() const {
    LinkList list;
    for (std::uint32_t id = 0; id < lists_.num_links(); ++id) {
      if (!table_[LinkId(id)].direct) {
        lists_.read(LinkId(id), list);
        if (!list.chunks.empty()) {
          return false;
        }
      }
    }
    return true;
  }

  /// NPUs from `from` up to `to`.
  void check(std::size_t from, std::size_t to) {
    Desk desk;
    bool sound = true;
    for (std::size_t npu = from; npu < to && sound; ++npu) {
      check_cancel();
      sound = receive(npu, desk) && has_all(npu, desk) && send(npu, desk);
    }
    const std::scoped_lock lock(adding_);
    sound_ = sound_ && sound;
    counts_.transfers += desk.counts.transfers;
    counts_.moves += desk.counts.moves;
    counts_.latest = std::max(counts_.latest, desk.counts.latest);
  }

  /// Finds out when the NPU has what.
  [[nodiscard]] bool receive(std::size_t npu, Desk& desk) const {
    desk.since.assign(collective_.num_chunks(), kNever);
    for (const ChunkId chunk : beginnings_.of(npu)) {
      desk.since[chunk.index()] = 0;
    }
    for (const LinkId link : table_.topology().in_links(node(npu))) {
      const std::optional<Steps> steps = read(link, desk.list);
      if (!steps) {
        return false;
      }
      Step* const since = desk.since.data();
      const auto period = static_cast<Step>(desk.list.period);
      const ChunkId* chunk = desk.list.chunks.data();
      for (const LinkList::Run& run : desk.list.runs) {
        Step arrival = static_cast<Step>(run.first) + steps->duration;
        for (const ChunkId* const end = chunk + run.count; chunk != end;
             ++chunk, arrival += period) {
          since[chunk->index()] = std::min(since[chunk->index()], arrival);
        }
      }
    }
    return true;
  }

  [[nodiscard]] bool has_all(std::size_t npu, const Desk& desk) const {
    const std::uint32_t participant = participant_[npu];
    for (std::uint32_t chunk = 0; participant != kNobody && chunk < desk.since.size(); ++chunk) {
      if (desk.since[chunk] == kNever && collective_.ends_with(ChunkId(chunk), participant)) {
        return false;
      }
    }
    return true;
  }

  /// Whether it has what it sends, and links are free.
  [[nodiscard]] bool send(std::size_t npu, Desk& desk) const {
    bool sound = true;
    for (const LinkId link : table_.topology().out_links(node(npu))) {
      const std::optional<Steps> steps = read(link, desk.list);
      if (!steps) {
        return false;
      }
      const Step* const since = desk.since.data();
      const auto period = static_cast<Step>(desk.list.period);
      const ChunkId* chunk = desk.list.chunks.data();
      std::uint64_t free_at = 0;
      for (const LinkList::Run& run : desk.list.runs) {
        sound &= run.first >= free_at && (run.count == 1 || steps->busy <= desk.list.period);
        free_at = last_of(run, desk.list) + steps->busy;
        auto start = static_cast<Step>(run.first);
        for (const ChunkId* const end = chunk + run.count; chunk != end; ++chunk, start += period) {
          sound &= since[chunk->index()] <= start;
        }
      }
      count(link, desk);
    }
    return sound;
  }

  /// What was read of a link.
  void count(LinkId link, Desk& desk) const {
    if (desk.list.chunks.empty()) {
      return;
    }
    desk.counts.transfers += desk.list.chunks.size();
    desk.counts.moves += desk.list.chunks.size();
    // What is sent last arrives last: all take the same way, one after the other.
    const auto start = static_cast<std::int64_t>(last_of(desk.list.runs.back(), desk.list));
    const Ticks duration = duration_of(link, table_.size_class(desk.list.chunks.back()));
    desk.counts.latest =
        std::max(desk.counts.latest, clock_.begin + Ticks{clock_.unit.ps * start} + duration);
  }

  /// Nothing unless all of it is about chunks that exist and ends at times that there are.
  [[nodiscard]] std::optional<Steps> read(LinkId link, LinkList& list) const {
    if (link.value() < lists_.num_links()) {
      lists_.read(link, list);
    } else {
      list = {};
    }
    if (list.chunks.empty() && list.runs.empty()) {
      return Steps{};
    }
    const std::optional<Steps> steps = steps_of(link);
    const std::uint32_t highest = std::accumulate(
        list.chunks.begin(), list.chunks.end(), 0U, [](std::uint32_t high, ChunkId chunk) {
          return std::max(high, chunk.value());
        });
    if (!steps || highest >= collective_.num_chunks()) {
      return std::nullopt;
    }
    const std::uint64_t ends = end_of_starts(link, *steps);
    std::uint64_t listed = 0;
    for (const LinkList::Run& run : list.runs) {
      if (run.count == 0 || list.period == 0 || run.first >= ends ||
          run.count - 1 > (ends - 1 - run.first) / list.period) {
        return std::nullopt;
      }
      listed += run.count;
    }
    return listed == list.chunks.size() ? steps : std::nullopt;
  }

  /// Of the larger chunks.
  [[nodiscard]] std::optional<Steps> steps_of(LinkId link) const {
    const WireTable::Wire& wire = table_[link];
    const std::uint64_t duration = in_steps(duration_of(link, kLarger));
    const std::uint64_t busy = in_steps(wire.held + wire.serialization[kLarger]);
    // What took no time could bring each of two NPUs what the other has not.
    if (duration == 0 || duration >= kNever || busy >= kNever) {
      return std::nullopt;
    }
    return Steps{static_cast<Step>(duration), static_cast<Step>(busy)};
  }
  /// When the last of a run starts.
  [[nodiscard]] static std::uint64_t last_of(const LinkList::Run& run, const LinkList& list) {
    return run.first + (run.count - 1) * list.period;
  }
  [[nodiscard]] std::uint64_t in_steps(Ticks time) const {
    return static_cast<std::uint64_t>((time.ps - 1) / clock_.unit.ps + 1);
  }
  [[nodiscard]] Ticks duration_of(LinkId link, std::size_t size) const {
    return table_[link].latency + table_[link].serialization[size];
  }
  /// No transfer may start at this step or later.
  [[nodiscard]] std::uint64_t end_of_starts(LinkId link, const Steps& steps) const {
    const Ticks duration = duration_of(link, kLarger);
    if (duration > kMaxTime - clock_.begin) {
      return 0;
    }
    const std::int64_t last = (kMaxTime - clock_.begin - duration).ps / clock_.unit.ps;
    return std::min<std::uint64_t>(kNever - steps.duration, static_cast<std::uint64_t>(last) + 1);
  }
  [[nodiscard]] static NodeId node(std::size_t npu) {
    return NodeId(static_cast<std::uint32_t>(npu));
  }

  const WireTable& table_;
  const Collective& collective_;
  const LinkLists& lists_;
  LinkLists::Clock clock_;
  ThreadPool& pool_;
  Beginnings beginnings_;
  /// Per NPU.
  std::vector<std::uint32_t> participant_;
  std::mutex adding_;
  bool sound_ = true;
  Counts counts_;
};

}  // namespace

std::optional<Counts> check_by_link(const WireTable& table,
                                    const Collective& collective,
                                    const LinkLists& lists,
                                    const VerifyOptions& options,
                                    ThreadPool& pool) {
  TACOS_ASSERT(!collective.reduces(), "sums depend on their order");
  TACOS_ASSERT(table.times().front() > Ticks{}, "every transfer takes time");
  const auto npus = static_cast<double>(table.topology().num_npus());
  const auto seen = [&](std::size_t done) {
    if (options.progress) {
      options.progress(static_cast<double>(done) / npus);
    }
  };
  return lists.clock().end < std::numeric_limits<std::uint32_t>::max()
             ? ByLink<std::uint32_t>(table, collective, lists, pool).run(seen)
             : ByLink<std::uint64_t>(table, collective, lists, pool).run(seen);
}

}  // namespace tacos
