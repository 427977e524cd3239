// SPDX-License-Identifier: MIT
#include "lower/lines.h"

namespace tacos::lowering {

std::uint32_t Lines::add(NodeId src, NodeId dst, std::uint32_t channel) {
  lines_.push_back({.src = src, .dst = dst, .channel = channel, .last = {}});
  return size() - 1;
}

std::uint32_t Lines::first_of(std::span<const LinkId> route) {
  const bool direct = route.size() == 1;
  if (direct && of_link_[route.front().index()] != kNone) {
    return of_link_[route.front().index()];
  }
  const NodeId src = topology_.link(route.front()).src;
  const NodeId dst = topology_.link(route.back()).dst;
  const auto [found, is_new] = of_pair_.try_emplace(key(src, dst), size());
  const std::uint32_t line = is_new ? add(src, dst, 0) : found->second;
  if (direct) {
    of_link_[route.front().index()] = line;
  }
  return line;
}

std::uint32_t Lines::take(std::span<const LinkId> route, Ticks end) {
  std::uint32_t line = first_of(route);
  while (lines_[line].last > end) {
    if (lines_[line].next == kNone) {
      const std::uint32_t made = add(lines_[line].src, lines_[line].dst, lines_[line].channel + 1);
      lines_[line].next = made;
    }
    line = lines_[line].next;
  }
  lines_[line].last = end;
  return line;
}

std::uint32_t Lines::num_channels(NodeId src, NodeId dst) const {
  const auto found = of_pair_.find(key(src, dst));
  std::uint32_t count = 0;
  for (std::uint32_t line = found == of_pair_.end() ? kNone : found->second; line != kNone;
       line = lines_[line].next) {
    ++count;
  }
  return count;
}

}  // namespace tacos::lowering
