// SPDX-License-Identifier: MIT
#include "synthesis/trees/period_bound.h"

#include <algorithm>
#include <utility>

#include "base/wide.h"

namespace tacos::trees {

PeriodBound::PeriodBound(const Fabric& fabric, const ChannelCosts& costs)
    : nodes_(fabric.num_nodes()) {
  const auto busy_of = [&](std::span<const std::uint32_t> channels) {
    std::vector<std::int64_t> busy;
    for (const std::uint32_t channel : channels) {
      busy.push_back(costs.busy(channel));
    }
    return busy;
  };
  // Capacity in units of 2^40 over the busy time: enough digits to tell NPUs apart.
  const auto capacity = [&](std::span<const std::uint32_t> channels) {
    std::int64_t sum = 0;
    for (const std::uint32_t channel : channels) {
      sum += (std::int64_t{1} << 40U) / costs.busy(channel);
    }
    return sum;
  };
  std::uint32_t in = 0;
  std::uint32_t out = 0;
  for (std::uint32_t v = 1; v < fabric.num_nodes(); ++v) {
    in = capacity(fabric.into(v)) < capacity(fabric.into(in)) ? v : in;
    out = capacity(fabric.out_of(v)) < capacity(fabric.out_of(out)) ? v : out;
  }
  std::vector<std::int64_t> all;
  for (std::uint32_t channel = 0; channel < fabric.num_channels(); ++channel) {
    all.push_back(costs.busy(channel));
  }
  all_ = classify(std::move(all));
  narrowest_in_ = classify(busy_of(fabric.into(in)));
  narrowest_out_ = classify(busy_of(fabric.out_of(out)));
}

std::vector<PeriodBound::Class> PeriodBound::classify(std::vector<std::int64_t> busy) {
  std::sort(busy.begin(), busy.end());
  std::vector<Class> classes;
  for (const std::int64_t time : busy) {
    if (classes.empty() || classes.back().busy != time) {
      classes.push_back({.busy = time, .channels = 0});
    }
    ++classes.back().channels;
  }
  return classes;
}

std::int64_t PeriodBound::shortest(std::span<const Class> classes, std::int64_t needed) {
  const auto enough = [&](std::int64_t period) {
    Int128 fits = 0;
    for (const Class& same : classes) {
      fits += static_cast<Int128>(period / same.busy) * same.channels;
    }
    return fits >= needed;
  };
  std::int64_t low = 0;
  std::int64_t high = classes.front().busy;
  while (!enough(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

std::int64_t PeriodBound::operator()(std::uint32_t num_trees) const {
  return std::max({shortest(all_, 2 * (nodes_ - 1) * num_trees),
                   shortest(narrowest_in_, num_trees),
                   shortest(narrowest_out_, num_trees)});
}

}  // namespace tacos::trees
