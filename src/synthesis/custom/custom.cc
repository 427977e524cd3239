// SPDX-License-Identifier: MIT
// Custom collectives ask for anything, so nothing is assumed: the chunks are taken one by one, the
// largest first. A copied chunk goes down the shortest-path tree from its sources to its
// destinations, where a link costs its latency, the serialization of the chunk and the time for
// which earlier chunks have loaded it. A reduced chunk goes up such a tree, found against the
// links, to its first destination, and is copied from there to the others; where links lead one way
// only, to some other NPU that all sources reach and that reaches all destinations. Then all
// transfers are put in the order of their distances and given the earliest times (retime.h).
//
// Invariant: what a transfer needs is nearer to the sources, so it comes before it in the order.
// O(chunks x links x log nodes). Each chunk's tree is optimal for it alone; that the trees together
// use the bandwidth well is left to the loads, and nothing is promised.
#include "synthesis/custom/custom.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/parallel/cancel.h"
#include "replay/retime.h"

namespace tacos::custom {
namespace {

/// One chunk over one route, and its place in the order.
struct Planned {
  Ticks distance;
  Op op = Op::kCopy;
  ChunkId chunk;
  std::uint32_t first_link = 0;
  std::uint32_t num_links = 0;
};

class Planner {
 public:
  Planner(const Topology& topology, const Collective& collective, LinkModel model)
      : topology_(topology), collective_(collective), model_(model), load_(topology.num_links()) {}

  Result<Schedule> run() {
    std::vector<ChunkId> order;
    for (std::uint32_t c = 0; c < collective_.num_chunks(); ++c) {
      order.emplace_back(c);
    }
    std::stable_sort(order.begin(), order.end(), [&](ChunkId a, ChunkId b) {
      return collective_.chunks().bytes(a) > collective_.chunks().bytes(b);
    });
    for (const ChunkId chunk : order) {
      if (collective_.reduces(chunk)) {
        if (Status planned = plan_sum(chunk); !planned) {
          return planned.error();
        }
      } else {
        plan_copies(chunk, npus(collective_.sources(chunk)), {});
      }
      if (total_ >= kMaxTime) {
        return takes_too_long(topology_.name());
      }
    }
    return replay::retime(topology_, collective_, model_, in_order());
  }

 private:
  [[nodiscard]] std::vector<NodeId> npus(std::span<const std::uint32_t> numbers) const {
    std::vector<NodeId> nodes;
    nodes.reserve(numbers.size());
    for (const std::uint32_t number : numbers) {
      nodes.push_back(collective_.participants()[number]);
    }
    return nodes;
  }

  /// Distances from the roots along the links, or to them against the links, and the link by which
  /// each node is reached.
  void search(std::span<const NodeId> roots, ChunkId chunk, bool along) {
    check_cancel();
    using Entry = std::pair<Ticks, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distance_.assign(topology_.num_nodes(), kMaxTime);
    by_.assign(topology_.num_nodes(), LinkId());
    for (const NodeId root : roots) {
      distance_[root.index()] = Ticks{0};
      queue.emplace(Ticks{0}, root);
    }
    const Bytes bytes = collective_.chunks().bytes(chunk);
    while (!queue.empty()) {
      const auto [distance, node] = queue.top();
      queue.pop();
      if (distance > distance_[node.index()]) {
        continue;
      }
      for (const LinkId id : along ? topology_.out_links(node) : topology_.in_links(node)) {
        const Link& link = topology_.link(id);
        const NodeId next = along ? link.dst : link.src;
        const Ticks cost = std::min(kMaxTime, link_cost(link, bytes, model_).arrival);
        const Ticks through = std::min(kMaxTime, distance + cost) + load_[id.index()];
        if (through < distance_[next.index()]) {
          distance_[next.index()] = through;
          by_[next.index()] = id;
          queue.emplace(through, next);
        }
      }
    }
  }

  /// The NPUs of the tree that lead to `ends`, without the roots, the nearest first.
  [[nodiscard]] std::vector<NodeId> needed(std::span<const NodeId> ends, bool along) const {
    std::vector<bool> seen(topology_.num_nodes(), false);
    std::vector<NodeId> nodes;
    for (NodeId node : ends) {
      while (by_[node.index()].valid() && !seen[node.index()]) {
        seen[node.index()] = true;
        if (topology_.is_npu(node)) {
          nodes.push_back(node);
        }
        const Link& link = topology_.link(by_[node.index()]);
        node = along ? link.src : link.dst;
      }
    }
    std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) {
      return std::pair(distance_[a.index()], a) < std::pair(distance_[b.index()], b);
    });
    return nodes;
  }

  /// From the NPU above `node` in the tree to it, or the other way round.
  void add_transfer(NodeId node, ChunkId chunk, bool along, Ticks order) {
    Planned planned{.distance = order,
                    .op = along ? Op::kCopy : Op::kReduce,
                    .chunk = chunk,
                    .first_link = static_cast<std::uint32_t>(links_.size()),
                    .num_links = 0};
    const Bytes bytes = collective_.chunks().bytes(chunk);
    do {
      const LinkId id = by_[node.index()];
      TACOS_ASSERT(id.valid(), "feasible chunks reach their destinations");
      const Link& link = topology_.link(id);
      const LinkCost cost = link_cost(link, bytes, model_);
      load_[id.index()] = std::min(kMaxTime, load_[id.index()] + cost.busy);
      total_ = std::min(kMaxTime, total_ + cost.arrival);
      links_.push_back(id);
      ++planned.num_links;
      node = along ? link.src : link.dst;
    } while (!topology_.is_npu(node));
    if (along) {
      std::reverse(links_.begin() + planned.first_link, links_.end());
    }
    planned_.push_back(planned);
  }

  void plan_copies(ChunkId chunk, const std::vector<NodeId>& roots, Ticks after) {
    search(roots, chunk, true);
    for (const NodeId node : needed(npus(collective_.destinations(chunk)), true)) {
      add_transfer(node, chunk, true, after + distance_[node.index()]);
    }
  }

  [[nodiscard]] bool reached(std::span<const NodeId> nodes) const {
    return std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) {
      return distance_[node.index()] < kMaxTime;
    });
  }

  /// Where a sum can be made: the first destination if possible, else another, else any NPU.
  [[nodiscard]] std::optional<NodeId> find_hub(ChunkId chunk,
                                               std::span<const NodeId> sources,
                                               std::span<const NodeId> destinations) {
    std::vector<NodeId> candidates(destinations.begin(), destinations.end());
    for (std::uint32_t npu = 0; npu < topology_.num_npus(); ++npu) {
      candidates.emplace_back(npu);
    }
    for (const NodeId hub : candidates) {
      search({&hub, 1}, chunk, true);
      if (!reached(destinations)) {
        continue;
      }
      search({&hub, 1}, chunk, false);
      if (reached(sources)) {
        return hub;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] Status plan_sum(ChunkId chunk) {
    const std::vector<NodeId> sources = npus(collective_.sources(chunk));
    const std::vector<NodeId> destinations = npus(collective_.destinations(chunk));
    const std::optional<NodeId> hub = find_hub(chunk, sources, destinations);
    if (!hub) {
      return input_error(
          fmt::format(
              "no NPU that all sources of chunk {} reach reaches all its destinations; give "
              "each destination a chunk of its own",
              chunk.value()),
          topology_.name());
    }
    const std::vector<NodeId> up = needed(sources, false);
    const Ticks end = up.empty() ? Ticks{0} : distance_[up.back().index()];
    for (auto node = up.rbegin(); node != up.rend(); ++node) {
      add_transfer(*node, chunk, false, end - distance_[node->index()]);
    }
    if (destinations.size() > 1 || destinations.front() != *hub) {
      plan_copies(chunk, {*hub}, end + Ticks{1});
    }
    return ok();
  }

  [[nodiscard]] TransferBatch in_order() {
    std::stable_sort(planned_.begin(), planned_.end(), [](const Planned& a, const Planned& b) {
      return a.distance < b.distance;
    });
    TransferBatch batch;
    for (const Planned& planned : planned_) {
      batch.append({.start = planned.distance,
                    .op = planned.op,
                    .links = std::span(links_).subspan(planned.first_link, planned.num_links),
                    .chunks = std::span(&planned.chunk, 1)});
    }
    return batch;
  }

  const Topology& topology_;
  const Collective& collective_;
  LinkModel model_;
  /// How long each link is busy with what was planned.
  std::vector<Ticks> load_;
  /// If everything were sent one after the other.
  Ticks total_;
  std::vector<Ticks> distance_;
  std::vector<LinkId> by_;
  std::vector<Planned> planned_;
  std::vector<LinkId> links_;
};

}  // namespace

Result<Candidate> synthesize(const Topology& topology,
                             const Problem& problem,
                             const EngineOptions& options) {
  TACOS_ASSERT(problem.custom.has_value(), "a custom problem has its collective");
  Result<Schedule> schedule = Planner(topology, *problem.custom, options.link_model).run();
  if (!schedule) {
    return schedule.error();
  }
  return Candidate{*problem.custom, *std::move(schedule), 1};
}

}  // namespace tacos::custom
