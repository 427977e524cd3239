// SPDX-License-Identifier: MIT
// Two links that cost the same differ by how many transfers they make in a round, and how many
// chunks these carry: of links that have no more of either than another only the other counts. So a
// period is the maximum over a few of them, and a few products make the sum of all arrivals.
#include "synthesis/trees/timing/round_costs.h"

#include <algorithm>

#include "tacos/collective.h"

namespace tacos::trees {
namespace {

bool cost_the_same(const Link& a, const Link& b) {
  return a.bandwidth == b.bandwidth && a.latency == b.latency && a.gap == b.gap;
}

std::uint32_t chunks_of(const LinkLoad& load) {
  return load.down + load.up;
}

Bytes times(Bytes bytes, std::uint32_t chunks) {
  return {bytes.count > kMaxSizeBytes / chunks ? kMaxSizeBytes : bytes.count * chunks};
}

}  // namespace

std::vector<LinkKind> link_kinds(const Topology& topology,
                                 const Fabric& fabric,
                                 const Packing& packing) {
  const std::vector<LinkLoad> loads = link_loads(fabric, packing);
  std::vector<LinkKind> kinds;
  for (std::uint32_t id = 0; id < fabric.num_links(); ++id) {
    if (loads[id] == LinkLoad{}) {
      continue;
    }
    const Link& link = topology.link(LinkId(id));
    auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const LinkKind& one) {
      return one.load == loads[id] && cost_the_same(one.link, link);
    });
    if (kind == kinds.end()) {
      kind = kinds.insert(kinds.end(), {.link = link, .load = loads[id]});
    }
    ++kind->links;
  }
  return kinds;
}

bool all_alike(const std::vector<LinkKind>& kinds) {
  return std::all_of(kinds.begin(), kinds.end(), [&](const LinkKind& kind) {
    return cost_the_same(kind.link, kinds.front().link);
  });
}

RoundCosts::RoundCosts(const std::vector<LinkKind>& kinds,
                       LinkModel model,
                       std::uint32_t sharing,
                       Bytes bytes)
    : model_(model), sharing_(sharing) {
  for (const LinkKind& kind : kinds) {
    add_burden(kind);
  }
  const std::int64_t period = this->period(bytes);
  for (const LinkKind& kind : kinds) {
    const std::int64_t busy = link_cost(kind.link, bytes, model).busy.ps;
    if (Int128{busy} * chunks_of(kind.load) <= period) {
      add_crowd(kind.link, 1, kind.links * chunks_of(kind.load));
      continue;
    }
    for (const std::uint32_t chunks : {kind.load.down, kind.load.up}) {
      const Shares shares(chunks, sharing);
      for (std::uint32_t transfer = 0; transfer < shares.transfers; ++transfer) {
        add_crowd(kind.link, shares.chunks_of(transfer), kind.links * shares.chunks_of(transfer));
      }
    }
  }
}

void RoundCosts::add_burden(const LinkKind& kind) {
  const auto transfers = [this](const LinkLoad& load) {
    return Shares(load.down, sharing_).transfers + Shares(load.up, sharing_).transfers;
  };
  const auto covers = [&](const Burden& one, const Burden& other) {
    return cost_the_same(one.link, other.link) && chunks_of(one.load) >= chunks_of(other.load) &&
           transfers(one.load) >= transfers(other.load);
  };
  const Burden burden{.link = kind.link, .load = kind.load};
  if (std::none_of(burdens_.begin(), burdens_.end(), [&](const Burden& one) {
        return covers(one, burden);
      })) {
    std::erase_if(burdens_, [&](const Burden& one) { return covers(burden, one); });
    burdens_.push_back(burden);
  }
}

void RoundCosts::add_crowd(const Link& link, std::uint32_t together, std::int64_t chunks) {
  const auto crowd = std::find_if(crowds_.begin(), crowds_.end(), [&](const Crowd& one) {
    return one.together == together && cost_the_same(one.link, link);
  });
  if (crowd != crowds_.end()) {
    crowd->chunks += chunks;
  } else {
    crowds_.push_back({.link = link, .together = together, .chunks = chunks});
  }
}

std::int64_t RoundCosts::period(Bytes bytes) const {
  std::int64_t longest = 1;
  for (const Burden& burden : burdens_) {
    longest = std::max(longest, busy_for(burden.load, sharing_, [&](std::uint32_t chunks) {
                         return std::max<std::int64_t>(
                             1, link_cost(burden.link, times(bytes, chunks), model_).busy.ps);
                       }));
  }
  return longest;
}

Int128 RoundCosts::arrivals(Bytes bytes) const {
  Int128 sum = 0;
  for (const Crowd& crowd : crowds_) {
    sum += Int128{crowd.chunks} *
           link_cost(crowd.link, times(bytes, crowd.together), model_).arrival.ps;
  }
  return std::max(Int128{1}, sum);
}

}  // namespace tacos::trees
