// SPDX-License-Identifier: MIT
// Every byte crosses 2 (1 - 1/N) links instead of log2(N), after twice as many latencies as
// doubling takes (Rabenseifner 2004). Turns use the masks in rotated order, so that all links work
// in every step. O(N^2) chunks named in all, for each turn.
#include "synthesis/trees/exchange/halving.h"

#include <algorithm>
#include <tuple>

#include "schedule/builder.h"

namespace tacos::trees {

std::optional<Halving> Halving::make(const Doubling& doubling) {
  constexpr std::uint32_t kMostNpus = 256;
  if (doubling.fabric().num_nodes() > kMostNpus) {
    return std::nullopt;
  }
  return Halving(doubling);
}

Halving::Halving(const Doubling& doubling)
    : doubling_(&doubling),
      turns_(doubling.fabric().direct() ? doubling.num_steps() : 1),
      pieces_(doubling.fabric().num_nodes()),
      place_(pieces_, 0) {
  std::vector<std::uint32_t> reached{0};
  for (std::uint32_t mask = 0; mask < doubling.num_steps(); ++mask) {
    const std::size_t before = reached.size();
    for (std::size_t i = 0; i < before; ++i) {
      const std::uint32_t npu = reached[i];
      const std::uint32_t other = doubling.fabric().target(doubling.hops_of(mask)[npu]);
      place_[other] = place_[npu] | 1U << mask;
      reached.push_back(other);
    }
  }
}

std::pair<std::uint32_t, std::uint32_t> Halving::mask_of(std::uint32_t turn,
                                                         std::uint32_t step) const {
  const std::uint32_t masks = doubling_->num_steps();
  const std::uint32_t used = step < masks ? step : num_steps() - 1 - step;
  return {(turn + used) % masks, used};
}

bool Halving::sends(std::uint32_t turn,
                    std::uint32_t step,
                    std::uint32_t npu,
                    std::uint32_t piece) const {
  // Pieces that the masks before left to it; halving gives the other side's half of them away,
  // doubling hands its own on.
  const auto [mask, used] = mask_of(turn, step);
  const std::uint32_t differs = piece ^ place_[npu];
  for (std::uint32_t i = 0; i < used; ++i) {
    if ((differs >> mask_of(turn, i).first & 1U) != 0) {
      return false;
    }
  }
  const bool halving = step < doubling_->num_steps();
  return ((differs >> mask & 1U) != 0) == halving;
}

Ticks Halving::duration(const ChunkTable& chunks, std::uint32_t step) const {
  Ticks longest;
  for (std::uint32_t turn = 0; turn < turns_; ++turn) {
    const auto [mask, used] = mask_of(turn, step);
    const Bytes most{chunks.max_bytes().count * (pieces_ >> (used + 1))};
    for (const std::uint32_t hop : doubling_->hops_of(mask)) {
      longest = std::max(longest,
                         route_time(doubling_->topology(), doubling_->fabric().links(hop), most));
    }
  }
  return longest + doubling_->settling();
}

Ticks Halving::time(const ChunkTable& chunks) const {
  Ticks sum;
  for (std::uint32_t step = 0; step < num_steps(); ++step) {
    sum += duration(chunks, step);
  }
  return sum;
}

Schedule Halving::record(const ChunkTable& chunks) const {
  const Fabric& fabric = doubling_->fabric();
  ScheduleBuilder builder(doubling_->topology().num_links());
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> sends_now;
  std::vector<ChunkId> together;
  Ticks start;
  for (std::uint32_t step = 0; step < num_steps(); ++step) {
    sends_now.clear();
    for (std::uint32_t turn = 0; turn < turns_; ++turn) {
      const auto hops = doubling_->hops_of(mask_of(turn, step).first);
      for (std::uint32_t npu = 0; npu < pieces_; ++npu) {
        sends_now.emplace_back(hops[npu], turn, npu);
      }
    }
    std::sort(sends_now.begin(), sends_now.end());
    const Op op = step < doubling_->num_steps() ? Op::kReduce : Op::kCopy;
    for (const auto& [hop, turn, npu] : sends_now) {
      together.clear();
      Bytes bytes;
      for (std::uint32_t piece = 0; piece < pieces_; ++piece) {
        if (sends(turn, step, npu, piece)) {
          together.emplace_back(turn * pieces_ + piece);
          bytes.count += chunks.bytes(together.back()).count;
        }
      }
      const auto links = fabric.links(hop);
      builder.append({.start = start, .op = op, .links = links, .chunks = together},
                     start + route_time(doubling_->topology(), links, bytes));
    }
    start += duration(chunks, step);
  }
  return std::move(builder).build();
}

}  // namespace tacos::trees
