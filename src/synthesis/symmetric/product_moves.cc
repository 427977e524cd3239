// SPDX-License-Identifier: MIT
#include "synthesis/symmetric/product_moves.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tacos::symmetric {
namespace {

/// What a dimension lets an NPU add to its coordinate, in the order of the links.
std::vector<std::uint32_t> steps_of(const Dimension& dimension) {
  const std::uint32_t n = dimension.length;
  std::vector<std::uint32_t> steps;
  if (dimension.wiring == Wiring::kRing) {
    if (n > 1) {
      steps.push_back(1);
    }
    if (n > 2) {
      steps.push_back(n - 1);
    }
    return steps;
  }
  for (std::uint32_t step = 1; step < n; ++step) {
    steps.push_back(step);
  }
  return steps;
}

}  // namespace

ProductMoves::ProductMoves(std::span<const Dimension> dimensions)
    : dimensions_(dimensions.begin(), dimensions.end()) {
  for (const Dimension& dimension : dimensions) {
    frame_.lengths.push_back(dimension.length);
  }
  group_ = MixedRadix(frame_.lengths);
  moves_.npus = group_.size();
  for (std::uint32_t axis = 0; axis < dimensions_.size(); ++axis) {
    add_moves(axis);
    add_ways(axis);
  }
  for (std::size_t p = 0; p < frame_.ports.size(); ++p) {
    frame_.ports[p].first = moves_.npus * (frame_.links_per_npu + static_cast<std::uint32_t>(p));
  }
}

void ProductMoves::add_moves(std::uint32_t axis) {
  const bool switched = dimensions_[axis].wiring == Wiring::kSwitch;
  first_move_.push_back(static_cast<std::uint32_t>(frame_.moves.size()));
  for (const std::uint32_t step : steps_of(dimensions_[axis])) {
    frame_.moves.push_back({.shift = step * group_.stride(axis),
                            .slot = frame_.links_per_npu,
                            .port = switched ? static_cast<std::uint32_t>(frame_.ports.size())
                                             : PatternMove::kNoPort});
    frame_.links_per_npu += switched ? 0 : 1;
  }
  if (!switched) {
    return;
  }
  frame_.links_per_npu += 1;
  frame_.ports.emplace_back();
  // Links come out of a switch in the order of its NPUs, switches in the order of their first.
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    frame_.ports.back().strides.push_back(i < axis    ? group_.stride(i) * dimensions_[axis].length
                                          : i == axis ? 1
                                                      : group_.stride(i));
  }
}

void ProductMoves::add_ways(std::uint32_t axis) {
  const Dimension& dimension = dimensions_[axis];
  const std::vector<std::uint32_t> steps = steps_of(dimension);
  Way way{.axis = axis,
          .to = std::vector<std::uint32_t>(group_.size()),
          .lines = {},
          .members = {},
          .link = {.src = {},
                   .dst = {},
                   .bandwidth = dimension.bandwidth,
                   .latency = dimension.latency,
                   .gap = dimension.gap},
          .down = {}};
  const auto first_way = static_cast<std::uint32_t>(moves_.ways.size());
  if (dimension.wiring != Wiring::kSwitch) {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::uint32_t stride = group_.stride(axis);
      const std::uint32_t step = steps[i] * stride;
      const std::uint32_t line = dimension.length * stride;
      // Elements that differ only in earlier digits follow each other: no division for each.
      for (std::uint32_t first = 0; first < group_.size(); first += line) {
        for (std::uint32_t at = 0; at < line; ++at) {
          way.to[first + at] = first + (at < line - step ? at + step : at + step - line);
        }
      }
      moves_.ways.push_back(way);
      // What leads back is the last step for the first, and so on.
      moves_.mates.push_back(first_way + static_cast<std::uint32_t>(steps.size() - 1 - i));
    }
    return;
  }
  if (steps.empty()) {
    return;
  }
  way.down = way.link;
  // The way up has the larger half.
  way.down.latency.ps /= 2;
  way.link.latency.ps -= way.down.latency.ps;
  for (std::uint32_t element = 0; element < group_.size(); ++element) {
    const std::uint32_t x = group_.digit(element, axis);
    if (x > 0) {
      way.to[element] = way.to[element - x * group_.stride(axis)];
      continue;
    }
    way.to[element] = static_cast<std::uint32_t>(way.lines.size());
    way.lines.push_back(static_cast<std::uint32_t>(way.members.size()));
    for (std::uint32_t y = 0; y < dimension.length; ++y) {
      way.members.push_back(element + y * group_.stride(axis));
    }
  }
  way.lines.push_back(static_cast<std::uint32_t>(way.members.size()));
  moves_.ways.push_back(std::move(way));
  moves_.mates.push_back(first_way);
}

std::uint32_t ProductMoves::move(const Step& step) const {
  const std::uint32_t axis = moves_.ways[step.way].axis;
  const std::uint32_t from = group_.digit(step.from, axis);
  const std::uint32_t to = group_.digit(step.to, axis);
  const std::uint32_t add = to > from ? to - from : to + group_.lengths()[axis] - from;
  const bool ring = dimensions_[axis].wiring == Wiring::kRing;
  return first_move_[axis] + (ring ? (add == 1 ? 0 : 1) : add - 1);
}

Schedule ProductMoves::schedule(const Motif& motif) const {
  Pattern pattern = frame_;
  pattern.chunks_per_npu = motif.chunks_per_npu;
  pattern.entries.reserve(motif.steps.size());
  for (const Step& step : motif.steps) {
    pattern.entries.push_back({.start = step.start,
                               .op = step.op,
                               .move = move(step),
                               .from = step.from,
                               .chunk = step.chunk});
  }
  const auto before = [&](const PatternEntry& a, const PatternEntry& b) {
    return std::tuple(a.start, pattern.moves[a.move].slot) <
           std::tuple(b.start, pattern.moves[b.move].slot);
  };
  if (!std::is_sorted(pattern.entries.begin(), pattern.entries.end(), before)) {
    std::sort(pattern.entries.begin(), pattern.entries.end(), before);
  }
  return make_pattern_schedule(std::move(pattern), motif.end);
}

}  // namespace tacos::symmetric
