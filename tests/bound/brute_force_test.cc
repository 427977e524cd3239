// SPDX-License-Identifier: MIT
// Bounds against all cuts and all partitions of small random networks with switches and relays.
#include <algorithm>
#include <bit>
#include <vector>

#include <gtest/gtest.h>

#include "tacos/bound.h"

#include "base/numbers/rng.h"
#include "base/numbers/wide.h"

namespace tacos {
namespace {

/// A directed ring through all nodes, so that everyone reaches everyone, and random links.
enum class Speeds { kUsual, kExtreme };

Topology random_network(Rng& rng,
                        std::uint32_t npus,
                        std::uint32_t switches,
                        bool symmetric,
                        Speeds speeds = Speeds::kUsual) {
  TopologyBuilder builder("random", npus, switches);
  const std::uint32_t nodes = npus + switches;
  const auto link = [&](std::uint32_t a, std::uint32_t b) {
    const Link made{
        .src = NodeId(a),
        .dst = NodeId(b),
        .bandwidth = {speeds == Speeds::kUsual
                          ? (1 + rng.below(6)) * 10'000'000'000LL
                          : kMaxBytesPerSecond -
                                rng.below(1'000'000'000) * std::int64_t{rng.below(1'000'000)}},
        .latency = {rng.below(4) * 100'000LL}};
    if (symmetric) {
      builder.add_both(made);
    } else {
      builder.add_link(made);
    }
  };
  const std::uint32_t step = nodes > 2 && rng.below(2) == 0 && nodes % 2 == 1 ? 2 : 1;
  for (std::uint32_t node = 0; node < nodes; ++node) {
    link(node, (node + step) % nodes);
  }
  for (std::uint32_t i = rng.below(2 * nodes + 1); i > 0; --i) {
    const std::uint32_t a = rng.below(nodes);
    const std::uint32_t b = rng.below(nodes);
    if (a != b) {
      link(a, b);
    }
  }
  return std::move(builder).build().value();
}

Int128 capacity(const Topology& topology, std::uint32_t from) {
  Int128 sum = 0;
  for (const Link& link : topology.links()) {
    if (((from >> link.src.value()) & 1U) != 0 && ((from >> link.dst.value()) & 1U) == 0) {
      sum += link.bandwidth.bytes_per_second;
    }
  }
  return sum;
}

std::int64_t ceil_time(Int128 bytes, Int128 bandwidth) {
  return static_cast<std::int64_t>(
      std::min(Int128{kMaxTime.ps}, (bytes * kPsPerSecond + bandwidth - 1) / bandwidth));
}

/// Bytes that must leave the sending side, by the definition of the collective.
std::int64_t demand(const Collective& collective, std::uint32_t sending) {
  const std::int64_t n = collective.num_participants();
  const std::int64_t size = collective.size().count;
  std::int64_t senders = 0;
  std::int64_t sent = 0;
  for (std::uint32_t p = 0; p < n; ++p) {
    if (((sending >> collective.participants()[p].value()) & 1U) != 0) {
      ++senders;
      sent += static_cast<std::int64_t>(Int128{size} * (p + 1) / n - Int128{size} * p / n);
    }
  }
  const bool root_sends = ((sending >> collective.root().value()) & 1U) != 0;
  if (senders == 0 || senders == n) {
    return 0;
  }
  switch (collective.kind()) {
    case CollectiveKind::kAllGather:
      return sent;
    case CollectiveKind::kReduceScatter:
      return size - sent;
    case CollectiveKind::kGather:
      return root_sends ? 0 : sent;
    case CollectiveKind::kScatter:
      return root_sends ? size - sent : 0;
    case CollectiveKind::kBroadcast:
      return root_sends ? size : 0;
    case CollectiveKind::kReduce:
      return root_sends ? 0 : size;
    case CollectiveKind::kAllReduce:
      return size;
    case CollectiveKind::kAllToAll:
      return size / n * senders * (n - senders);
    case CollectiveKind::kCustom:
      break;
  }
  return 0;
}

std::int64_t worst_cut(const Topology& topology, const Collective& collective) {
  std::int64_t worst = 0;
  for (std::uint32_t sending = 1; sending < (1U << topology.num_nodes()) - 1; ++sending) {
    if (const std::int64_t bytes = demand(collective, sending); bytes > 0) {
      worst = std::max(worst, ceil_time(bytes, capacity(topology, sending)));
    }
  }
  return worst;
}

/// Least bandwidth out of (or into) the NPUs `part` with any switches.
Int128 least_out(const Topology& topology, std::uint32_t part, bool into) {
  Int128 least = kMaxInt128;
  const std::uint32_t all = (1U << topology.num_nodes()) - 1;
  for (std::uint32_t w = 0; w < 1U << topology.num_switches(); ++w) {
    const std::uint32_t side = part | (w << topology.num_npus());
    least = std::min(least, capacity(topology, into ? all & ~side : side));
  }
  return least;
}

/// Over all partitions of all NPUs, every one of which takes part.
std::int64_t worst_partition(const Topology& topology, std::int64_t size) {
  const std::uint32_t n = topology.num_npus();
  std::vector<Int128> out(1U << n);
  std::vector<Int128> in(1U << n);
  for (std::uint32_t part = 1; part < 1U << n; ++part) {
    out[part] = least_out(topology, part, false);
    in[part] = least_out(topology, part, true);
  }
  std::int64_t worst = 0;
  std::vector<std::uint32_t> label(n, 0);
  for (;;) {
    const std::uint32_t parts = *std::max_element(label.begin(), label.end()) + 1;
    std::vector<std::uint32_t> members(parts, 0);
    for (std::uint32_t npu = 0; npu < n; ++npu) {
      members[label[npu]] |= 1U << npu;
    }
    Int128 sum_out = 0;
    Int128 sum_in = 0;
    for (const std::uint32_t part : members) {
      sum_out += out[part];
      sum_in += in[part];
    }
    if (parts > 1) {
      worst = std::max(worst, ceil_time(Int128{2} * (parts - 1) * size, std::min(sum_out, sum_in)));
    }
    // The next restricted growth string.
    std::uint32_t at = n;
    while (--at > 0) {
      const std::uint32_t most = *std::max_element(label.begin(), label.begin() + at) + 1;
      if (label[at] < most) {
        ++label[at];
        std::fill(label.begin() + at + 1, label.end(), 0);
        break;
      }
    }
    if (at == 0) {
      return worst;
    }
  }
}

/// Every certificate of a report proves what it says.
void expect_proven(const Topology& topology,
                   const Collective& collective,
                   const BoundReport& report) {
  std::vector<const Bound*> bounds{&report.best, &report.bandwidth};
  if (report.chunk_count) {
    bounds.push_back(&*report.chunk_count);
  }
  for (const Bound* bound : bounds) {
    const Result<Ticks> checked = check_certificate(topology, collective, bound->certificate);
    ASSERT_TRUE(checked) << bound->name << ": " << checked.error().message;
    EXPECT_EQ(checked->ps, bound->time.ps);
    EXPECT_FALSE(explain(topology, collective, bound->certificate).empty());
  }
  EXPECT_GE(report.best.time, report.bandwidth.time);
}

std::vector<NodeId> random_participants(Rng& rng, std::uint32_t npus) {
  std::vector<NodeId> participants;
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    if (npus - npu + participants.size() <= 2 || rng.below(4) != 0) {
      participants.emplace_back(npu);
    }
  }
  return participants;
}

void compare_with_all_cuts(const Topology& topology, const Collective& collective) {
  const BoundReport report = compute_bounds(topology, collective).value();
  const BoundReport cheap =
      compute_bounds(topology, collective, {.effort = BoundEffort::kCheap}).value();
  expect_proven(topology, collective, report);
  expect_proven(topology, collective, cheap);
  EXPECT_LE(cheap.bandwidth.time, report.bandwidth.time);
  const std::int64_t worst = worst_cut(topology, collective);
  const CollectiveKind kind = collective.kind();
  if (kind == CollectiveKind::kAllReduce) {
    EXPECT_GE(report.bandwidth.time.ps, worst);
  } else if (kind != CollectiveKind::kAllToAll) {
    EXPECT_EQ(report.bandwidth.time.ps, worst);
    EXPECT_TRUE(report.bandwidth.exact);
  }
}

/// All collectives on random networks with switches and relays.
void compare_all(std::uint64_t first_seed, std::uint64_t last_seed, Bytes size, Speeds speeds) {
  for (std::uint64_t seed = first_seed; seed <= last_seed; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const std::uint32_t npus = 2 + rng.below(6);
    const Topology topology = random_network(rng, npus, rng.below(4), seed % 3 == 0, speeds);
    const std::vector<NodeId> participants = random_participants(rng, npus);
    const NodeId root = participants[rng.below(static_cast<std::uint32_t>(participants.size()))];
    for (const CollectiveKind kind : collective_kinds()) {
      SCOPED_TRACE(to_string(kind));
      const std::optional<NodeId> rooted = is_rooted(kind) ? std::optional(root) : std::nullopt;
      compare_with_all_cuts(topology,
                            Collective::make(kind, size, 2, participants, rooted).value());
    }
  }
}

constexpr std::int64_t kSize = 5040LL * 1'000'000;

TEST(BruteForce, FindsNoCutWorseThanTheExactOne) {
  compare_all(1, 400, Bytes{kSize}, Speeds::kUsual);
}

TEST(BruteForce, FindsNoCutWorseWhenShardsDiffer) {
  compare_all(1001, 1200, Bytes{97}, Speeds::kUsual);
}

TEST(BruteForce, FindsNoCutWorseAtTheEdgeOfTheNumbers) {
  compare_all(2001, 2200, Bytes{(kMaxSizeBytes - 1) / 8}, Speeds::kExtreme);
}

TEST(BruteForce, FindsNoPartitionWorseThanTheExactOne) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const std::uint32_t npus = 2 + rng.below(6);
    const std::uint32_t switches = seed % 2 == 0 ? 0 : rng.below(4);
    const Topology topology = random_network(rng, npus, switches, seed % 3 == 0);
    const Collective collective =
        Collective::over_all(CollectiveKind::kAllReduce, Bytes{kSize}, 1, npus).value();
    const BoundReport report = compute_bounds(topology, collective).value();
    expect_proven(topology, collective, report);
    EXPECT_EQ(report.bandwidth.time.ps,
              std::max(worst_cut(topology, collective), worst_partition(topology, kSize)));
    EXPECT_TRUE(report.bandwidth.exact);
  }
}

}  // namespace
}  // namespace tacos
