// SPDX-License-Identifier: MIT
// Expanded a period of time at a time: in period w the entry with lap l makes its transfer of round
// w - l, if there is one. Entries are in order of their places, so their transfers come in order of
// start, and those that start together in order of their first link; those that share a transfer
// are neighbours. O(1) for each chunk moved; memory for one batch and eight bytes an entry.
#include "schedule/periodic/timetable.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/csr.h"
#include "base/numbers/hash.h"
#include "base/numbers/wide.h"
#include "schedule/blocks/block.h"
#include "schedule/patterns/pattern_columns.h"

namespace tacos {
namespace {

// Far more than there can be; so that a few bytes of a damaged file do not ask for much memory.
constexpr std::size_t kMostFurtherLinks = 63;

/// Entries by their laps, those of equal laps in the order that they have.
std::vector<std::uint32_t> by_lap(const std::vector<TimetableEntry>& entries) {
  std::uint32_t last = 0;
  for (const TimetableEntry& entry : entries) {
    last = std::max(last, entry.lap);
  }
  if (last <= entries.size()) {
    const Csr<std::uint32_t> laps(std::size_t{last} + 1, [&](const auto& add) {
      for (std::uint32_t i = 0; i < entries.size(); ++i) {
        add(entries[i].lap, i);
      }
    });
    return {laps.all().begin(), laps.all().end()};
  }
  std::vector<std::uint32_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return entries[a].lap < entries[b].lap;
  });
  return order;
}

class TimetableCursor final : public TransferCursor {
 public:
  TimetableCursor(const Timetable& timetable, std::uint32_t rounds)
      : timetable_(timetable),
        entries_(timetable.entries),
        rounds_(rounds),
        by_lap_(by_lap(timetable.entries)) {
    if (!timetable.further_links.empty()) {
      std::uint32_t next = 0;
      for (const TimetableEntry& entry : entries_) {
        first_further_.push_back(next);
        next += entry.num_further;
      }
    }
  }

  [[nodiscard]] Status next(TransferBatch& batch) override {
    batch.clear();
    while (batch.size() < kBlockTransfers && (at_ < active_.size() || begin_period())) {
      append_next(batch);
    }
    return ok();
  }

 private:
  /// Goes to the next period in which there are transfers, if there is one.
  bool begin_period() {
    at_ = 0;
    period_ = active_.empty() ? period_ : period_ + 1;
    update_active();
    if (active_.empty() && begun_ < by_lap_.size()) {
      period_ = entries_[by_lap_[begun_]].lap;
      update_active();
    }
    return !active_.empty();
  }

  /// Entries whose first round is in this period join in, and those whose last is over leave.
  void update_active() {
    std::size_t begun = begun_;
    while (begun < by_lap_.size() && entries_[by_lap_[begun]].lap == period_) {
      ++begun;
    }
    const auto is_over = [this](std::uint32_t entry) {
      return period_ - entries_[entry].lap >= rounds_;
    };
    bool any_over = false;
    for (; ended_ < begun_ && is_over(by_lap_[ended_]); ++ended_) {
      any_over = true;
    }
    if (any_over) {
      std::erase_if(active_, is_over);
    }
    if (begun > begun_) {
      const auto joined = std::span(by_lap_).subspan(begun_, begun - begun_);
      const auto middle = active_.insert(active_.end(), joined.begin(), joined.end());
      std::inplace_merge(active_.begin(), middle, active_.end());
      begun_ = begun;
    }
  }

  [[nodiscard]] ChunkId chunk_of(const TimetableEntry& entry) const {
    return ChunkId(entry.chunk +
                   static_cast<std::uint32_t>(period_ - entry.lap) * timetable_.stride);
  }

  /// The next entry, and those that share its transfer in this period.
  void append_next(TransferBatch& batch) {
    const std::uint32_t index = active_[at_++];
    const TimetableEntry& entry = entries_[index];
    chunks_.assign(1, chunk_of(entry));
    for (; at_ < active_.size() && shares(entry, entries_[active_[at_]]); ++at_) {
      chunks_.push_back(chunk_of(entries_[active_[at_]]));
    }
    route_[0] = LinkId(entry.link);
    for (std::size_t i = 0; i < entry.num_further; ++i) {
      route_[i + 1] = LinkId(timetable_.further_links[first_further_[index] + i]);
    }
    batch.append(
        {.start = Ticks{static_cast<std::int64_t>(period_) * timetable_.period.ps} + entry.place,
         .op = entry.op,
         .links = std::span(route_).first(std::size_t{1} + entry.num_further),
         .chunks = chunks_});
  }

  const Timetable& timetable_;
  const std::vector<TimetableEntry>& entries_;
  std::uint32_t rounds_;
  std::vector<std::uint32_t> by_lap_;
  /// Of by_lap_, how many have begun and how many of those have ended.
  std::size_t begun_ = 0;
  std::size_t ended_ = 0;
  /// The period that is being expanded, the entries that have a round in it, the next of those.
  std::uint64_t period_ = 0;
  std::vector<std::uint32_t> active_;
  std::size_t at_ = 0;
  /// By entry; empty when nobody has further links.
  std::vector<std::uint32_t> first_further_;
  std::array<LinkId, 1 + kMostFurtherLinks> route_;
  std::vector<ChunkId> chunks_;
};

class PeriodicSource final : public TransferSource {
 public:
  explicit PeriodicSource(Timetable timetable) : timetable_(std::move(timetable)) {}

  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override {
    return std::make_unique<TimetableCursor>(timetable_, timetable_.rounds);
  }
  [[nodiscard]] std::size_t memory_bytes() const override {
    return timetable_.entries.capacity() * sizeof(TimetableEntry) +
           timetable_.further_links.capacity() * sizeof(std::uint32_t);
  }
  [[nodiscard]] ScheduleForm form() const override { return &timetable_; }

 private:
  Timetable timetable_;
};

void decode_rounds(PatternReader& reader, const PatternLimits& limits, Timetable& timetable) {
  const Numbers& numbers = reader.read(3, static_cast<std::uint64_t>(kMaxTime.ps));
  const UInt128 block = UInt128{numbers[1]} * numbers[2];
  reader.require(numbers[0] > 0 && block > 0 && block <= limits.chunks &&
                 limits.chunks % static_cast<std::uint64_t>(block) == 0);
  if (reader.good()) {
    timetable.period = {static_cast<std::int64_t>(numbers[0])};
    timetable.rounds = static_cast<std::uint32_t>(numbers[1]);
    timetable.stride = static_cast<std::uint32_t>(numbers[2]);
  }
}

/// Places as runs: how long after the one before, and how many entries are there.
void decode_places(PatternReader& reader, const PatternLimits& limits, Timetable& timetable) {
  // Of one chunk a link carries a share and the sum; where there are several, their column takes
  // bytes.
  const std::size_t most = std::max(reader.bytes(), 2 * std::size_t{limits.links});
  const Numbers deltas = reader.read_up_to(most, static_cast<std::uint64_t>(kMaxTime.ps));
  const Numbers& lengths = reader.read(deltas.size(), most);
  std::vector<TimetableEntry>& entries = timetable.entries;
  TimetableEntry entry;
  for (std::size_t run = 0; run < deltas.size() && reader.good(); ++run) {
    entry.place += Ticks{static_cast<std::int64_t>(deltas[run])};
    reader.require(entry.place < timetable.period && lengths[run] > 0 &&
                   (run == 0 || deltas[run] > 0) && lengths[run] <= most - entries.size());
    if (reader.good()) {
      entries.insert(entries.end(), lengths[run], entry);
    }
  }
}

void decode_links(PatternReader& reader, const PatternLimits& limits, Timetable& timetable) {
  std::vector<TimetableEntry>& entries = timetable.entries;
  const Numbers deltas = reader.read(entries.size(), limits.links);
  std::uint64_t link = 0;
  for (std::size_t i = 0; i < entries.size() && reader.good(); ++i) {
    const bool first = i == 0 || entries[i - 1].place != entries[i].place;
    link = (first ? 0 : link) + deltas[i];
    reader.require(link < limits.links);
    entries[i].link = static_cast<std::uint32_t>(link);
  }
  std::size_t further = 0;
  assign_all(reader.read(entries.size(), kMostFurtherLinks),
             entries,
             [&further](TimetableEntry& entry, std::uint32_t value) {
               entry.num_further = static_cast<std::uint8_t>(value);
               further += value;
             });
  assign_all(reader.read(reader.good() ? further : 0, limits.links - std::uint64_t{1}),
             timetable.further_links,
             [](std::uint32_t& one, std::uint32_t value) { one = value; });
}

void decode_moves(PatternReader& reader, const PatternLimits& limits, Timetable& timetable) {
  std::vector<TimetableEntry>& entries = timetable.entries;
  assign_all(reader.read(entries.size(), kMaxId),
             entries,
             [](TimetableEntry& entry, std::uint32_t value) { entry.lap = value; });
  assign_all(reader.read(entries.size(), 1), entries, [](TimetableEntry& entry, auto value) {
    entry.op = static_cast<Op>(value);
  });
  assign_all(reader.read(entries.size(), limits.chunks - std::uint64_t{1}),
             entries,
             [](TimetableEntry& entry, std::uint32_t value) { entry.chunk = value; });
  const std::uint32_t block = timetable.rounds * timetable.stride;
  for (const TimetableEntry& entry : entries) {
    const Int128 last = Int128{entry.place.ps} +
                        Int128{timetable.period.ps} * (Int128{entry.lap} + timetable.rounds - 1);
    reader.require(entry.chunk % block < timetable.stride && last <= kMaxTime.ps);
  }
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const TimetableEntry& before = entries[i - 1];
    reader.require(!shares(before, entries[i]) ||
                   (before.chunk < entries[i].chunk && before.op == entries[i].op &&
                    before.num_further == 0 && entries[i].num_further == 0));
  }
}

}  // namespace

void encode_timetable(const Timetable& timetable, std::vector<std::byte>& out) {
  const std::vector<TimetableEntry>& entries = timetable.entries;
  encode_column(
      out,
      Numbers{static_cast<std::uint64_t>(timetable.period.ps), timetable.rounds, timetable.stride});
  Numbers deltas;
  Numbers lengths;
  Numbers links;
  links.reserve(entries.size());
  const TimetableEntry* before = nullptr;
  for (const TimetableEntry& entry : entries) {
    const bool first = before == nullptr || before->place != entry.place;
    if (first) {
      deltas.push_back(
          static_cast<std::uint64_t>((entry.place - (before ? before->place : Ticks{})).ps));
      lengths.push_back(0);
    }
    ++lengths.back();
    links.push_back(first ? entry.link : std::uint64_t{entry.link} - before->link);
    before = &entry;
  }
  encode_column(out, deltas);
  encode_column(out, lengths);
  encode_column(out, links);
  encode_all(
      entries, [](const TimetableEntry& entry) { return entry.num_further; }, out);
  encode_all(
      timetable.further_links, [](std::uint32_t link) { return link; }, out);
  encode_all(
      entries, [](const TimetableEntry& entry) { return entry.lap; }, out);
  encode_all(
      entries, [](const TimetableEntry& entry) { return entry.op; }, out);
  encode_all(
      entries, [](const TimetableEntry& entry) { return entry.chunk; }, out);
}

Result<Timetable> decode_timetable(std::span<const std::byte> payload,
                                   const PatternLimits& limits) {
  PatternReader reader(payload);
  Timetable timetable;
  decode_rounds(reader, limits, timetable);
  decode_places(reader, limits, timetable);
  decode_links(reader, limits, timetable);
  decode_moves(reader, limits, timetable);
  if (!reader.good() || !reader.done()) {
    return input_error("has a damaged timetable");
  }
  return timetable;
}

std::uint64_t count_transfers(const Timetable& timetable) {
  const std::vector<TimetableEntry>& entries = timetable.entries;
  std::uint64_t transfers = 0;
  std::vector<std::uint32_t> laps;
  for (std::size_t i = 0; i < entries.size();) {
    const TimetableEntry& first = entries[i];
    transfers += timetable.rounds;
    if (++i == entries.size() || !shares(first, entries[i])) {
      continue;
    }
    // One for every period in which at least one of them has a round.
    laps.assign(1, first.lap);
    for (; i < entries.size() && shares(first, entries[i]); ++i) {
      laps.push_back(entries[i].lap);
    }
    std::sort(laps.begin(), laps.end());
    for (std::size_t n = 1; n < laps.size(); ++n) {
      transfers += std::min(timetable.rounds, laps[n] - laps[n - 1]);
    }
  }
  return transfers;
}

std::uint64_t timetable_hash(const Timetable& timetable) {
  std::vector<std::byte> payload;
  encode_timetable(timetable, payload);
  StreamHash hash;
  hash.add(payload);
  return hash.value();
}

std::unique_ptr<TransferCursor> first_round_cursor(const Timetable& timetable) {
  return std::make_unique<TimetableCursor>(timetable, 1);
}

std::shared_ptr<const TransferSource> make_periodic_source(Timetable timetable) {
  return std::make_shared<PeriodicSource>(std::move(timetable));
}

Schedule make_periodic_schedule(Timetable timetable, Ticks collective_time) {
  const Schedule::Totals totals{.transfers = count_transfers(timetable),
                                .moves = timetable.entries.size() * std::uint64_t{timetable.rounds},
                                .collective_time = collective_time,
                                .hash = timetable_hash(timetable)};
  return make_schedule(make_periodic_source(std::move(timetable)), totals);
}

}  // namespace tacos
