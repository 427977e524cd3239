// SPDX-License-Identifier: MIT
#include "synthesis/symmetric/product_moves.h"

#include <algorithm>

namespace tacos {
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
  std::vector<std::uint32_t> strides;
  std::uint32_t npus = 1;
  for (const Dimension& dimension : dimensions) {
    frame_.lengths.push_back(dimension.length);
    strides.push_back(npus);
    npus *= dimension.length;
  }
  for (std::size_t axis = 0; axis < dimensions_.size(); ++axis) {
    const bool switched = dimensions_[axis].wiring == Wiring::kSwitch;
    first_move_.push_back(static_cast<std::uint32_t>(frame_.moves.size()));
    for (const std::uint32_t step : steps_of(dimensions_[axis])) {
      frame_.moves.push_back({.shift = step * strides[axis],
                              .slot = frame_.links_per_npu,
                              .port = switched ? static_cast<std::uint32_t>(frame_.ports.size())
                                               : PatternMove::kNoPort});
      frame_.links_per_npu += switched ? 0 : 1;
    }
    if (switched) {
      frame_.links_per_npu += 1;
      frame_.ports.emplace_back();
      // Links come out of a switch in the order of its NPUs, switches in the order of their first.
      for (std::size_t i = 0; i < dimensions_.size(); ++i) {
        frame_.ports.back().strides.push_back(i < axis    ? strides[i] * dimensions_[axis].length
                                              : i == axis ? 1
                                                          : strides[i]);
      }
    }
  }
  for (std::size_t p = 0; p < frame_.ports.size(); ++p) {
    frame_.ports[p].first = npus * (frame_.links_per_npu + static_cast<std::uint32_t>(p));
  }
}

std::uint32_t ProductMoves::move(std::uint32_t axis, std::uint32_t step) const {
  const bool ring = dimensions_[axis].wiring == Wiring::kRing;
  return first_move_[axis] + (ring ? (step == 1 ? 0 : 1) : step - 1);
}

std::vector<Server> ProductMoves::servers(Bytes chunk, LinkModel model) const {
  std::vector<Server> servers;
  for (std::uint32_t axis = 0; axis < dimensions_.size(); ++axis) {
    const Dimension& dimension = dimensions_[axis];
    Link link{.src = {}, .dst = {}, .bandwidth = dimension.bandwidth, .latency = dimension.latency};
    const Ticks duration = link_cost(link, chunk, model).arrival;
    if (dimension.wiring == Wiring::kSwitch) {
      // The way up has the larger half.
      link.latency.ps -= dimension.latency.ps / 2;
      if (dimension.length > 1) {
        servers.push_back({.axis = axis,
                           .step = 0,
                           .period = link_cost(link, chunk, model).busy,
                           .duration = duration});
      }
      continue;
    }
    for (const std::uint32_t step : steps_of(dimension)) {
      servers.push_back({.axis = axis,
                         .step = step,
                         .period = link_cost(link, chunk, model).busy,
                         .duration = duration});
    }
  }
  return servers;
}

}  // namespace tacos
