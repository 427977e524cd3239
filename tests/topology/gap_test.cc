// SPDX-License-Identifier: MIT
// What a message costs a link beyond its bytes: from the spec to the schedule.
#include <algorithm>

#include <gmock/gmock.h>

#include "tacos/bound.h"
#include "tacos/simulate.h"
#include "tacos/verify.h"

#include "schedule/builder.h"
#include "support/problems.h"

namespace tacos {
namespace {

using ::testing::HasSubstr;
using testing::network;
using testing::problem;
using testing::synthesize_verified;

TEST(Gap, IsReadFromSpecsAndFiles) {
  const Topology mesh = network("mesh:2x2,gap=100ns/200ns");
  for (const Link& link : mesh.links()) {
    const bool first = link.src.value() / 2 == link.dst.value() / 2;
    EXPECT_EQ(link.gap.ps, first ? 100'000 : 200'000);
  }
  for (const char* spec : {"mesh:2x2,gap=100ns",
                           "switch:4,gap=1us",
                           "dragonfly:2x3,gap=1ns/2ns",
                           "leaf-spine:2x2x2,gap=5ns",
                           "ring:2*fc:3,gap=7ps"}) {
    const Topology made = network(spec);
    EXPECT_TRUE(std::all_of(made.links().begin(), made.links().end(), [](const Link& link) {
      return link.gap > Ticks{};
    })) << spec;
    const Topology read = parse_topology_json(topology_to_json(made), "file").value();
    EXPECT_TRUE(std::equal(
        made.links().begin(), made.links().end(), read.links().begin(), read.links().end()))
        << spec;
  }
  const Topology product = network("torus:3x3,gap=9ns");
  EXPECT_EQ(parse_topology_json(product_to_json(product), "file").value().dimensions().front().gap,
            Ticks{9'000});
  EXPECT_THAT(topology_to_json(network("ring:3")), ::testing::Not(HasSubstr("gap")));
}

TEST(Gap, OutOfRangeIsRefused) {
  EXPECT_FALSE(parse_topology_spec("ring:4,gap=-1ns"));
  EXPECT_FALSE(parse_topology_spec("ring:4,gap=1000000000s"));
  EXPECT_FALSE(parse_topology_spec("mesh:2x2,gap=1ns/1ns/1ns"));
  const auto file = [](const char* gap) {
    return parse_topology_json(
        fmt::format(R"({{"version": 2, "npus": 2, "links": [)"
                    R"({{"src": 0, "dst": 1, "bandwidth_Bps": 1, "gap_ps": {}}}]}})",
                    gap),
        "file");
  };
  EXPECT_TRUE(file("5"));
  EXPECT_FALSE(file("-1"));
  EXPECT_FALSE(file("1e30"));
}

TEST(Gap, KeepsALinkBusyUnderPipelinedOnly) {
  const Link link{.src = NodeId(0),
                  .dst = NodeId(1),
                  .bandwidth = {1'000'000'000'000},
                  .latency = {500},
                  .gap = {300}};
  const LinkCost pipelined = link_cost(link, {1'000}, LinkModel::kPipelined);
  EXPECT_EQ(pipelined.busy.ps, 1'300);
  EXPECT_EQ(pipelined.arrival.ps, 1'500);
  const LinkCost hold = link_cost(link, {1'000}, LinkModel::kHold);
  EXPECT_EQ(hold.busy.ps, 1'500);
  EXPECT_EQ(hold.arrival.ps, 1'500);
}

TEST(Gap, TheVerifierWantsItBetweenTransfers) {
  TopologyBuilder builder("pair", 2);
  builder.add_both({.src = NodeId(0),
                    .dst = NodeId(1),
                    .bandwidth = {1'000'000'000'000},
                    .latency = {500},
                    .gap = {300}});
  const Topology pair = std::move(builder).build().value();
  const Collective broadcast =
      Collective::make(CollectiveKind::kBroadcast, {2'000}, 2, {NodeId(0), NodeId(1)}).value();
  const auto valid = [&](std::int64_t second) {
    ScheduleBuilder schedule(pair.num_links());
    const LinkId link(0);
    for (const auto& [chunk, start] : {std::pair{0U, std::int64_t{0}}, {1U, second}}) {
      const ChunkId moved(chunk);
      schedule.append({.start = {start},
                       .op = Op::kCopy,
                       .links = std::span(&link, 1),
                       .chunks = std::span(&moved, 1)},
                      {start + 1'500});
    }
    return verify(
               pair, broadcast, std::move(schedule).build(), {.link_model = LinkModel::kPipelined})
        ->valid();
  };
  EXPECT_TRUE(valid(1'300));
  EXPECT_FALSE(valid(1'299));
}

TEST(Gap, MakesChunksFewerAndLarger) {
  const auto made = [](const char* spec, CollectiveKind kind) {
    const Topology topology = network(spec);
    return synthesize_verified(
        topology, problem(topology, kind, 1'000'000), {.link_model = LinkModel::kPipelined});
  };
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kBroadcast}) {
    const Synthesis without = made("mesh:3x3,lat=0.2us", kind);
    const Synthesis with = made("mesh:3x3,lat=0.2us,gap=5us", kind);
    EXPECT_LT(with.collective->num_chunks(), without.collective->num_chunks() / 2);
    EXPECT_GT(with.schedule->collective_time(), without.schedule->collective_time());
  }
}

TEST(Gap, EveryEngineKnowsIt) {
  for (const char* spec : {"mesh:3x3,gap=2us",
                           "hypercube:3,gap=2us",
                           "mesh:2x2,gap=3us",
                           "torus:4x4,gap=1us/0us",
                           "torus:3x3,gap=2us",
                           "h100:1",
                           "switch:6,gap=1us",
                           "ring:2*fc:2*switch:2,gap=2us"}) {
    const Topology topology = network(spec);
    for (const std::string_view engine : engine_names()) {
      for (const CollectiveKind kind : collective_kinds()) {
        const Problem task = problem(
            topology, kind == CollectiveKind::kCustom ? CollectiveKind::kAllReduce : kind, 65'536);
        if (engine != "auto" && !engine_handles(engine, topology, task)) {
          continue;
        }
        const SynthesisOptions options{.engine = std::string(engine),
                                       .link_model = LinkModel::kPipelined};
        const Result<Synthesis> made = synthesize(topology, task, options);
        if (!made) {
          continue;
        }
        EXPECT_TRUE(
            verify(
                topology, *made->collective, *made->schedule, {.link_model = LinkModel::kPipelined})
                ->valid())
            << spec << ' ' << engine;
        EXPECT_LE(
            simulate(
                topology, *made->collective, *made->schedule, {.link_model = LinkModel::kPipelined})
                ->time,
            made->schedule->collective_time())
            << spec << ' ' << engine;
      }
    }
  }
}

TEST(Gap, PortsTakeOneMessageAtATime) {
  const Topology topology = network("switch:16,gap=250ns");
  const Collective gather =
      Collective::make(CollectiveKind::kAllGather,
                       {16},
                       1,
                       problem(topology, CollectiveKind::kAllGather, 1).participants)
          .value();
  const Bound bound =
      compute_bounds(topology, gather, {.link_model = LinkModel::kPipelined}).value().best;
  EXPECT_EQ(bound.name, "growth");
  EXPECT_EQ(bound.time.ps, 1'750'000);
  EXPECT_EQ(check_certificate(topology, gather, bound.certificate).value(), bound.time);
}

}  // namespace
}  // namespace tacos
