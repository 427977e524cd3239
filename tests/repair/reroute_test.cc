// SPDX-License-Identifier: MIT
// What comes over dead links is brought over the cheapest way: against a search by brute force.
#include "repair/reroute.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/numbers/rng.h"
#include "replay/retime.h"
#include "support/failures.h"
#include "support/random_task.h"

namespace tacos::repairing {
namespace {

/// The same with every step written out, for one chunk that is broken.
class NaiveReroute {
 public:
  NaiveReroute(const Topology& now,
               const Collective& collective,
               const Copies& copies,
               ChunkId chunk)
      : now_(now), chunk_(chunk), bytes_(collective.chunks().bytes(chunk)) {
    for (std::uint32_t i = 0; i < collective.num_participants(); ++i) {
      if (collective.starts_with(chunk, i)) {
        arrival_[collective.participants()[i]] = {};
      }
    }
    for (std::size_t i = 0; i < copies.transfers.size(); ++i) {
      const Transfer transfer = copies.transfers[i];
      const bool works = std::none_of(transfer.links.begin(),
                                      transfer.links.end(),
                                      [&](LinkId link) { return now.failed(link); });
      const NodeId src = now.link(transfer.links.front()).src;
      const NodeId dst = now.link(transfer.links.back()).dst;
      for (const LinkId link : transfer.links) {
        if (works) {
          load_[link] +=
              link_cost(
                  now.link(link), collective.chunks().bytes(transfer.chunks), LinkModel::kHold)
                  .busy;
        }
      }
      if (std::find(transfer.chunks.begin(), transfer.chunks.end(), chunk) ==
          transfer.chunks.end()) {
        continue;
      }
      if (!works) {
        lost_.push_back(dst);
      } else if (arrival_.contains(src) && !arrival_.contains(dst)) {
        arrival_[dst] =
            std::max(transfer.start, arrival_[src]) + route_time(now, transfer.links, bytes_);
      }
    }
    std::erase_if(lost_, [&](NodeId npu) { return arrival_.contains(npu); });
  }

  [[nodiscard]] const std::vector<NodeId>& lost() const { return lost_; }
  [[nodiscard]] bool has(NodeId npu) const { return arrival_.contains(npu); }
  [[nodiscard]] Ticks cost(LinkId link) const {
    const auto load = load_.find(link);
    return link_cost(now_.link(link), bytes_, LinkModel::kHold).arrival +
           (load == load_.end() ? Ticks{} : load->second);
  }
  [[nodiscard]] Ticks arrival(NodeId npu) const { return arrival_.at(npu); }

  /// What it takes at least to get the chunk to an NPU: Bellman-Ford against the links.
  [[nodiscard]] Ticks least(NodeId npu) const {
    std::map<NodeId, Ticks> far{{npu, {}}};
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t id = 0; id < now_.num_links(); ++id) {
        const Link& link = now_.link(LinkId(id));
        if (now_.failed(LinkId(id)) || !far.contains(link.dst) || has(link.dst)) {
          continue;
        }
        const Ticks through = far[link.dst] + cost(LinkId(id));
        if (!far.contains(link.src) || through < far[link.src]) {
          far[link.src] = through;
          changed = true;
        }
      }
    }
    Ticks least = kMaxTime;
    for (const auto& [holder, since] : arrival_) {
      least = far.contains(holder) ? std::min(least, far[holder] + since) : least;
    }
    return least;
  }

 private:
  const Topology& now_;
  ChunkId chunk_;
  Bytes bytes_;
  std::map<NodeId, Ticks> arrival_;
  std::map<LinkId, Ticks> load_;
  std::vector<NodeId> lost_;
};

/// The transfers of all chunks that no dead link carries, and of one that it does.
TransferBatch with_one_broken(const Topology& now, const TransferBatch& all, ChunkId one) {
  std::set<ChunkId> broken;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto links = all[i].links;
    if (std::any_of(links.begin(), links.end(), [&](LinkId link) { return now.failed(link); })) {
      broken.insert(all[i].chunks.begin(), all[i].chunks.end());
    }
  }
  TransferBatch some;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<ChunkId> chunks(all[i].chunks.begin(), all[i].chunks.end());
    std::erase_if(chunks, [&](ChunkId chunk) { return chunk != one && broken.contains(chunk); });
    if (!chunks.empty()) {
      Transfer transfer = all[i];
      transfer.chunks = chunks;
      some.append(transfer);
    }
  }
  return some;
}

/// How the chunk gets to an NPU: the first transfer that brings it.
Transfer bringer(const Topology& now, const TransferBatch& all, ChunkId chunk, NodeId npu) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Transfer transfer = all[i];
    if (now.link(transfer.links.back()).dst == npu &&
        std::find(transfer.chunks.begin(), transfer.chunks.end(), chunk) != transfer.chunks.end()) {
      return transfer;
    }
  }
  return {};
}

RC_GTEST_PROP(Reroute, TakesTheCheapestWay, ()) {
  const testing::Task task = testing::any_task();
  RC_PRE(!task.problem.participants.empty() && !traits(task.problem.kind).reduces);
  const Bundle before = testing::bundle_of(task.topology, task.problem, {.seed = task.seed});
  const TransferBatch all = replay::all_transfers(before.schedule);
  RC_PRE(!all.empty());
  Rng rng(task.seed);
  const Transfer hit = all[rng.below(static_cast<std::uint32_t>(all.size()))];
  const Link& dead = task.topology.link(hit.links.front());
  const Result<DegradedTopology> left = apply_failures(
      task.topology,
      std::vector<std::string>{fmt::format("link:{}>{}", dead.src.value(), dead.dst.value())});
  RC_PRE(left.has_value());
  const Topology& now = left->topology;
  const ChunkId chunk = hit.chunks.front();
  const Copies copies =
      index_copies(now, before.collective, with_one_broken(now, all, chunk), Reading::kForwards);
  const NaiveReroute naive(now, before.collective, copies, chunk);
  const std::optional<Rerouted> rerouted =
      reroute(now, before.collective, LinkModel::kHold, copies);
  if (!rerouted) {
    RC_ASSERT(std::any_of(naive.lost().begin(), naive.lost().end(), [&](NodeId npu) {
      return naive.least(npu) == kMaxTime;
    }));
    return;
  }
  for (std::size_t i = 0; i < rerouted->transfers.size(); ++i) {
    for (const LinkId link : rerouted->transfers[i].links) {
      RC_ASSERT(!now.failed(link));
    }
  }
  const auto participants = before.collective.participants();
  for (std::uint32_t i = 0; i < participants.size(); ++i) {
    RC_ASSERT(!before.collective.ends_with(chunk, i) || before.collective.starts_with(chunk, i) ||
              !bringer(now, rerouted->transfers, chunk, participants[i]).links.empty());
  }
  if (naive.lost().empty()) {
    return;
  }
  // The first who lost it; nothing had changed by then.
  NodeId at = naive.lost().front();
  const Ticks least = naive.least(at);
  Ticks cost;
  while (!naive.has(at)) {
    const Transfer transfer = bringer(now, rerouted->transfers, chunk, at);
    if (transfer.links.empty()) {
      return;  // Left out, since nobody needs it there.
    }
    for (const LinkId link : transfer.links) {
      cost += naive.cost(link);
    }
    at = now.link(transfer.links.front()).src;
  }
  RC_ASSERT(cost + naive.arrival(at) == least);
}

}  // namespace
}  // namespace tacos::repairing
