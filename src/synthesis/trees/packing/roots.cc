// SPDX-License-Identifier: MIT
#include "synthesis/trees/packing/roots.h"

#include <algorithm>
#include <array>

#include "tacos/units.h"

#include "base/event_queue.h"

namespace tacos::trees {
namespace {

constexpr std::int64_t kFar = kMaxTime.ps;

}  // namespace

void distances(const Fabric& fabric,
               std::span<const std::int64_t> arrival,
               std::span<const std::uint32_t> roots,
               bool backwards,
               std::vector<std::int64_t>& distance) {
  struct Reached {
    Ticks time;
    std::uint32_t node = 0;
  };
  distance.assign(fabric.num_nodes(), kFar);
  EventQueue<Reached> queue;
  for (const std::uint32_t root : roots) {
    distance[root] = 0;
    queue.push({}, {.time = {}, .node = root});
  }
  std::vector<Reached> reached;
  while (queue.next_time() < EventQueue<Reached>::kNever) {
    queue.take_next(reached);
    for (const auto& [time, node] : reached) {
      if (time.ps > distance[node]) {
        continue;
      }
      for (const std::uint32_t hop : backwards ? fabric.into(node) : fabric.out_of(node)) {
        const std::uint32_t other = backwards ? fabric.source(hop) : fabric.target(hop);
        const std::int64_t through = time.ps + arrival[hop];
        if (through < distance[other]) {
          distance[other] = through;
          queue.push(time, {.time = {through}, .node = other});
        }
      }
    }
  }
}

namespace {

/// To the farthest participant and from it, as far as the job goes there.
std::int64_t radius_of(const Fabric& fabric,
                       const Job& job,
                       std::span<const std::int64_t> arrival,
                       std::uint32_t node) {
  std::int64_t sum = 0;
  std::vector<std::int64_t> distance;
  for (const bool backwards : {false, true}) {
    if (backwards ? job.goes_up() : job.goes_down()) {
      distances(fabric, arrival, {&node, 1}, backwards, distance);
      std::int64_t farthest = 0;
      for (const std::uint32_t participant : job.participants) {
        farthest = std::max(farthest, distance[participant]);
      }
      sum += farthest;
    }
  }
  return sum;
}

/// Ordered by how far the farthest participant is.
Centre order_by_distance(const Fabric& fabric,
                         const Job& job,
                         std::span<const std::int64_t> arrival,
                         std::uint32_t most_landmarks) {
  // Distance to the farthest of a few landmarks, each the farthest NPU from those before it: on
  // meshes these are the corners, and the distance is exact.
  const std::uint32_t nodes = fabric.num_nodes();
  const auto participants = static_cast<std::uint32_t>(job.participants.size());
  const std::uint32_t landmarks = std::min(participants, most_landmarks);
  std::vector<std::int64_t> out(nodes, 0);
  std::vector<std::int64_t> in(nodes, 0);
  std::vector<std::int64_t> nearest(nodes, kFar);
  std::vector<std::int64_t> distance;
  std::uint32_t landmark = job.participants[0];
  for (std::uint32_t i = 0; i < landmarks; ++i) {
    for (const bool backwards : {true, false}) {
      if (fabric.symmetric() && !backwards) {
        in = out;
        continue;
      }
      distances(fabric, arrival, {&landmark, 1}, backwards, distance);
      std::vector<std::int64_t>& farthest = backwards ? out : in;
      for (std::uint32_t v = 0; v < nodes; ++v) {
        farthest[v] = std::max(farthest[v], distance[v]);
        nearest[v] = std::min(nearest[v], distance[v]);
      }
    }
    landmark = *std::max_element(
        job.participants.begin(), job.participants.end(), [&](std::uint32_t a, std::uint32_t b) {
          return nearest[a] < nearest[b];
        });
  }
  Centre centre{.nodes = job.participants};
  std::stable_sort(centre.nodes.begin(), centre.nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
    return out[a] + in[a] < out[b] + in[b];
  });
  const std::int64_t least = out[centre.nodes[0]] + in[centre.nodes[0]];
  while (centre.central < participants &&
         out[centre.nodes[centre.central]] + in[centre.nodes[centre.central]] <=
             least + least / 32) {
    ++centre.central;
  }
  return centre;
}

}  // namespace

Centre find_centre(const Fabric& fabric,
                   const Job& job,
                   std::span<const std::int64_t> arrival,
                   std::uint32_t most_landmarks) {
  Centre centre;
  if (job.root != kNone) {
    centre = {.nodes = {job.root}, .central = 1};
  } else if (job.everyones_own) {
    centre = {.nodes = job.participants, .central = job.unit()};
  } else {
    centre = order_by_distance(fabric, job, arrival, most_landmarks);
  }
  centre.radius = radius_of(fabric, job, arrival, centre.nodes.front());
  centre.arrival = arrival.front();
  return centre;
}

std::vector<std::uint32_t> spread_roots(const Centre& centre, std::uint32_t num_trees) {
  std::vector<std::uint32_t> roots;
  for (std::uint64_t i = 0; i < num_trees; ++i) {
    const std::uint64_t at =
        num_trees >= centre.central ? i % centre.central : i * centre.central / num_trees;
    roots.push_back(centre.nodes[at]);
  }
  return roots;
}

std::vector<std::uint32_t> choose_partners(const Fabric& fabric,
                                           std::span<const std::int64_t> arrival,
                                           std::span<const std::uint32_t> roots) {
  std::vector<std::uint32_t> partners;
  std::vector<std::uint32_t> best;
  std::vector<std::int64_t> distance;
  for (const std::uint32_t root : roots) {
    std::int64_t least = kFar;
    for (const std::uint32_t hop : fabric.out_of(root)) {
      const std::array<std::uint32_t, 2> both{root, fabric.target(hop)};
      distances(fabric, arrival, both, false, distance);
      const std::int64_t farthest =
          *std::max_element(distance.begin(), distance.end()) + arrival[hop];
      if (farthest < least) {
        least = farthest;
        best.clear();
      }
      if (farthest == least) {
        best.push_back(both[1]);
      }
    }
    // Equally good ones in turn.
    partners.push_back(best[partners.size() % best.size()]);
  }
  return partners;
}

}  // namespace tacos::trees
