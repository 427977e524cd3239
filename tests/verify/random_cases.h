// SPDX-License-Identifier: MIT
// Random schedules, and random mistakes in them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tacos/verify.h"

#include "base/numbers/rng.h"
#include "support/listed_schedule.h"
#include "verify/cases.h"

namespace tacos::test {

/// Strongly connected: a one-way ring and some more links.
inline Topology random_network(Rng& rng) {
  const std::uint32_t npus = 2 + rng.below(4);
  TopologyBuilder builder("random", npus);
  const auto add = [&](std::uint32_t src, std::uint32_t dst) {
    builder.add_link(
        make_link(src, dst, 10 * std::int64_t{rng.below(4)}, (1 + rng.below(3)) * 500'000'000'000));
  };
  for (std::uint32_t i = 0; i < npus; ++i) {
    add(i, (i + 1) % npus);
  }
  for (std::uint32_t more = rng.below(2 * npus); more > 0; --more) {
    const std::uint32_t src = rng.below(npus);
    add(src, (src + 1 + rng.below(npus - 1)) % npus);
  }
  return std::move(builder).build().value();
}

/// All-Gather: whenever a link is free it takes any chunk that its end neither has nor expects.
inline std::vector<ListedTransfer> greedy(const Topology& topology,
                                          const Collective& collective,
                                          LinkModel model) {
  constexpr std::int64_t kNever = 1LL << 60U;
  const std::uint32_t chunks = collective.num_chunks();
  std::vector<std::vector<std::int64_t>> has(topology.num_npus(),
                                             std::vector<std::int64_t>(chunks, kNever));
  for (std::uint32_t c = 0; c < chunks; ++c) {
    has[collective.owner(ChunkId(c))][c] = 0;
  }
  std::vector<std::int64_t> free_at(topology.num_links(), 0);
  std::vector<ListedTransfer> transfers;
  std::size_t missing = std::size_t{chunks} * (topology.num_npus() - 1);
  for (std::int64_t now = 0; missing > 0; ++now) {
    for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
      const Link& link = topology.link(LinkId(id));
      for (std::uint32_t c = 0; c < chunks && free_at[id] <= now; ++c) {
        if (has[link.src.index()][c] <= now && has[link.dst.index()][c] == kNever) {
          const LinkCost cost = link_cost(link, collective.chunks().bytes(ChunkId(c)), model);
          has[link.dst.index()][c] = now + cost.arrival.ps;
          free_at[id] = now + cost.busy.ps;
          transfers.push_back({now, Op::kCopy, {id}, {c}});
          --missing;
        }
      }
    }
  }
  return transfers;
}

inline std::int64_t end_of(const ListedTransfer& transfer, const Case& given) {
  return totals_of({transfer}, given.topology, given.collective.chunks()).collective_time.ps;
}

inline void sort_by_start(std::vector<ListedTransfer>& transfers) {
  std::stable_sort(transfers.begin(), transfers.end(), [](const auto& a, const auto& b) {
    return a.start < b.start;
  });
}

/// Reduce-Scatter is All-Gather backwards on the network turned round.
inline std::vector<ListedTransfer> backwards(const Case& gather) {
  std::int64_t last = 0;
  for (const ListedTransfer& transfer : gather.transfers) {
    last = std::max(last, end_of(transfer, gather));
  }
  std::vector<ListedTransfer> turned = gather.transfers;
  for (ListedTransfer& transfer : turned) {
    transfer.start = last - end_of(transfer, gather);
    transfer.op = Op::kReduce;
  }
  sort_by_start(turned);
  return turned;
}

inline Case random_valid(Rng& rng, CollectiveKind kind) {
  const Topology topology = random_network(rng);
  const std::uint32_t npus = topology.num_npus();
  const std::int64_t per_npu = 1 + rng.below(2);
  const Bytes size{per_npu * npus * 20 + rng.below(9)};
  VerifyOptions options;
  options.link_model = rng.below(2) == 0 ? LinkModel::kHold : LinkModel::kPipelined;
  options.memory_bytes = rng.below(2) == 0 ? 0 : 1U << 20U;
  const auto gather_on = [&](const Topology& network) {
    const Collective all =
        Collective::over_all(CollectiveKind::kAllGather, size, per_npu, npus).value();
    return Case{network, all, greedy(network, all, options.link_model), options};
  };
  Case made = gather_on(topology);
  if (kind == CollectiveKind::kAllGather) {
    return made;
  }
  const std::int64_t chunks = kind == CollectiveKind::kAllReduce ? per_npu * npus : per_npu;
  made.collective = Collective::over_all(kind, size, chunks, npus).value();
  const std::vector<ListedTransfer> gather =
      std::exchange(made.transfers, backwards(gather_on(topology.reversed())));
  if (kind == CollectiveKind::kAllReduce) {
    std::int64_t middle = 0;
    for (const ListedTransfer& transfer : made.transfers) {
      middle = std::max(middle, end_of(transfer, made));
    }
    for (ListedTransfer transfer : gather) {
      transfer.start += middle;
      made.transfers.push_back(transfer);
    }
  }
  return made;
}

/// Changes one thing; half of the time the order is made right again.
inline void mutate(Case& given, Rng& rng) {
  std::vector<ListedTransfer>& transfers = given.transfers;
  const auto size = static_cast<std::uint32_t>(transfers.size());
  const std::uint32_t i = rng.below(size);
  switch (rng.below(8)) {
    case 0:
      transfers[i].start += std::int64_t{rng.below(81)} - 40;
      break;
    case 1:
      transfers[i].start += rng.below(2) == 0 ? -1 : 1;
      break;
    case 2:
      transfers[i].links[0] = rng.below(given.topology.num_links() + 1);
      break;
    case 3:
      transfers[i].chunks[0] = rng.below(given.collective.num_chunks() + 1);
      break;
    case 4:
      transfers[i].op = transfers[i].op == Op::kCopy ? Op::kReduce : Op::kCopy;
      break;
    case 5:
      transfers.erase(transfers.begin() + i);
      break;
    case 6: {
      ListedTransfer again = transfers[i];
      again.start += rng.below(200);
      transfers.insert(transfers.begin() + i, again);
      break;
    }
    default:
      std::swap(transfers[i], transfers[rng.below(size)]);
  }
  if (rng.below(2) == 0) {
    sort_by_start(transfers);
  }
}

}  // namespace tacos::test
