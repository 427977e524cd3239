// SPDX-License-Identifier: MIT
#include "synthesis/matching/ports/sources.h"

#include <algorithm>

#include "base/numbers/rng.h"

namespace tacos::matching {
namespace {

constexpr std::uint32_t kNoParent = ~std::uint32_t{0};

}  // namespace

void Sources::clear() {
  list_.clear();
  links_.clear();
}

void Sources::find(std::uint32_t npu,
                   std::uint32_t link,
                   std::int64_t now,
                   std::span<const std::int64_t> free) {
  const PortLink& port = network_.links()[link];
  if (port.src < num_npus_) {
    add(port.src, std::span(&link, 1), now, free);
    return;
  }
  search_.assign(1, {link, kNoParent});
  ++mark_;
  seen_[npu] = mark_;
  seen_[port.src] = mark_;
  // Equal ways take turns.
  const auto turn =
      static_cast<std::uint32_t>(mix64(seed_ + npu, static_cast<std::uint64_t>(now)) >> 33U);
  for (std::size_t at = 0; at < search_.size(); ++at) {
    const auto into = network_.in_links(network_.links()[search_[at].link].src);
    for (std::uint32_t i = 0; i < into.size(); ++i) {
      const std::uint32_t next = into[(turn + i) % into.size()];
      const std::uint32_t src = network_.links()[next].src;
      if (seen_[src] == mark_ || free[next] > now + network_.max_route_latency()) {
        continue;
      }
      if (src >= num_npus_) {
        seen_[src] = mark_;
        search_.push_back({next, static_cast<std::uint32_t>(at)});
        continue;
      }
      path_.assign(1, next);
      for (auto step = static_cast<std::uint32_t>(at); step != kNoParent;
           step = search_[step].parent) {
        path_.push_back(search_[step].link);
      }
      if (add(src, path_, now, free)) {
        seen_[src] = mark_;
      }
    }
  }
}

/// Whether all links of the route are free when the head of a message sent now reaches them.
bool Sources::add(std::uint32_t npu,
                  std::span<const std::uint32_t> route,
                  std::int64_t now,
                  std::span<const std::int64_t> free) {
  Source source{.npu = npu,
                .level = 0,
                .first_link = static_cast<std::uint32_t>(links_.size()),
                .num_links = static_cast<std::uint32_t>(route.size())};
  std::int64_t head = now;
  for (const std::uint32_t link : route) {
    if (free[link] > head) {
      return false;
    }
    head += network_.links()[link].latency;
    source.level = std::max(source.level, levels_.level(link));
  }
  links_.insert(links_.end(), route.begin(), route.end());
  list_.push_back(source);
  return true;
}

}  // namespace tacos::matching
