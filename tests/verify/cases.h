// SPDX-License-Identifier: MIT
// Small valid schedules for the tests to check and to break.
//
// Links have 1 byte/ps and 10 ps unless told otherwise and chunks 100 bytes: a transfer takes 110
// ps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"
#include "tacos/verify.h"

#include "support/listed_schedule.h"
#include "verify/cuttings.h"

namespace tacos::test {

inline constexpr std::int64_t kStep = 110;
inline constexpr auto kAllGather = CollectiveKind::kAllGather;
inline constexpr auto kReduceScatter = CollectiveKind::kReduceScatter;
inline constexpr auto kAllReduce = CollectiveKind::kAllReduce;

struct Case {
  Topology topology;
  Collective collective;
  std::vector<ListedTransfer> transfers;
  VerifyOptions options = {};

  [[nodiscard]] VerifyReport report() const {
    return report(totals_of(transfers, topology, collective.chunks()));
  }
  /// The same however the work is cut.
  [[nodiscard]] VerifyReport report(const Schedule::Totals& totals) const {
    const Schedule schedule = listed_schedule(transfers, totals);
    const VerifyReport report = verify(topology, collective, schedule, options).value();
    expect_same_verdict(topology, collective, schedule, options);
    return report;
  }
};

inline Link make_link(std::uint32_t src,
                      std::uint32_t dst,
                      std::int64_t latency = 10,
                      std::int64_t bytes_per_second = 1'000'000'000'000) {
  return {NodeId(src), NodeId(dst), Bandwidth{bytes_per_second}, Ticks{latency}};
}

/// NPU i sends over link i to NPU i + 1 (modulo n).
inline Topology one_way_ring(std::uint32_t npus) {
  TopologyBuilder builder("ring", npus);
  for (std::uint32_t i = 0; i < npus; ++i) {
    builder.add_link(make_link(i, (i + 1) % npus));
  }
  return std::move(builder).build().value();
}

/// Link 2i goes from NPU i to NPU i + 1, link 2i + 1 back.
inline Topology line(std::uint32_t npus) {
  TopologyBuilder builder("line", npus);
  for (std::uint32_t i = 0; i + 1 < npus; ++i) {
    builder.add_both(make_link(i, i + 1));
  }
  return std::move(builder).build().value();
}

/// One switch: link 2i goes up from NPU i, link 2i + 1 down to it; 5 ps each.
inline Topology star(std::uint32_t npus) {
  TopologyBuilder builder("star", npus, 1);
  for (std::uint32_t i = 0; i < npus; ++i) {
    builder.add_both(make_link(i, npus, 5));
  }
  return std::move(builder).build().value();
}

/// Chunks of 100 bytes.
inline Collective make_collective(CollectiveKind kind,
                                  std::int64_t chunks,
                                  std::uint32_t npus,
                                  std::int64_t bytes = 100) {
  const std::int64_t total = kind == CollectiveKind::kAllReduce ? chunks : chunks * npus;
  return Collective::over_all(kind, Bytes{total * bytes}, chunks, npus).value();
}

inline Case ring_all_gather(std::uint32_t npus) {
  Case made{one_way_ring(npus), make_collective(CollectiveKind::kAllGather, 1, npus), {}};
  for (std::uint32_t step = 0; step + 1 < npus; ++step) {
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      made.transfers.push_back({step * kStep, Op::kCopy, {npu}, {(npu + npus - step) % npus}});
    }
  }
  return made;
}

inline Case ring_reduce_scatter(std::uint32_t npus) {
  Case made{one_way_ring(npus), make_collective(CollectiveKind::kReduceScatter, 1, npus), {}};
  for (std::uint32_t step = 0; step + 1 < npus; ++step) {
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      made.transfers.push_back(
          {step * kStep, Op::kReduce, {npu}, {(npu + 2 * npus - 1 - step) % npus}});
    }
  }
  return made;
}

/// Reduce-Scatter, then All-Gather.
inline Case ring_all_reduce(std::uint32_t npus) {
  Case made = ring_reduce_scatter(npus);
  made.collective = make_collective(CollectiveKind::kAllReduce, npus, npus);
  for (ListedTransfer transfer : ring_all_gather(npus).transfers) {
    transfer.start += (npus - 1) * kStep;
    made.transfers.push_back(transfer);
  }
  return made;
}

/// Line of three: every chunk is reduced to NPU 1 and broadcast while the next one is reduced.
inline Case rooted_all_reduce(std::uint32_t chunks) {
  Case made{line(3), make_collective(CollectiveKind::kAllReduce, chunks, 3), {}};
  for (std::uint32_t step = 0; step <= chunks; ++step) {
    if (step < chunks) {
      made.transfers.push_back({step * kStep, Op::kReduce, {0}, {step}});
      made.transfers.push_back({step * kStep, Op::kReduce, {3}, {step}});
    }
    if (step > 0) {
      made.transfers.push_back({step * kStep, Op::kCopy, {1}, {step - 1}});
      made.transfers.push_back({step * kStep, Op::kCopy, {2}, {step - 1}});
    }
  }
  return made;
}

/// Three NPUs at one switch, each sending to both others; the down links are never idle between.
inline Case switched_all_gather() {
  Case made{star(3), make_collective(CollectiveKind::kAllGather, 1, 3), {}};
  for (const std::uint32_t round : {1U, 2U}) {
    for (std::uint32_t npu = 0; npu < 3; ++npu) {
      made.transfers.push_back(
          {(round - 1) * 105, Op::kCopy, {2 * npu, 2 * ((npu + round) % 3) + 1}, {npu}});
    }
  }
  return made;
}

}  // namespace tacos::test
