// SPDX-License-Identifier: MIT
// Entries are expanded a start at a time. Going through the translations in order, each link is
// looked up once: where a generator takes the link of an earlier translation. The transfers that
// start together are then brought into the order of their first links by counting. O(1) for each
// transfer plus O(links) for each start; memory for the transfers of one start.
#include "schedule/patterns/orbits.h"

#include <algorithm>
#include <utility>

#include "base/numbers/hash.h"
#include "schedule/blocks/block.h"
#include "schedule/patterns/pattern_columns.h"
#include "schedule/source.h"

namespace tacos {
namespace {

// Far more than there can be; so that a few bytes of a damaged file do not ask for much memory.
constexpr std::size_t kMostGenerators = 64;
constexpr std::size_t kMostLinksOnRoute = 64;

class OrbitCursor final : public TransferCursor {
 public:
  explicit OrbitCursor(const OrbitPattern& pattern)
      : pattern_(pattern), first_at_(num_links() + 1, 0) {}

  [[nodiscard]] Status next(TransferBatch& batch) override {
    batch.clear();
    while (batch.size() < kBlockTransfers) {
      if (at_ == order_.size() && !expand_run()) {
        break;
      }
      append(order_[at_++], batch);
    }
    return ok();
  }

 private:
  [[nodiscard]] std::size_t num_links() const {
    return pattern_.generators.empty() ? 0 : pattern_.generators.front().size();
  }

  /// A transfer among those that start together.
  struct Place {
    std::uint32_t entry = 0;
    std::uint32_t translation = 0;
  };

  /// The entries from first_entry_ on that start together, translated; whether there are any.
  bool expand_run() {
    first_entry_ += run_links_.size();
    first_link_ += links_in_run_;
    run_links_.clear();
    order_.clear();
    links_in_run_ = 0;
    at_ = 0;
    if (first_entry_ == pattern_.entries.size()) {
      return false;
    }
    const Ticks start = pattern_.entries[first_entry_].start;
    for (std::size_t i = first_entry_;
         i < pattern_.entries.size() && pattern_.entries[i].start == start;
         ++i) {
      run_links_.push_back(links_in_run_);
      links_in_run_ += pattern_.entries[i].num_links;
    }
    translate();
    sort();
    return true;
  }

  /// Links of the run, translation by translation.
  void translate() {
    const std::vector<Translation>& translations = pattern_.translations;
    moved_.resize(std::size_t{links_in_run_} * translations.size());
    std::copy_n(pattern_.links.begin() + static_cast<std::ptrdiff_t>(first_link_),
                links_in_run_,
                moved_.begin());
    for (std::size_t t = 1; t < translations.size(); ++t) {
      const Permutation& generator = pattern_.generators[translations[t].generator];
      const std::uint32_t* const from =
          &moved_[std::size_t{translations[t].before} * links_in_run_];
      std::uint32_t* const to = &moved_[t * links_in_run_];
      for (std::uint32_t i = 0; i < links_in_run_; ++i) {
        to[i] = generator[from[i]];
      }
    }
  }

  [[nodiscard]] std::uint32_t* links_of(Place place) {
    return &moved_[std::size_t{place.translation} * links_in_run_ + run_links_[place.entry]];
  }

  /// By first link; in the order of translations and entries where that is the same.
  void sort() {
    const auto entries = static_cast<std::uint32_t>(run_links_.size());
    const auto translations = static_cast<std::uint32_t>(pattern_.translations.size());
    order_.resize(std::size_t{entries} * translations);
    std::fill(first_at_.begin(), first_at_.end(), 0);
    const auto for_all = [&](const auto& use) {
      for (std::uint32_t t = 0; t < translations; ++t) {
        for (std::uint32_t e = 0; e < entries; ++e) {
          use(Place{.entry = e, .translation = t});
        }
      }
    };
    for_all([&](Place place) { ++first_at_[*links_of(place) + 1]; });
    for (std::size_t link = 1; link < first_at_.size(); ++link) {
      first_at_[link] += first_at_[link - 1];
    }
    for_all([&](Place place) { order_[first_at_[*links_of(place)]++] = place; });
  }

  void append(Place place, TransferBatch& batch) {
    const OrbitEntry& entry = pattern_.entries[first_entry_ + place.entry];
    const std::uint32_t* const moved = links_of(place);
    route_.clear();
    for (std::uint32_t i = 0; i < entry.num_links; ++i) {
      route_.emplace_back(moved[i]);
    }
    const ChunkId chunk(pattern_.translations[place.translation].owner * pattern_.chunks_per_npu +
                        entry.chunk);
    batch.append({.start = entry.start, .op = entry.op, .links = route_, .chunks = {&chunk, 1}});
  }

  const OrbitPattern& pattern_;
  /// Of the run.
  std::size_t first_entry_ = 0;
  std::size_t first_link_ = 0;
  std::uint32_t links_in_run_ = 0;
  /// By entry of the run: its first link among those of the run.
  std::vector<std::uint32_t> run_links_;
  /// By translation and link of the run.
  std::vector<std::uint32_t> moved_;
  std::vector<Place> order_;
  std::size_t at_ = 0;
  /// By link: the place in order_ of the next transfer that begins with it.
  std::vector<std::uint32_t> first_at_;
  std::vector<LinkId> route_;
};

class OrbitSource final : public TransferSource {
 public:
  explicit OrbitSource(OrbitPattern pattern) : pattern_(std::move(pattern)) {}

  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override {
    return std::make_unique<OrbitCursor>(pattern_);
  }
  [[nodiscard]] std::size_t memory_bytes() const override {
    std::size_t bytes = pattern_.entries.capacity() * sizeof(OrbitEntry) +
                        pattern_.translations.capacity() * sizeof(Translation) +
                        pattern_.links.capacity() * sizeof(std::uint32_t);
    for (const Permutation& generator : pattern_.generators) {
      bytes += generator.capacity() * sizeof(std::uint32_t);
    }
    return bytes;
  }
  [[nodiscard]] ScheduleForm form() const override { return &pattern_; }

 private:
  OrbitPattern pattern_;
};

void decode_group(PatternReader& reader, const PatternLimits& limits, OrbitPattern& pattern) {
  const Numbers& counts = reader.read(2, kMaxId);
  pattern.chunks_per_npu = static_cast<std::uint32_t>(counts[0]);
  reader.require(std::uint64_t{limits.npus} * counts[0] == limits.chunks && limits.npus > 0 &&
                 counts[1] <= kMostGenerators && (counts[1] > 0 || limits.npus == 1));
  pattern.generators.resize(reader.good() ? counts[1] : 0);
  const std::size_t links = limits.links;
  const Numbers& images =
      reader.read(pattern.generators.size() * links, limits.links - std::uint64_t{1});
  for (std::size_t g = 0; g < pattern.generators.size(); ++g) {
    const auto first = images.begin() + static_cast<std::ptrdiff_t>(g * links);
    std::transform(first,
                   first + static_cast<std::ptrdiff_t>(links),
                   std::back_inserter(pattern.generators[g]),
                   [](std::uint64_t image) { return static_cast<std::uint32_t>(image); });
  }
}

void decode_translations(PatternReader& reader,
                         const PatternLimits& limits,
                         OrbitPattern& pattern) {
  std::vector<Translation>& translations = pattern.translations;
  assign_all(reader.read(limits.npus, limits.npus - std::uint64_t{1}),
             translations,
             [](Translation& one, std::uint32_t value) { one.owner = value; });
  assign_all(reader.read(limits.npus, limits.npus - std::uint64_t{1}),
             translations,
             [](Translation& one, std::uint32_t value) { one.before = value; });
  assign_all(reader.read(limits.npus, kMostGenerators),
             translations,
             [](Translation& one, std::uint32_t value) { one.generator = value; });
  for (std::size_t t = 1; t < translations.size(); ++t) {
    reader.require(translations[t].before < t &&
                   translations[t].generator < pattern.generators.size());
  }
}

void decode_entries(PatternReader& reader, const PatternLimits& limits, OrbitPattern& pattern) {
  // All-Reduce has two entries for each chunk and NPU.
  const std::size_t most = 2 * std::size_t{limits.chunks};
  std::vector<OrbitEntry>& entries = pattern.entries;
  decode_starts(reader, most, entries);
  const std::size_t count = entries.size();
  assign_all(reader.read(count, 1), entries, [](OrbitEntry& entry, std::uint32_t value) {
    entry.op = static_cast<Op>(value);
  });
  assign_all(reader.read(count, pattern.chunks_per_npu - std::uint64_t{1}),
             entries,
             [](OrbitEntry& entry, std::uint32_t value) { entry.chunk = value; });
  assign_all(reader.read(count, kMostLinksOnRoute),
             entries,
             [](OrbitEntry& entry, std::uint32_t value) { entry.num_links = value; });
  std::size_t links = 0;
  for (const OrbitEntry& entry : entries) {
    reader.require(entry.num_links > 0);
    links += entry.num_links;
  }
  assign_all(reader.read(reader.good() ? links : 0, limits.links - std::uint64_t{1}),
             pattern.links,
             [](std::uint32_t& link, std::uint32_t value) { link = value; });
}

}  // namespace

void encode_orbits(const OrbitPattern& pattern, std::vector<std::byte>& out) {
  encode_column(out, Numbers{pattern.chunks_per_npu, pattern.generators.size()});
  Numbers images;
  for (const Permutation& generator : pattern.generators) {
    images.insert(images.end(), generator.begin(), generator.end());
  }
  encode_column(out, images);
  const std::vector<Translation>& translations = pattern.translations;
  encode_all(
      translations, [](const Translation& one) { return one.owner; }, out);
  encode_all(
      translations, [](const Translation& one) { return one.before; }, out);
  encode_all(
      translations, [](const Translation& one) { return one.generator; }, out);
  encode_starts(pattern.entries, out);
  encode_all(
      pattern.entries, [](const OrbitEntry& entry) { return entry.op; }, out);
  encode_all(
      pattern.entries, [](const OrbitEntry& entry) { return entry.chunk; }, out);
  encode_all(
      pattern.entries, [](const OrbitEntry& entry) { return entry.num_links; }, out);
  encode_all(
      pattern.links, [](std::uint32_t link) { return link; }, out);
}

Result<OrbitPattern> decode_orbits(std::span<const std::byte> payload,
                                   const PatternLimits& limits) {
  PatternReader reader(payload);
  OrbitPattern pattern;
  decode_group(reader, limits, pattern);
  decode_translations(reader, limits, pattern);
  decode_entries(reader, limits, pattern);
  if (!reader.good() || !reader.done()) {
    return input_error("has a damaged pattern");
  }
  return pattern;
}

std::uint64_t orbits_hash(const OrbitPattern& pattern) {
  std::vector<std::byte> payload;
  encode_orbits(pattern, payload);
  StreamHash hash;
  hash.add(payload);
  return hash.value();
}

std::shared_ptr<const TransferSource> make_orbit_source(OrbitPattern pattern) {
  return std::make_shared<OrbitSource>(std::move(pattern));
}

Schedule make_orbit_schedule(OrbitPattern pattern, Ticks collective_time) {
  const std::uint64_t transfers =
      pattern.entries.size() * std::uint64_t{pattern.translations.size()};
  const Schedule::Totals totals{.transfers = transfers,
                                .moves = transfers,
                                .collective_time = collective_time,
                                .hash = orbits_hash(pattern)};
  return make_schedule(make_orbit_source(std::move(pattern)), totals);
}

}  // namespace tacos
