// SPDX-License-Identifier: MIT
// A timetable of a million entries and a thousand rounds stands for 10^9 transfers. They need not
// be replayed: every round is the first, later and with other chunks. Written from
// docs/schedule-format.md, section "PERD".
//
// What is checked, and what it proves of the expanded schedule.
//
//   1. Chunk ids come in blocks of rounds * stride, and the chunks of the first round are the first
//      `stride` of each block. So every chunk c belongs to exactly one round, and it is the chunk
//      of the first round that has the same block and the same remainder modulo stride, moved by a
//      multiple of stride.
//   2. All chunks of a block have the same owners and destinations. So the collective asks of every
//      round what it asks of the first (first_round says when this is so).
//   3. On every link, what the entries keep it busy with does not overlap modulo the period. Two
//      transfers on one link are of two entries, whose busy times differ modulo the period, or of
//      one entry in two rounds, which are a period or more apart. So no link is used twice at once.
//   4. The first round, replayed as a schedule of its own, does what the collective asks of its
//      chunks. Transfers of different rounds have no chunk in common, so what happens to a chunk is
//      what happens to it in its own round. Chunks differ by at most a byte, and all transfers of a
//      chunk move as many bytes: the round is replayed once with chunks of either size.
//   5. The last round ends last: rounds are a period apart, which is longer than what a byte more
//      or less, or chunks that share a transfer, do to it, since it is no shorter than what keeps a
//      link of it busy.
//   6. Where entries share transfers, how long one takes depends on how many of them have a round
//      then: from the smallest chunk alone to the largest of all. Whatever is sent or arrives at an
//      NPU, of one chunk, happens in the same order for all of these durations: no arrival that
//      may be sooner or later lies beside something that it must not pass, but for sums, which may
//      be made in any order. So every round has the outcome of the one that was replayed.
//
// In 3 all chunks are taken to be the largest, and all entries to have a round. So a timetable that
// is right only because some chunks are a byte smaller is refused, as is one whose entries overlap
// modulo the period and keep out of each other's way only because they have so few rounds;
// everything else gets the verdict of the expanded schedule.
#include "verify/periodic_proof.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/csr.h"
#include "base/numbers/wide.h"

namespace tacos {
namespace {

class PeriodCheck {
 public:
  PeriodCheck(const Topology& topology,
              const Collective& collective,
              LinkModel model,
              const Timetable& timetable,
              Violations& violations)
      : topology_(topology),
        collective_(collective),
        model_(model),
        timetable_(timetable),
        bytes_(collective.chunks().max_bytes()),
        violations_(violations) {}

  std::optional<Ticks> run() {
    const std::uint64_t before = violations_.count();
    if (!check_blocks() || !check_entries()) {
      return std::nullopt;
    }
    check_links();
    check_orders();
    const Ticks last = latest();
    return violations_.count() == before ? std::optional(last) : std::nullopt;
  }

 private:
  template <class Sentence>
  bool refuse(const Sentence& sentence) {
    violations_.add(sentence);
    return false;
  }
  template <class Sentence>
  bool refuse(std::size_t index, const Sentence& sentence) {
    const TimetableEntry& entry = timetable_.entries[index];
    return refuse([&] {
      return fmt::format("entry {} of the timetable (place {} ps, lap {}, link {}, chunk {}): {}",
                         index,
                         entry.place.ps,
                         entry.lap,
                         entry.link,
                         entry.chunk,
                         sentence());
    });
  }

  bool check_blocks() {
    const std::uint64_t block = std::uint64_t{timetable_.rounds} * timetable_.stride;
    if (block == 0 || collective_.num_chunks() % block != 0) {
      return refuse([&] {
        return fmt::format("{} rounds of {} chunks at a time do not make {} chunks",
                           timetable_.rounds,
                           timetable_.stride,
                           collective_.num_chunks());
      });
    }
    block_ = static_cast<std::uint32_t>(block);
    return timetable_.period.ps > 0 && timetable_.period <= kMaxTime ? true : refuse([&] {
      return fmt::format("a period of {} ps is none", timetable_.period.ps);
    });
  }

  /// The links of entry after entry.
  template <class Visit>
  void for_each_route(const Visit& visit) const {
    std::vector<LinkId> route;
    std::size_t further = 0;
    for (std::size_t i = 0; i < timetable_.entries.size(); ++i) {
      route.assign(1, LinkId(timetable_.entries[i].link));
      for (std::size_t n = 0; n < timetable_.entries[i].num_further; ++n) {
        route.emplace_back(timetable_.further_links[further++]);
      }
      visit(i, std::span<const LinkId>(route));
    }
  }

  /// Whether everything that entries name exists, and they come in order.
  bool check_entries() {
    std::size_t further = 0;
    const TimetableEntry* before = nullptr;
    for (std::size_t i = 0; i < timetable_.entries.size(); ++i) {
      const TimetableEntry& entry = timetable_.entries[i];
      further += entry.num_further;
      if (entry.link >= topology_.num_links() || entry.chunk >= collective_.num_chunks() ||
          entry.chunk % block_ >= timetable_.stride) {
        return refuse(i, [] { return "names what is not in the first round"; });
      }
      if (entry.place.ps < 0 || entry.place >= timetable_.period ||
          (before != nullptr && std::tuple(before->place, before->link, before->chunk) >=
                                    std::tuple(entry.place, entry.link, entry.chunk))) {
        return refuse(i, [] { return "is not in order of its place in the period"; });
      }
      if (before != nullptr && shares(*before, entry)) {
        if (before->op != entry.op || before->num_further > 0 || entry.num_further > 0) {
          return refuse(i, [] { return "cannot share the transfer of the entry before it"; });
        }
        shared_ = true;
      }
      before = &entry;
    }
    const bool exist = further == timetable_.further_links.size() &&
                       std::all_of(timetable_.further_links.begin(),
                                   timetable_.further_links.end(),
                                   [this](auto link) { return link < topology_.num_links(); });
    return exist ? true : refuse([] { return "the routes of the timetable name no links"; });
  }

  /// How many entries share the transfer of this one, which is the first of them.
  [[nodiscard]] std::size_t sharing(std::size_t first) const {
    const std::vector<TimetableEntry>& entries = timetable_.entries;
    std::size_t end = first + 1;
    while (end < entries.size() && shares(entries[first], entries[end])) {
      ++end;
    }
    return end - first;
  }
  [[nodiscard]] bool is_first(std::size_t entry) const {
    return entry == 0 || !shares(timetable_.entries[entry - 1], timetable_.entries[entry]);
  }
  /// Of so many of the largest chunks; those of a transfer differ, so they are no more than all.
  [[nodiscard]] Bytes bytes_of(std::size_t chunks) const {
    return {bytes_.count * static_cast<std::int64_t>(chunks)};
  }

  /// When in the period entries take a link, as the first of so many that share a transfer.
  struct Use {
    Ticks from;
    std::uint32_t entry = 0;
    std::uint32_t chunks = 1;
  };

  void check_links() {
    const Csr<Use> uses(topology_.num_links(), [this](const auto& add) {
      for_each_route([&](std::size_t i, std::span<const LinkId> route) {
        if (!is_first(i)) {
          return;
        }
        Int128 head = timetable_.entries[i].place.ps;
        for (const LinkId link : route) {
          add(link.index(),
              Use{.from = {static_cast<std::int64_t>(head % timetable_.period.ps)},
                  .entry = static_cast<std::uint32_t>(i),
                  .chunks = static_cast<std::uint32_t>(sharing(i))});
          head += topology_.link(link).latency.ps;
        }
      });
    });
    std::vector<Use> sorted;
    for (std::uint32_t link = 0; link < topology_.num_links(); ++link) {
      sorted.assign(uses[link].begin(), uses[link].end());
      std::sort(sorted.begin(), sorted.end(), [](const Use& a, const Use& b) {
        return std::pair(a.from, a.entry) < std::pair(b.from, b.entry);
      });
      check_link(LinkId(link), sorted);
    }
  }

  void check_link(LinkId link, std::span<const Use> uses) {
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const Ticks busy = link_cost(topology_.link(link), bytes_of(uses[i].chunks), model_).busy;
      const bool is_last = i + 1 == uses.size();
      const Use& next = uses[is_last ? 0 : i + 1];
      const Ticks free_until = next.from + (is_last ? timetable_.period : Ticks{});
      if (busy > free_until - uses[i].from) {
        refuse(uses[i].entry, [&] {
          return fmt::format(
              "{} is busy for {} ps, and entry {} takes it {} ps later, modulo the "
              "period of {} ps",
              violations_.name(link),
              busy.ps,
              next.entry,
              (free_until - uses[i].from).ps,
              timetable_.period.ps);
        });
      }
    }
  }

  /// What happens to a chunk at an NPU, from when until when: it is sent, or arrives at some time.
  struct Event {
    std::uint64_t place = 0;
    Ticks from;
    Ticks to;
    enum class Kind : std::uint8_t { kCopied, kReduced, kSent } kind = Kind::kSent;
    std::uint32_t entry = 0;
  };

  /// Whether durations that differ from period to period leave everything in its order.
  void check_orders() {
    if (!shared_) {
      return;
    }
    const ChunkTable& chunks = collective_.chunks();
    const Bytes least{bytes_.count - (chunks.size().count % chunks.count() == 0 ? 0 : 1)};
    std::vector<Event> events;
    events.reserve(2 * timetable_.entries.size());
    std::size_t together = 1;
    for_each_route([&](std::size_t i, std::span<const LinkId> route) {
      together = is_first(i) ? sharing(i) : together;
      const TimetableEntry& entry = timetable_.entries[i];
      const Int128 start = entry.place.ps + Int128{timetable_.period.ps} * entry.lap;
      const Int128 end = start + route_time(topology_, route, bytes_of(together)).ps;
      if (end > kMaxTime.ps) {
        return;  // latest() says so.
      }
      const Ticks from{static_cast<std::int64_t>(start)};
      const Ticks to{static_cast<std::int64_t>(end)};
      const auto add = [&](NodeId npu, Ticks begin, Event::Kind kind) {
        events.push_back({.place = std::uint64_t{entry.chunk} * topology_.num_nodes() + npu.value(),
                          .from = begin,
                          .to = to,
                          .kind = kind,
                          .entry = static_cast<std::uint32_t>(i)});
      };
      add(topology_.link(route.front()).src, from, Event::Kind::kSent);
      add(topology_.link(route.back()).dst,
          from + route_time(topology_, route, least),
          entry.op == Op::kCopy ? Event::Kind::kCopied : Event::Kind::kReduced);
    });
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return std::tuple(a.place, a.from, a.to, a.kind) < std::tuple(b.place, b.from, b.to, b.kind);
    });
    check_places(events);
  }

  void check_places(std::span<const Event> events) {
    // Of each kind, when the last that has begun is over.
    std::array<Ticks, 3> over{};
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (i == 0 || events[i - 1].place != events[i].place) {
        over.fill({-1});
      }
      const Event& event = events[i];
      const auto [copied, reduced, sent] = over;
      const bool in_order = event.kind == Event::Kind::kSent
                                ? copied <= event.from && reduced <= event.from
                                : sent <= event.from && copied < event.from &&
                                      (event.kind == Event::Kind::kReduced || reduced < event.from);
      if (!in_order) {
        refuse(event.entry, [] {
          return "shares a transfer that takes longer in some rounds than in others, and comes "
                 "before or after something else accordingly";
        });
      }
      Ticks& last = over[static_cast<std::size_t>(event.kind)];
      last = std::max(last, event.to);
    }
  }

  /// When the last transfer of the last round ends. Of a shared one that is the round of those
  /// entries that have the last lap; the others are over by then.
  Ticks latest() {
    Int128 last = 0;
    const std::uint32_t moved = (timetable_.rounds - 1) * timetable_.stride;
    for_each_route([&](std::size_t i, std::span<const LinkId> route) {
      if (!is_first(i)) {
        return;
      }
      const auto together = std::span(timetable_.entries).subspan(i, sharing(i));
      const std::uint32_t lap =
          std::max_element(together.begin(), together.end(), [](const auto& a, const auto& b) {
            return a.lap < b.lap;
          })->lap;
      Bytes bytes;
      for (const TimetableEntry& entry : together) {
        bytes.count +=
            entry.lap == lap ? collective_.chunks().bytes(ChunkId(entry.chunk + moved)).count : 0;
      }
      const Int128 start = Int128{together.front().place.ps} +
                           Int128{timetable_.period.ps} * (Int128{lap} + timetable_.rounds - 1);
      const Int128 end = start + route_time(topology_, route, bytes).ps;
      if (start + route_time(topology_, route, bytes_of(together.size())).ps > kMaxTime.ps) {
        refuse(i, [] { return fmt::format("ends after {} ps, the latest there is", kMaxTime.ps); });
        return;
      }
      last = std::max(last, end);
    });
    return {static_cast<std::int64_t>(last)};
  }

  const Topology& topology_;
  const Collective& collective_;
  LinkModel model_;
  const Timetable& timetable_;
  /// Of the largest chunks.
  Bytes bytes_;
  Violations& violations_;
  std::uint32_t block_ = 1;
  /// Whether some entries share a transfer.
  bool shared_ = false;
};

/// The first round, its chunks numbered one after the other.
class RoundSource final : public TransferSource {
 public:
  explicit RoundSource(const Timetable& timetable) : timetable_(timetable) {}

  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override {
    return std::make_unique<Cursor>(timetable_);
  }
  [[nodiscard]] std::size_t memory_bytes() const override { return 0; }

 private:
  class Cursor final : public TransferCursor {
   public:
    explicit Cursor(const Timetable& timetable)
        : block_(timetable.rounds * timetable.stride),
          stride_(timetable.stride),
          round_(first_round_cursor(timetable)) {}

    [[nodiscard]] Status next(TransferBatch& batch) override {
      if (Status read = round_->next(read_); !read) {
        return read;
      }
      batch.clear();
      for (std::size_t i = 0; i < read_.size(); ++i) {
        Transfer transfer = read_[i];
        chunks_.clear();
        for (const ChunkId chunk : transfer.chunks) {
          chunks_.emplace_back(chunk.value() / block_ * stride_ + chunk.value() % block_);
        }
        transfer.chunks = chunks_;
        batch.append(transfer);
      }
      return ok();
    }

   private:
    std::uint32_t block_;
    std::uint32_t stride_;
    std::unique_ptr<TransferCursor> round_;
    TransferBatch read_;
    std::vector<ChunkId> chunks_;
  };

  const Timetable& timetable_;
};

}  // namespace

std::optional<Round> first_round(const Collective& collective,
                                 const Timetable& timetable,
                                 Bytes bytes) {
  const CollectiveTraits& kind = traits(collective.chunk_kind());
  const std::uint64_t block = std::uint64_t{timetable.rounds} * timetable.stride;
  if (kind.before == Holder::kListed ||
      static_cast<std::uint64_t>(collective.chunk_argument()) % block != 0) {
    return std::nullopt;
  }
  const std::int64_t chunks = collective.num_chunks() / timetable.rounds;
  const std::int64_t buffers =
      kind.chunks_per == ChunksPer::kPair ? collective.num_participants() : 1;
  if (bytes.count > kMaxSizeBytes / chunks) {
    return std::nullopt;
  }
  Result<Collective> once =
      Collective::make(collective.chunk_kind(),
                       {chunks / buffers * bytes.count},
                       collective.chunk_argument() / timetable.rounds,
                       {collective.participants().begin(), collective.participants().end()},
                       kind.rooted() ? std::optional(collective.root()) : std::nullopt);
  if (!once) {
    return std::nullopt;
  }
  const std::uint64_t transfers = timetable.entries.size();
  return Round{.collective = *std::move(once),
               .schedule = make_schedule(
                   std::make_shared<RoundSource>(timetable),
                   {.transfers = transfers, .moves = transfers, .collective_time = {}, .hash = 0})};
}

std::optional<Ticks> check_period(const Topology& topology,
                                  const Collective& collective,
                                  LinkModel model,
                                  const Timetable& timetable,
                                  Violations& violations) {
  return PeriodCheck(topology, collective, model, timetable, violations).run();
}

}  // namespace tacos
