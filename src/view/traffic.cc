// SPDX-License-Identifier: MIT
// Cost: O(1) for each transfer that is read and each of its links, O(log courses) where it is kept.
#include "view/traffic.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "base/numbers/mixed_radix.h"
#include "schedule/patterns/pattern.h"
#include "schedule/read_ahead.h"
#include "schedule/source.h"
#include "view/recorder.h"
#include "view/usage.h"

namespace tacos::viewing {
namespace {

/// Of the strip, which is a line as wide as a screen.
constexpr std::size_t kStripWindows = 960;
/// Of sums: bytes of all links together, and windows of each.
constexpr std::size_t kMostCells = std::size_t{1} << 22U;
constexpr std::size_t kMostWindows = 256;

/// Some chunks from all over the buffer, with about so many moves in all.
std::vector<ChunkId> sample(const Bundle& bundle, std::uint64_t most_moves) {
  const std::uint64_t chunks = bundle.collective.num_chunks();
  const std::uint64_t moves = bundle.schedule.totals().moves / std::max<std::uint64_t>(chunks, 1);
  // One may have more than its share, but not so many that a page could not hold it.
  constexpr std::uint64_t kPatience = 2;
  if (chunks == 0 || moves > kPatience * most_moves) {
    return {};
  }
  const std::uint64_t count =
      std::clamp<std::uint64_t>(most_moves / std::max<std::uint64_t>(moves, 1), 1, chunks);
  std::vector<ChunkId> sampled;
  sampled.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    sampled.emplace_back(static_cast<std::uint32_t>(i * chunks / count));
  }
  return sampled;
}

double mean_utilization(const Bundle& bundle, std::span<const exporting::LinkUse> uses) {
  double sum = 0;
  for (const exporting::LinkUse& use : uses) {
    sum += exporting::utilization(bundle, use);
  }
  return sum / std::max<double>(bundle.topology.num_working_links(), 1);
}

/// Reads all transfers.
class Reader {
 public:
  Reader(const Bundle& bundle, const ViewOptions& options)
      : bundle_(bundle),
        recorder_(bundle, bundle.topology),
        strip_(bundle.schedule.collective_time(), kStripWindows),
        uses_(bundle.topology.num_links()) {
    if (bundle.schedule.totals().moves <= options.most_moves) {
      return;
    }
    held_ = sample(bundle, options.most_moves / 2);
    is_held_.resize(bundle.collective.num_chunks(), false);
    for (const ChunkId chunk : *held_) {
      is_held_[chunk.index()] = true;
    }
    const std::size_t links = std::max<std::size_t>(bundle.topology.num_links(), 1);
    coarse_.emplace(bundle.schedule.collective_time(),
                    std::clamp<std::size_t>(kMostCells / links, 1, kMostWindows));
    cells_.emplace(*coarse_, bundle.topology.num_links());
  }

  void add(const Transfer& transfer) {
    const Bytes bytes = bundle_.collective.chunks().bytes(transfer.chunks);
    exporting::each_passage(bundle_, transfer, [&](const exporting::Passage& passage) {
      exporting::LinkUse& use = uses_[passage.link.index()];
      ++use.transfers;
      use.bytes += static_cast<std::uint64_t>(bytes.count);
      use.busy += passage.busy;
      strip_.add(passage.start, passage.busy);
      if (cells_) {
        cells_->add(passage.link, passage.start, passage.busy);
      }
    });
    // With all that it carries, so that its bytes are right.
    if (!held_ || std::any_of(transfer.chunks.begin(), transfer.chunks.end(), [&](ChunkId chunk) {
          return is_held_[chunk.index()];
        })) {
      recorder_.add(transfer);
    }
  }

  Traffic finish() && {
    Traffic traffic;
    traffic.detail = held_ ? Detail::kSums : Detail::kWhole;
    traffic.members = recorder_.members();
    traffic.members.emplace_back("strip", column(strip_.means()));
    if (cells_) {
      traffic.windows = coarse_->count();
      Json cells{{"windows", traffic.windows}, {"busy", column(cells_->shares())}};
      traffic.members.emplace_back("cells", std::move(cells));
    }
    traffic.utilization = mean_utilization(bundle_, uses_);
    traffic.uses = std::move(uses_);
    traffic.held = std::move(held_);
    return traffic;
  }

 private:
  const Bundle& bundle_;
  Recorder recorder_;
  Windows strip_;
  std::vector<exporting::LinkUse> uses_;
  std::optional<std::vector<ChunkId>> held_;
  std::vector<bool> is_held_;
  std::optional<Windows> coarse_;
  std::optional<Cells> cells_;
};

/// Reads the entries of a pattern, which are what the chunks of NPU 0 do. A link out of each NPU
/// carries as many transfers as it has entries, one for each owner; chunks are equal to within a
/// byte, and count as if they were NPU 0's.
class PatternReader {
 public:
  PatternReader(const Bundle& bundle, const Pattern& pattern, const ViewOptions& options)
      : bundle_(bundle),
        pattern_(pattern),
        group_(pattern.lengths),
        piece_(around_npu_0(bundle.topology, options.most_pattern_npus)),
        recorder_(bundle, piece_.network),
        strip_(bundle.schedule.collective_time(), kStripWindows),
        by_kind_(std::size_t{pattern.links_per_npu} + pattern.ports.size()) {
    for (std::uint32_t i = 0; i < piece_.links.size(); ++i) {
      shown_.emplace(piece_.links[i].value(), LinkId(i));
    }
    for (const NodeId npu : std::span(piece_.nodes).first(piece_.network.num_npus())) {
      for (std::size_t port = 0; port < pattern.ports.size(); ++port) {
        const LinkId link = port_link(pattern.ports[port], group_, npu.value());
        kind_of_port_.emplace(link.value(), pattern.links_per_npu + port);
      }
    }
    const std::uint64_t around =
        std::max<std::uint64_t>(2 * std::uint64_t{piece_.network.num_npus()}, 1);
    held_ = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(options.most_moves / around, 1, pattern.chunks_per_npu));
  }

  void add(const PatternEntry& entry) {
    const PatternMove& move = pattern_.moves[entry.move];
    const PatternRoute route = route_of(pattern_, group_, entry.from, move);
    const ChunkId chunk(entry.chunk);
    const Transfer transfer{
        .start = entry.start, .op = entry.op, .links = route.links(), .chunks = {&chunk, 1}};
    const Bytes bytes = bundle_.collective.chunks().bytes(chunk);
    std::size_t kind = move.slot;
    exporting::each_passage(bundle_, transfer, [&](const exporting::Passage& passage) {
      exporting::LinkUse& use = by_kind_[kind];
      ++use.transfers;
      use.bytes += static_cast<std::uint64_t>(bytes.count);
      use.busy += passage.busy;
      strip_.add(passage.start, passage.busy, group_.size());
      kind = std::size_t{pattern_.links_per_npu} + move.port;
    });
    if (entry.chunk < held_) {
      keep(transfer);
    }
  }

  Traffic finish() && {
    Traffic traffic;
    traffic.detail = Detail::kPattern;
    traffic.members = recorder_.members();
    traffic.members.emplace_back("strip", column(strip_.means()));
    double busy = 0;
    for (const exporting::LinkUse& use : by_kind_) {
      busy += exporting::utilization(bundle_, use) * group_.size();
    }
    traffic.utilization = busy / std::max<double>(bundle_.topology.num_working_links(), 1);
    traffic.uses.resize(piece_.links.size());
    for (std::size_t i = 0; i < piece_.links.size(); ++i) {
      const std::uint32_t link = piece_.links[i].value();
      const bool own = link < std::uint64_t{group_.size()} * pattern_.links_per_npu;
      const auto port = kind_of_port_.find(link);
      if (own) {
        traffic.uses[i] = by_kind_[link % pattern_.links_per_npu];
      } else if (port != kind_of_port_.end()) {
        traffic.uses[i] = by_kind_[port->second];
      }
    }
    traffic.held.emplace();
    for (std::uint32_t chunk = 0; chunk < held_; ++chunk) {
      traffic.held->emplace_back(chunk);
    }
    traffic.piece = std::move(piece_);
    return traffic;
  }

 private:
  /// Where all of its links are shown.
  void keep(const Transfer& transfer) {
    std::array<LinkId, 2> links;
    for (std::size_t i = 0; i < transfer.links.size(); ++i) {
      const auto found = shown_.find(transfer.links[i].value());
      if (found == shown_.end()) {
        return;
      }
      links[i] = found->second;
    }
    Transfer here = transfer;
    here.links = std::span(links).first(transfer.links.size());
    recorder_.add(here);
  }

  const Bundle& bundle_;
  const Pattern& pattern_;
  MixedRadix group_;
  Piece piece_;
  Recorder recorder_;
  Windows strip_;
  /// Links out of NPUs by their slot, then those out of switches by their port.
  std::vector<exporting::LinkUse> by_kind_;
  std::unordered_map<std::uint32_t, LinkId> shown_;
  std::unordered_map<std::uint32_t, std::size_t> kind_of_port_;
  /// How many of NPU 0's chunks.
  std::uint32_t held_ = 1;
};

/// The pattern of a schedule that is too long to be read.
const Pattern* large_pattern(const Bundle& bundle, const ViewOptions& options) {
  if (bundle.schedule.totals().moves <= options.most_read_moves) {
    return nullptr;
  }
  const ScheduleForm form = source_of(bundle.schedule).form();
  const Pattern* const* pattern = std::get_if<const Pattern*>(&form);
  return pattern == nullptr ? nullptr : *pattern;
}

}  // namespace

std::string_view to_string(Detail detail) {
  switch (detail) {
    case Detail::kWhole:
      return "whole";
    case Detail::kSums:
      return "sums";
    case Detail::kPattern:
      return "pattern";
  }
  return {};
}

Result<Traffic> traffic_of(const Bundle& bundle,
                           const ViewOptions& options,
                           const std::function<void(double)>& progress) {
  if (const Pattern* pattern = large_pattern(bundle, options); pattern != nullptr) {
    PatternReader reader(bundle, *pattern, options);
    for (const PatternEntry& entry : pattern->entries) {
      reader.add(entry);
    }
    return std::move(reader).finish();
  }
  Reader reader(bundle, options);
  const auto all = static_cast<double>(std::max<std::uint64_t>(bundle.schedule.num_transfers(), 1));
  std::uint64_t done = 0;
  const Status read =
      read_batches(bundle.schedule, options.threads, [&](const TransferBatch& batch) {
        for (std::size_t i = 0; i < batch.size(); ++i) {
          reader.add(batch[i]);
        }
        done += batch.size();
        if (progress) {
          progress(static_cast<double>(done) / all);
        }
        return ok();
      });
  return read ? Result<Traffic>(std::move(reader).finish()) : read.error();
}

}  // namespace tacos::viewing
