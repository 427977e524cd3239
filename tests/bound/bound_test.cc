// SPDX-License-Identifier: MIT
// Published values, certificates that were tampered with, and inputs at the edge.
#include "tacos/bound.h"

#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/problems.h"

namespace tacos {
namespace {

using ::testing::HasSubstr;

using testing::kGiB;

struct Case {
  Topology topology;
  Collective collective;
  BoundReport report;
};

Case judge(const std::string& spec,
           CollectiveKind kind,
           std::int64_t size,
           std::int64_t chunks = 1,
           LinkModel model = LinkModel::kHold) {
  Topology topology = parse_topology_spec(spec).value();
  Collective collective =
      Collective::over_all(kind, Bytes{size}, chunks, topology.num_npus()).value();
  BoundReport report = compute_bounds(topology, collective, {.link_model = model}).value();
  return {std::move(topology), std::move(collective), std::move(report)};
}

std::string microseconds(Ticks time) {
  return fmt::format("{:.2f}", to_us(time));
}

Ticks recheck(const Case& judged, const Certificate& certificate) {
  const Result<Ticks> checked = check_certificate(judged.topology, judged.collective, certificate);
  return checked ? *checked : Ticks{-1};
}

TEST(ChunkCount, EqualsTheReferenceTimesOfThePaper) {
  struct Row {
    const char* spec;
    std::int64_t size;
    std::int64_t chunks;
    const char* us;
  };
  for (const Row& row : {Row{"mesh:5x5,bw=50GiBps", kGiB, 1, "9606.00"},
                         Row{"mesh:10x10,bw=100GiBps,lat=1us", kGiB, 2, "5049.00"},
                         Row{"mesh:5x5,bw=50GiBps/75GiBps", kGiB, 1, "8005.00"},
                         Row{"mesh:3x3x3,bw=50GiBps", kGiB, 1, "6671.17"},
                         Row{"torus:3x4x5,bw=50GiBps", 2 * kGiB, 2, "6676.67"},
                         Row{"torus:4x2x3,bw=50GiBps", 3 * kGiB, 3, "11673.67"}}) {
    const Case judged = judge(row.spec, CollectiveKind::kAllGather, row.size, row.chunks);
    EXPECT_EQ(microseconds(judged.report.chunk_count->time), row.us) << row.spec;
    EXPECT_LE(judged.report.best.time, judged.report.chunk_count->time);
  }
}

TEST(ChunkCount, OverlapsLatencyWhenPipelined) {
  // 15 shards of 64 KiB over two links: eight on one of them, one latency.
  const Case judged =
      judge("mesh:4x4", CollectiveKind::kAllGather, 1LL << 20U, 1, LinkModel::kPipelined);
  EXPECT_EQ(judged.report.chunk_count->time.ps,
            500'000 + 8 * serialization_time(Bytes{1LL << 16U}, Bandwidth{50'000'000'000}).ps);
  EXPECT_EQ(recheck(judged, judged.report.chunk_count->certificate),
            judged.report.chunk_count->time);
}

TEST(AllToAll, ReachesTheOptimaOfTheLinearProgram) {
  struct Row {
    const char* spec;
    double ms;
  };
  for (const Row& row : {Row{"mesh:4x4", 21.475},
                         Row{"mesh:5x5", 25.770},
                         Row{"mesh:8x8", 42.950},
                         Row{"mesh:3x3x3", 14.317},
                         Row{"torus:4x4x4", 10.737},
                         Row{"mesh:4x4,bw=100GBps/50GBps", 21.475},
                         Row{"dragonfly:4x5,bw=400GBps/200GBps", 4.295},
                         Row{"dgx1", 14.317},
                         Row{"switch:8*switch:4,bw=300GBps/25GBps", 32.212},
                         Row{"ring:2*fc:4*switch:8,bw=200GBps/100GBps/50GBps", 18.791}}) {
    const Case judged = judge(row.spec, CollectiveKind::kAllToAll, kGiB);
    EXPECT_NEAR(static_cast<double>(judged.report.bandwidth.time.ps) * 1e-9, row.ms, 0.001)
        << row.spec;
  }
}

TEST(AllToAll, UsesLengthsWhereNoCutIsTight) {
  // Three NPUs joined to three others: 42 hops for 30 pairs, and no cut as narrow as that.
  TopologyBuilder builder("K3,3", 6);
  for (std::uint32_t pair = 0; pair < 9; ++pair) {
    builder.add_both({NodeId(pair / 3), NodeId(3 + pair % 3), Bandwidth{50'000'000'000}, Ticks{0}});
  }
  const Topology topology = std::move(builder).build().value();
  const Collective collective =
      Collective::over_all(CollectiveKind::kAllToAll, Bytes{6'000'000}, 1, 6).value();
  const Bound bound = compute_bounds(topology, collective).value().bandwidth;
  EXPECT_EQ(bound.certificate.kind, CertificateKind::kLengths);
  EXPECT_EQ(bound.time.ps, 46'666'667);
  EXPECT_EQ(*check_certificate(topology, collective, bound.certificate), bound.time);
  EXPECT_THAT(explain(topology, collective, bound.certificate),
              HasSubstr("1 MB for every pair make 42 hops in all"));
}

TEST(Combined, CountsLatencyForSmallMessages) {
  const Case reduce = judge("mesh:8x8", CollectiveKind::kAllReduce, 1LL << 20U);
  EXPECT_EQ(microseconds(reduce.report.best.time), "17.49");
  EXPECT_EQ(reduce.report.best.name, "combined");
  const Case gather = judge("torus:10x10x10", CollectiveKind::kAllGather, 1LL << 16U);
  EXPECT_EQ(microseconds(gather.report.best.time), "7.50");
  // 15 hops to the farthest, or 15 the other way round.
  const Case scatter = judge("torus:10x10x10", CollectiveKind::kReduceScatter, 1LL << 16U);
  EXPECT_EQ(scatter.report.best.time, gather.report.best.time);
}

TEST(Combined, CountsTheWholeWayThroughSwitches) {
  // Within the box 0.7 us; to the other box up to the switch, to a NIC, across, and up again.
  const Case judged = judge("dgx2:2", CollectiveKind::kAllGather, 1'000);
  EXPECT_EQ(microseconds(judged.report.best.time), "4.00");
  EXPECT_EQ(recheck(judged, judged.report.best.certificate), judged.report.best.time);
}

TEST(Bounds, CountNoLinkFromASwitchThatHearsOnlyFromItsOwnNpu) {
  // Whichever NPU is the root: so all roots have the same bound, and the All-Reduce has it too.
  const std::string spec = "fc:4*ring:3*switch:1,bw=50GBps/25GBps/25GBps,lat=0ns/700ns/0ns";
  const Case all = judge(spec, CollectiveKind::kAllReduce, 9);
  EXPECT_EQ(all.report.best.time, Ticks{700'052});
  EXPECT_EQ(recheck(all, all.report.best.certificate), Ticks{700'052});
  for (const CollectiveKind kind : {CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
    for (std::uint32_t root = 0; root < all.topology.num_npus(); ++root) {
      const Collective collective =
          Collective::over_all(kind, {9}, 1, all.topology.num_npus(), NodeId(root)).value();
      const BoundReport report = compute_bounds(all.topology, collective).value();
      EXPECT_EQ(report.best.time, Ticks{700'052}) << root;
      EXPECT_EQ(*check_certificate(all.topology, collective, report.best.certificate),
                report.best.time);
    }
  }
}

TEST(Bounds, AreExplainedToAnEngineer) {
  const auto sentence = [](const char* spec, CollectiveKind kind) {
    const Case judged = judge(spec, kind, kGiB);
    return explain(judged.topology, judged.collective, judged.report.bandwidth.certificate);
  };
  EXPECT_EQ(sentence("mesh:8x8", CollectiveKind::kAllGather),
            "NPU 0 must receive 63/64 of the buffer over 2 links of 50 GB/s");
  EXPECT_EQ(sentence("mesh:5x5", CollectiveKind::kReduceScatter),
            "NPU 0 must send 24/25 of the buffer over 2 links of 50 GB/s");
  EXPECT_EQ(sentence("a100:2", CollectiveKind::kAllGather),
            "NPU 0 must receive 15/16 of the buffer over 2 links, 325 GB/s in all");
  EXPECT_EQ(sentence("mesh:8x8", CollectiveKind::kAllReduce),
            "all 64 NPUs must exchange 126 copies of the buffer, over 11.2 TB/s in all");
  EXPECT_THAT(sentence("switch:8*switch:4,bw=300GBps/25GBps", CollectiveKind::kAllGather),
              HasSubstr("must receive 3/4 of the buffer over 8 links of 25 GB/s"));
}

/// A certificate and what someone did to it.
struct Forgery {
  const char* what;
  CollectiveKind kind;
  std::function<void(Certificate&)> tamper;
};

TEST(Certificates, AreRejectedWhenTamperedWith) {
  const std::vector<Forgery> forgeries{
      {"time", CollectiveKind::kAllGather, [](Certificate& c) { c.time.ps += 1; }},
      {"bytes", CollectiveKind::kAllGather, [](Certificate& c) { c.bytes += 1; }},
      {"bandwidth", CollectiveKind::kAllGather, [](Certificate& c) { c.bandwidth -= 1; }},
      {"copies", CollectiveKind::kAllReduce, [](Certificate& c) { c.copies += 2; }},
      {"direction", CollectiveKind::kAllGather, [](Certificate& c) { c.reversed = true; }},
      {"other set", CollectiveKind::kAllGather, [](Certificate& c) { c.receivers = {NodeId(5)}; }},
      {"empty set", CollectiveKind::kAllGather, [](Certificate& c) { c.receivers.clear(); }},
      {"no such node",
       CollectiveKind::kAllGather,
       [](Certificate& c) { c.receivers.emplace_back(99); }},
      {"twice",
       CollectiveKind::kAllGather,
       [](Certificate& c) { c.receivers.push_back(c.receivers[0]); }},
      {"no kind", CollectiveKind::kAllGather, [](Certificate& c) { c = Certificate{}; }},
      {"partition of another collective",
       CollectiveKind::kAllGather,
       [](Certificate& c) { c.kind = CertificateKind::kPartition; }},
      {"parts missing", CollectiveKind::kAllReduce, [](Certificate& c) { c.parts.pop_back(); }},
      {"parts merged", CollectiveKind::kAllReduce, [](Certificate& c) { c.parts[1] = 0; }},
      {"huge part", CollectiveKind::kAllReduce, [](Certificate& c) { c.parts[1] = 1U << 31U; }},
      {"an NPU as a switch",
       CollectiveKind::kAllReduce,
       [](Certificate& c) { c.part_switches.emplace_back(0, NodeId(1)); }},
      {"lengths",
       CollectiveKind::kAllToAll,
       [](Certificate& c) {
         c.kind = CertificateKind::kLengths;
         c.lengths.assign(3, 1);
       }},
  };
  for (const Forgery& forgery : forgeries) {
    const Case judged = judge("mesh:4x4", forgery.kind, kGiB);
    Certificate forged = judged.report.bandwidth.certificate;
    ASSERT_EQ(recheck(judged, forged), judged.report.bandwidth.time);
    forgery.tamper(forged);
    EXPECT_EQ(recheck(judged, forged).ps, -1) << forgery.what;
  }
}

TEST(Certificates, AreRejectedWhenTheirTimingIsWrong) {
  const std::vector<Forgery> forgeries{
      {"radius", CollectiveKind::kAllGather, [](Certificate& c) { c.timing->radius.ps += 1; }},
      {"far label",
       CollectiveKind::kAllGather,
       [](Certificate& c) { c.timing->to_target[15].ps += 1'000'000; }},
      {"target label",
       CollectiveKind::kAllGather,
       [](Certificate& c) { c.timing->to_target[c.timing->target.index()].ps = 1; }},
      {"target outside",
       CollectiveKind::kAllGather,
       [](Certificate& c) { c.timing->target = NodeId(9); }},
      {"no such target",
       CollectiveKind::kAllGather,
       [](Certificate& c) { c.timing->target = NodeId(); }},
      {"labels missing",
       CollectiveKind::kAllGather,
       [](Certificate& c) { c.timing->to_target.pop_back(); }},
      {"late source",
       CollectiveKind::kAllReduce,
       [](Certificate& c) {
         for (Ticks& label : c.timing->from_source) {
           label.ps += 1'000'000;
         }
       }},
      {"no source",
       CollectiveKind::kAllReduce,
       [](Certificate& c) { c.timing->source = NodeId(); }},
  };
  for (const Forgery& forgery : forgeries) {
    const Case judged = judge("mesh:4x4", forgery.kind, 1LL << 16U);
    Certificate forged = judged.report.best.certificate;
    ASSERT_TRUE(forged.timing);
    ASSERT_EQ(recheck(judged, forged), judged.report.best.time);
    forgery.tamper(forged);
    EXPECT_EQ(recheck(judged, forged).ps, -1) << forgery.what;
  }
}

TEST(Certificates, OfOneNetworkProveNothingAboutAnother) {
  const Case mesh = judge("mesh:4x4", CollectiveKind::kAllGather, kGiB);
  const Case torus = judge("torus:4x4", CollectiveKind::kAllGather, kGiB);
  const Case small = judge("ring:2", CollectiveKind::kAllGather, kGiB);
  EXPECT_EQ(recheck(torus, mesh.report.bandwidth.certificate).ps, -1);
  EXPECT_FALSE(
      check_certificate(small.topology, mesh.collective, mesh.report.bandwidth.certificate));
}

TEST(Degenerate, OneNpuHasNothingToDo) {
  for (const CollectiveKind kind : collective_kinds()) {
    const Case judged = judge("ring:1", kind, 100);
    EXPECT_EQ(judged.report.best.time.ps, 0);
    EXPECT_EQ(recheck(judged, judged.report.best.certificate).ps, 0);
  }
}

TEST(Degenerate, TwoNpusExchange) {
  // 100 GB/s both ways; shards of 50 bytes, or the whole 100.
  for (const CollectiveKind kind : collective_kinds()) {
    const Case judged = judge("ring:2,bw=100GBps,lat=3ps", kind, 100);
    const bool whole = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kBroadcast ||
                       kind == CollectiveKind::kReduce;
    EXPECT_EQ(judged.report.bandwidth.time.ps, whole ? 1000 : 500) << to_string(kind);
    EXPECT_EQ(judged.report.best.time.ps, whole ? 1003 : 503) << to_string(kind);
    EXPECT_EQ(recheck(judged, judged.report.best.certificate), judged.report.best.time);
  }
}

/// "from>to", or "none".
std::string unreachable(const Topology& topology, CollectiveKind kind) {
  const Collective collective =
      Collective::over_all(kind, Bytes{300}, 1, topology.num_npus()).value();
  const BoundReport report = compute_bounds(topology, collective).value();
  if (report.status == BoundStatus::kProven) {
    return "none";
  }
  return fmt::format(
      "{}>{}", report.unreachable->first.value(), report.unreachable->second.value());
}

TEST(Degenerate, UnreachableNpusAreNamed) {
  TopologyBuilder builder("one way", 3);
  builder.add_link({NodeId(0), NodeId(1), Bandwidth{1000}, Ticks{0}});
  builder.add_link({NodeId(1), NodeId(2), Bandwidth{1000}, Ticks{0}});
  const Topology topology = std::move(builder).build().value();
  EXPECT_EQ(unreachable(topology, CollectiveKind::kBroadcast), "none");
  EXPECT_EQ(unreachable(topology, CollectiveKind::kScatter), "none");
  EXPECT_EQ(unreachable(topology, CollectiveKind::kReduce), "1>0");
  EXPECT_EQ(unreachable(topology, CollectiveKind::kAllGather), "1>0");
  EXPECT_EQ(unreachable(topology, CollectiveKind::kAllToAll), "1>0");
}

TEST(Degenerate, RelaysMayCarryButNeedNothing) {
  const Topology topology = parse_topology_spec("mesh:3x1").value();
  const Collective ends =
      Collective::make(CollectiveKind::kAllReduce, Bytes{1000}, 1, {NodeId(0), NodeId(2)}).value();
  const BoundReport report = compute_bounds(topology, ends).value();
  EXPECT_EQ(report.bandwidth.time.ps, 20'000);
  EXPECT_EQ(report.best.time.ps, 1'020'000);
  EXPECT_EQ(*check_certificate(topology, ends, report.best.certificate), report.best.time);
}

TEST(Degenerate, ParticipantsMustExist) {
  const Collective collective =
      Collective::over_all(CollectiveKind::kAllGather, Bytes{100}, 1, 5).value();
  EXPECT_FALSE(compute_bounds(parse_topology_spec("ring:4").value(), collective));
}

TEST(Overflow, IsRefused) {
  const auto sentence = [](const char* spec, std::int64_t size) {
    const Topology topology = parse_topology_spec(spec).value();
    const Collective collective =
        Collective::over_all(CollectiveKind::kAllGather, Bytes{size}, 1, topology.num_npus())
            .value();
    const Result<BoundReport> report = compute_bounds(topology, collective);
    return report ? std::string() : report.error().to_string();
  };
  EXPECT_THAT(sentence("ring:4,bw=1Bps,lat=1s", kMaxSizeBytes), HasSubstr("53 days"));
  // The search for distances must end although none of them fits.
  EXPECT_THAT(sentence("ring:6,lat=2305844s", 1LL << 30U), HasSubstr("link 0>1"));
  EXPECT_THAT(sentence("ring:6,lat=90000s", 1LL << 30U), "");
}

TEST(Scale, WalksThroughTheSwitchOfManyBoxesOnce) {
  // 20 s when every NPU looked at every port.
  const Case judged = judge("h100:20000", CollectiveKind::kAllGather, 160'000'000);
  EXPECT_TRUE(judged.report.bandwidth.exact);
  EXPECT_EQ(judged.report.bandwidth.time.ps, 399'980'000);
}

TEST(Overflow, IsCountedIn128Bits) {
  // Sixty links of nearly 1e18 bytes per second into each NPU: the sum does not fit 64 bits.
  const Case judged =
      judge("fc:61,bw=999999999999999989Bps", CollectiveKind::kAllGather, kMaxSizeBytes);
  EXPECT_EQ(judged.report.bandwidth.certificate.bandwidth, INT64_MAX);
  EXPECT_EQ(recheck(judged, judged.report.bandwidth.certificate), judged.report.bandwidth.time);
  EXPECT_EQ(judged.report.bandwidth.time.ps, 18'900'352'535);
}

}  // namespace
}  // namespace tacos
