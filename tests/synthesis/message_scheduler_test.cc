// SPDX-License-Identifier: MIT
#include "replay/message_scheduler.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "replay/retime.h"
#include "support/listed_schedule.h"
#include "support/random_network.h"

namespace tacos {
namespace {

bool share(std::span<const ChunkId> a, std::span<const ChunkId> b) {
  return std::any_of(a.begin(), a.end(), [&](ChunkId chunk) {
    return std::find(b.begin(), b.end(), chunk) != b.end();
  });
}

/// At every instant at which something ends, every message in turn: does it wait for one before it,
/// is a link of its route taken? If not, it starts.
std::vector<Ticks> naive_starts(const Topology& topology,
                                const Collective& collective,
                                LinkModel model,
                                const TransferBatch& messages) {
  const auto src = [&](std::size_t i) { return topology.link(messages[i].links.front()).src; };
  const auto dst = [&](std::size_t i) { return topology.link(messages[i].links.back()).dst; };
  const auto waits_for = [&](std::size_t later, std::size_t sooner) {
    if (!share(messages[later].chunks, messages[sooner].chunks)) {
      return false;
    }
    const bool copies = messages[later].op == Op::kCopy || messages[sooner].op == Op::kCopy;
    return dst(sooner) == src(later) || src(sooner) == dst(later) ||
           (dst(sooner) == dst(later) && copies);
  };
  std::vector<Ticks> start(messages.size(), Ticks{-1});
  std::vector<Ticks> end(messages.size());
  std::vector<Ticks> free(topology.num_links());
  std::set<Ticks> instants{Ticks{}};
  while (!instants.empty()) {
    const Ticks now = *instants.begin();
    instants.erase(instants.begin());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      bool can = start[i] < Ticks{};
      for (std::size_t before = 0; before < i && can; ++before) {
        can = !waits_for(i, before) || (start[before] >= Ticks{} && end[before] <= now);
      }
      Ticks head = now;
      for (const LinkId link : messages[i].links) {
        can = can && free[link.index()] <= head;
        head += topology.link(link).latency;
      }
      if (!can) {
        continue;
      }
      const Bytes bytes = collective.chunks().bytes(messages[i].chunks);
      start[i] = now;
      end[i] = now + route_time(topology, messages[i].links, bytes);
      instants.insert(end[i]);
      head = now;
      Ticks way;
      for (const LinkId link : messages[i].links) {
        free[link.index()] = head + link_cost(topology.link(link), bytes, model).busy;
        // Whoever gets there after any way of those that there are.
        for (std::size_t other = 0; other < messages.size(); ++other) {
          Ticks before;
          for (const LinkId on_the_way : messages[other].links) {
            if (on_the_way == link) {
              instants.insert(std::max(now, free[link.index()] - before));
            }
            before += topology.link(on_the_way).latency;
          }
        }
        head += topology.link(link).latency;
      }
      instants.erase(now);
    }
  }
  return start;
}

/// A walk through switches from one NPU to another.
std::vector<LinkId> random_route(const Topology& topology, Rng& rng) {
  for (;;) {
    std::vector<LinkId> route;
    NodeId node(rng.below(topology.num_npus()));
    do {
      const auto out = topology.out_links(node);
      if (out.empty() || route.size() > 3) {
        route.clear();
        break;
      }
      route.push_back(out[rng.below(static_cast<std::uint32_t>(out.size()))]);
      node = topology.link(route.back()).dst;
    } while (!topology.is_npu(node));
    std::set<LinkId> distinct(route.begin(), route.end());
    if (!route.empty() && distinct.size() == route.size()) {
      return route;
    }
  }
}

RC_GTEST_PROP(MessageScheduler, StartsWhatTheNaiveOneStarts, ()) {
  const auto number = *rc::gen::arbitrary<std::uint64_t>();
  Rng rng(number);
  const Topology topology = rng.below(2) == 0 ? testing::random_network(number, {.max_npus = 5})
                                              : testing::random_switched_network(number, 5);
  RC_PRE(topology.num_npus() > 1);
  const LinkModel model = rng.below(2) == 0 ? LinkModel::kHold : LinkModel::kPipelined;
  const Collective collective =
      Collective::over_all(CollectiveKind::kAllReduce, {4'000}, 4, topology.num_npus()).value();
  TransferBatch messages;
  const std::uint32_t count = 1 + rng.below(30);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::vector<ChunkId> chunks;
    for (std::uint32_t chunk = 0; chunk < 4; ++chunk) {
      if (rng.below(3) == 0) {
        chunks.emplace_back(chunk);
      }
    }
    if (chunks.empty()) {
      chunks.emplace_back(rng.below(4));
    }
    const std::vector<LinkId> links = random_route(topology, rng);
    if (topology.link(links.front()).src == topology.link(links.back()).dst) {
      continue;
    }
    messages.append({.start = {},
                     .op = rng.below(2) == 0 ? Op::kCopy : Op::kReduce,
                     .links = links,
                     .chunks = chunks});
  }
  const std::vector<Ticks> expected = naive_starts(topology, collective, model, messages);
  const auto made = replay::schedule_messages(topology, collective, model, messages);
  RC_ASSERT(made.has_value());
  std::vector<test::ListedTransfer> naive;
  for (const std::uint32_t i : replay::start_order(messages, expected)) {
    naive.push_back(test::listed(messages[i]));
    naive.back().start = expected[i].ps;
  }
  RC_ASSERT(test::listed(*made) == naive);
}

}  // namespace
}  // namespace tacos
