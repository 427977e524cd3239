// SPDX-License-Identifier: MIT
// Entries in order of (start, slot) are expanded a start at a time, NPU by NPU: link ids are
// v * links_per_npu + slot, so going through the NPUs, and for each through the entries, gives the
// transfers in order of their first link, as docs/schedule-format.md asks. O(dimensions) for each
// transfer, memory for one batch.
#include "schedule/patterns/pattern.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "base/numbers/hash.h"
#include "schedule/blocks/block.h"
#include "schedule/patterns/pattern_columns.h"
#include "schedule/source.h"

namespace tacos {
namespace {

class PatternCursor final : public TransferCursor {
 public:
  explicit PatternCursor(const Pattern& pattern) : pattern_(pattern), group_(pattern.lengths) {
    begin_run();
  }

  [[nodiscard]] Status next(TransferBatch& batch) override {
    batch.clear();
    while (batch.size() < kBlockTransfers && run_ < pattern_.entries.size()) {
      append(pattern_.entries[run_ + in_run_], batch);
      if (++in_run_ == run_size_) {
        in_run_ = 0;
        if (++npu_ == group_.size()) {
          run_ += run_size_;
          begin_run();
        }
      }
    }
    return ok();
  }

 private:
  /// Entries from run_ that start together.
  void begin_run() {
    npu_ = 0;
    const auto first = pattern_.entries.begin() + static_cast<std::ptrdiff_t>(run_);
    const auto last = std::find_if(first, pattern_.entries.end(), [&](const PatternEntry& entry) {
      return entry.start != first->start;
    });
    run_size_ = static_cast<std::size_t>(last - first);
  }

  void append(const PatternEntry& entry, TransferBatch& batch) const {
    const PatternMove& move = pattern_.moves[entry.move];
    const std::uint32_t owner = group_.subtract(npu_, entry.from);
    const ChunkId chunk(owner * pattern_.chunks_per_npu + entry.chunk);
    const PatternRoute route = route_of(pattern_, group_, npu_, move);
    batch.append(
        {.start = entry.start, .op = entry.op, .links = route.links(), .chunks = {&chunk, 1}});
  }

  const Pattern& pattern_;
  MixedRadix group_;
  std::size_t run_ = 0;
  std::size_t run_size_ = 0;
  std::size_t in_run_ = 0;
  std::uint32_t npu_ = 0;
};

class PatternSource final : public TransferSource {
 public:
  explicit PatternSource(Pattern pattern) : pattern_(std::move(pattern)) {}

  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override {
    return std::make_unique<PatternCursor>(pattern_);
  }
  [[nodiscard]] std::size_t memory_bytes() const override {
    return pattern_.entries.capacity() * sizeof(PatternEntry) +
           pattern_.moves.capacity() * sizeof(PatternMove);
  }
  [[nodiscard]] ScheduleForm form() const override { return &pattern_; }

 private:
  Pattern pattern_;
};

constexpr std::size_t kMaxDimensions = 64;

void decode_group(PatternReader& reader, const PatternLimits& limits, Pattern& pattern) {
  assign_all(reader.read_any(kMaxDimensions, limits.npus),
             pattern.lengths,
             [](std::uint32_t& length, std::uint32_t value) { length = value; });
  std::uint64_t npus = 1;
  for (const std::uint32_t length : pattern.lengths) {
    npus = std::min<std::uint64_t>(npus * length, kMaxId);
  }
  const Numbers& rest = reader.read(2, kMaxId);
  pattern.links_per_npu = static_cast<std::uint32_t>(rest[0]);
  pattern.chunks_per_npu = static_cast<std::uint32_t>(rest[1]);
  reader.require(npus == limits.npus && npus * rest[0] <= limits.links &&
                 npus * rest[1] == limits.chunks);
}

void decode_ports(PatternReader& reader, const PatternLimits& limits, Pattern& pattern) {
  assign_all(reader.read_any(pattern.links_per_npu, limits.links),
             pattern.ports,
             [](PatternPort& port, std::uint32_t value) { port.first = value; });
  const std::size_t dimensions = pattern.lengths.size();
  const Numbers& strides = reader.read(pattern.ports.size() * dimensions, limits.links);
  for (std::size_t p = 0; p < pattern.ports.size(); ++p) {
    PatternPort& port = pattern.ports[p];
    std::uint64_t last = port.first;
    for (std::size_t i = 0; i < dimensions; ++i) {
      const std::uint64_t stride = strides[p * dimensions + i];
      port.strides.push_back(static_cast<std::uint32_t>(stride));
      last = std::min(last + stride * (pattern.lengths[i] - std::uint64_t{1}), kMaxId);
    }
    reader.require(last < limits.links);
  }
}

void decode_moves(PatternReader& reader, const PatternLimits& limits, Pattern& pattern) {
  const std::size_t most =
      std::size_t{pattern.links_per_npu} + pattern.lengths.size() * std::size_t{limits.npus};
  assign_all(reader.read_any(most, limits.npus - std::uint64_t{1}),
             pattern.moves,
             [](PatternMove& move, std::uint32_t value) { move.shift = value; });
  const std::size_t moves = pattern.moves.size();
  reader.require(moves == 0 || pattern.links_per_npu > 0);
  assign_all(reader.read(moves, pattern.links_per_npu - std::uint64_t{1}),
             pattern.moves,
             [](PatternMove& move, std::uint32_t value) { move.slot = value; });
  // 0 is no port.
  assign_all(reader.read(moves, pattern.ports.size()),
             pattern.moves,
             [](PatternMove& move, std::uint32_t value) { move.port = value - 1U; });
}

void decode_entries(PatternReader& reader, const PatternLimits& limits, Pattern& pattern) {
  std::vector<PatternEntry>& entries = pattern.entries;
  // All-Reduce has two entries for each chunk and NPU.
  decode_starts(reader, 2 * std::size_t{limits.chunks}, entries);
  const std::size_t count = entries.size();
  reader.require(count == 0 || !pattern.moves.empty());
  assign_all(reader.read(count, 1), entries, [](PatternEntry& entry, std::uint32_t value) {
    entry.op = static_cast<Op>(value);
  });
  assign_all(reader.read(count, pattern.moves.size() - std::uint64_t{1}),
             entries,
             [](PatternEntry& entry, std::uint32_t value) { entry.move = value; });
  assign_all(reader.read(count, limits.npus - std::uint64_t{1}),
             entries,
             [](PatternEntry& entry, std::uint32_t value) { entry.from = value; });
  assign_all(reader.read(count, pattern.chunks_per_npu - std::uint64_t{1}),
             entries,
             [](PatternEntry& entry, std::uint32_t value) { entry.chunk = value; });
  for (std::size_t i = 1; i < count && reader.good(); ++i) {
    reader.require(entries[i - 1].start < entries[i].start ||
                   pattern.moves[entries[i - 1].move].slot < pattern.moves[entries[i].move].slot);
  }
}

}  // namespace

LinkId port_link(const PatternPort& port, const MixedRadix& group, std::uint32_t npu) {
  std::uint32_t link = port.first;
  for (std::size_t i = 0; i < port.strides.size(); ++i) {
    link += group.digit(npu, i) * port.strides[i];
  }
  return LinkId(link);
}

PatternRoute route_of(const Pattern& pattern,
                      const MixedRadix& group,
                      std::uint32_t npu,
                      const PatternMove& move) {
  PatternRoute route{.all = {LinkId(npu * pattern.links_per_npu + move.slot), LinkId()}};
  if (move.port != PatternMove::kNoPort) {
    route.all[1] = port_link(pattern.ports[move.port], group, group.add(npu, move.shift));
    route.count = 2;
  }
  return route;
}

void encode_pattern(const Pattern& pattern, std::vector<std::byte>& out) {
  encode_column(out, Numbers(pattern.lengths.begin(), pattern.lengths.end()));
  encode_column(out, Numbers{pattern.links_per_npu, pattern.chunks_per_npu});
  encode_all(
      pattern.ports, [](const PatternPort& port) { return port.first; }, out);
  Numbers numbers;
  for (const PatternPort& port : pattern.ports) {
    numbers.insert(numbers.end(), port.strides.begin(), port.strides.end());
  }
  encode_column(out, numbers);
  encode_all(
      pattern.moves, [](const PatternMove& move) { return move.shift; }, out);
  encode_all(
      pattern.moves, [](const PatternMove& move) { return move.slot; }, out);
  encode_all(
      pattern.moves, [](const PatternMove& move) { return move.port + 1U; }, out);
  encode_starts(pattern.entries, out);
  encode_all(
      pattern.entries, [](const PatternEntry& entry) { return entry.op; }, out);
  encode_all(
      pattern.entries, [](const PatternEntry& entry) { return entry.move; }, out);
  encode_all(
      pattern.entries, [](const PatternEntry& entry) { return entry.from; }, out);
  encode_all(
      pattern.entries, [](const PatternEntry& entry) { return entry.chunk; }, out);
}

Result<Pattern> decode_pattern(std::span<const std::byte> payload, const PatternLimits& limits) {
  PatternReader reader(payload);
  Pattern pattern;
  decode_group(reader, limits, pattern);
  decode_ports(reader, limits, pattern);
  decode_moves(reader, limits, pattern);
  decode_entries(reader, limits, pattern);
  if (!reader.good() || !reader.done()) {
    return input_error("has a damaged pattern");
  }
  return pattern;
}

std::uint64_t pattern_hash(const Pattern& pattern) {
  std::vector<std::byte> payload;
  encode_pattern(pattern, payload);
  StreamHash hash;
  hash.add(payload);
  return hash.value();
}

std::shared_ptr<const TransferSource> make_pattern_source(Pattern pattern) {
  return std::make_shared<PatternSource>(std::move(pattern));
}

Schedule make_pattern_schedule(Pattern pattern, Ticks collective_time) {
  const std::uint64_t transfers =
      pattern.entries.size() * std::uint64_t{MixedRadix(pattern.lengths).size()};
  const Schedule::Totals totals{.transfers = transfers,
                                .moves = transfers,
                                .collective_time = collective_time,
                                .hash = pattern_hash(pattern)};
  return make_schedule(make_pattern_source(std::move(pattern)), totals);
}

}  // namespace tacos
