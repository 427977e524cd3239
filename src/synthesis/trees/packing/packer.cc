// SPDX-License-Identifier: MIT
#include "synthesis/trees/packing/packer.h"

#include <algorithm>
#include <utility>

#include "synthesis/common/work.h"

namespace tacos::trees {
namespace {

/// Choices that exchanges look at per search, through switches; about 10 ns each. Before packings
/// were kept, four H100 boxes took 300 million, two DGX-2 520; nine NPUs on six switches, where no
/// packing is perfect, 1,340. A fourth of this costs groups of A100 and H100 boxes up to 5%, a
/// tenth up to 31%.
constexpr std::int64_t kSearchWork = 600'000'000;
/// More NPUs than this get planted trees only.
constexpr std::uint32_t kMostGrown = 16'384;
/// Packings are kept up to so many hops, at 8 bytes each.
constexpr std::size_t kMostKept = 8'000'000;

bool are_all_alike(const Topology& topology, const Fabric& fabric) {
  const auto links = topology.links();
  const Link& first = topology.link(LinkId(0));
  return fabric.direct() && topology.num_working_links() == topology.num_links() &&
         std::all_of(links.begin(), links.end(), [&](const Link& link) {
           return link.bandwidth == first.bandwidth && link.latency == first.latency &&
                  link.gap == first.gap;
         });
}

}  // namespace

Packer::Packer(const Topology& topology,
               const Fabric& fabric,
               const Job& job,
               Centre centre,
               std::uint64_t seed,
               int effort)
    : fabric_(fabric),
      job_(job),
      centre_(std::move(centre)),
      seed_(seed),
      grows_(fabric.num_nodes() <= kMostGrown &&
             (!fabric.direct() || !job.everybody() || job.flow != Flow::kUpAndDown)),
      all_alike_(are_all_alike(topology, fabric)),
      work_(at_effort(kSearchWork, effort)) {}

Packing Packer::pack(std::uint32_t trees,
                     const HopCosts& costs,
                     const PeriodBound& bound,
                     std::uint32_t rounds,
                     Top top) {
  const Key key{trees, rounds, top, all_alike_ ? 0 : costs.bytes().count};
  const auto old = std::find_if(
      packed_.begin(), packed_.end(), [&](const PackedAt& one) { return one.key == key; });
  if (old != packed_.end()) {
    Packing packing = old->packing;
    if (all_alike_) {
      packing.period = packing.period / old->busy * costs.busy(0);
      packing.depth = packing.depth / old->arrival * costs.arrival(0);
    }
    return packing;
  }
  const std::vector<std::uint32_t> roots = spread_roots(centre_, trees);
  const std::vector<std::uint32_t> partners =
      top == Top::kRoot ? std::vector<std::uint32_t>{}
                        : choose_partners(fabric_, costs.arrivals(), roots);
  Packing packing = pack_trees({.fabric = fabric_,
                                .costs = costs,
                                .job = job_,
                                .roots = roots,
                                .partners = partners,
                                .rounds = rounds,
                                .least_period = bound(trees),
                                .grow = grows_,
                                .seed = seed_},
                               work_);
  if (packed_.size() * packing.up.size() < kMostKept) {
    packed_.push_back(
        {.key = key, .packing = packing, .busy = costs.busy(0), .arrival = costs.arrival(0)});
  }
  return packing;
}

}  // namespace tacos::trees
