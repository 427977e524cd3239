// SPDX-License-Identifier: MIT
#include "synthesis/trees/packing/period_bound.h"

#include <algorithm>
#include <utility>

#include "base/numbers/wide.h"
#include "synthesis/trees/packing/narrow_part.h"

namespace tacos::trees {

PeriodBound::PeriodBound(const Topology& topology, const Job& job, const HopCosts& costs)
    : edges_(static_cast<std::int64_t>(job.transfers_per_chunk())),
      owners_(job.everyones_own ? job.unit() : 0),
      flow_(job.flow) {
  const auto busy_of = [&](std::span<const LinkId> links) {
    std::vector<std::int64_t> busy;
    for (const LinkId link : links) {
      busy.push_back(costs.busy(link.value()));
    }
    return busy;
  };
  // Capacity in units of 2^40 over the busy time: enough digits to tell NPUs apart.
  const auto capacity_of = [&](LinkId link) {
    return (std::int64_t{1} << 40U) / costs.busy(link.value());
  };
  const auto capacity = [&](std::span<const LinkId> links) {
    std::int64_t sum = 0;
    for (const LinkId link : links) {
      sum += capacity_of(link);
    }
    return sum;
  };
  // Every tree must go out of every participant and into it, but for a root that only does the
  // other.
  const auto narrowest = [&](auto links_of, Flow rooted) {
    NodeId found(job.root);
    for (const std::uint32_t participant : job.participants) {
      const NodeId v(participant);
      if ((job.flow != rooted || job.everyones_own) && participant != job.root &&
          (!found.valid() || found.value() == job.root ||
           capacity(links_of(v)) < capacity(links_of(found)))) {
        found = v;
      }
    }
    return found;
  };
  const auto into = [&](NodeId v) { return topology.in_links(v); };
  const auto out_of = [&](NodeId v) { return topology.out_links(v); };
  std::vector<std::int64_t> all;
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    for (const LinkId link : topology.out_links(NodeId(npu))) {
      all.push_back(costs.busy(link.value()));
    }
  }
  all_ = classify(std::move(all));
  narrowest_in_ = classify(busy_of(into(narrowest(into, Flow::kUp))));
  narrowest_out_ = classify(busy_of(out_of(narrowest(out_of, Flow::kDown))));
  if (flow_ == Flow::kUpAndDown && job.everybody() && topology.num_switches() == 0) {
    std::vector<std::int64_t> capacities;
    for (std::uint32_t link = 0; link < topology.num_links(); ++link) {
      capacities.push_back(capacity_of(LinkId(link)));
    }
    const NarrowPart part = narrowest_part(topology, capacities);
    part_ = classify(busy_of(part.links));
    part_npus_ = part.npus;
  }
}

std::vector<PeriodBound::Class> PeriodBound::classify(std::vector<std::int64_t> busy) {
  std::sort(busy.begin(), busy.end());
  std::vector<Class> classes;
  for (const std::int64_t time : busy) {
    if (classes.empty() || classes.back().busy != time) {
      classes.push_back({.busy = time, .links = 0});
    }
    ++classes.back().links;
  }
  return classes;
}

std::int64_t PeriodBound::shortest(std::span<const Class> classes, std::int64_t needed) {
  const auto enough = [&](std::int64_t period) {
    Int128 fits = 0;
    for (const Class& same : classes) {
      fits += static_cast<Int128>(period / same.busy) * same.links;
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
  // Of its own trees a participant is only the one end.
  const auto needed = [&](Flow others) -> std::int64_t {
    const std::int64_t own = owners_ == 0 ? 0 : num_trees / owners_;
    return owners_ == 0 ? num_trees : flow_ == others ? num_trees - own : own;
  };
  // Each of the NPUs of a part has an edge that touches it, up and down.
  return std::max({shortest(all_, edges_ * num_trees),
                   part_.empty() ? 0 : shortest(part_, 2 * part_npus_ * num_trees),
                   shortest(narrowest_in_, needed(Flow::kDown)),
                   shortest(narrowest_out_, needed(Flow::kUp))});
}

}  // namespace tacos::trees
