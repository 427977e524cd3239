// SPDX-License-Identifier: MIT
// What --fail does to a network, and what it refuses.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tacos/topology.h"

namespace tacos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

DegradedTopology degraded(const std::string& spec, const std::vector<std::string>& failures) {
  Result<DegradedTopology> made = apply_failures(*parse_topology_spec(spec), failures);
  EXPECT_TRUE(made) << made.error().to_string();
  return *std::move(made);
}

std::string error_of(const std::string& spec, const std::vector<std::string>& failures) {
  const Result<DegradedTopology> made = apply_failures(*parse_topology_spec(spec), failures);
  EXPECT_FALSE(made);
  return made ? "" : made.error().to_string();
}

/// Bandwidths in MB/s of the links from one node to another.
std::vector<std::int64_t> between(const Topology& topology, std::uint32_t src, std::uint32_t dst) {
  std::vector<std::int64_t> found;
  for (const LinkId link : topology.out_links(NodeId(src))) {
    if (topology.link(link).dst == NodeId(dst)) {
      found.push_back(topology.link(link).bandwidth.bytes_per_second / 1'000'000);
    }
  }
  return found;
}

TEST(Failures, OfALinkTakeBothDirectionsOrOne) {
  const Topology both = degraded("mesh:3x3", {"link:3-4"}).topology;
  EXPECT_EQ(both.num_working_links(), 22U);
  EXPECT_THAT(between(both, 3, 4), IsEmpty());
  EXPECT_THAT(between(both, 4, 3), IsEmpty());
  const Topology one = degraded("mesh:3x3", {"link:3>4"}).topology;
  EXPECT_EQ(one.num_working_links(), 23U);
  EXPECT_THAT(between(one, 3, 4), IsEmpty());
  EXPECT_THAT(between(one, 4, 3), ElementsAre(50'000));
}

TEST(Failures, OfALinkTakeAllParallelOnes) {
  const Topology topology = degraded("dgx1", {"link:0-1"}).topology;
  EXPECT_EQ(topology.num_working_links(), 44U);
}

TEST(Failures, OfAnNpuTakeAllItsLinks) {
  const DegradedTopology left = degraded("mesh:3x3", {"npu:4", "npu:0"});
  EXPECT_THAT(left.failed_npus, ElementsAre(NodeId(0), NodeId(4)));
  EXPECT_EQ(left.topology.num_npus(), 9U);
  EXPECT_EQ(left.topology.num_working_links(), 24U - 8U - 4U);
  EXPECT_THAT(left.topology.out_links(NodeId(4)), IsEmpty());
  EXPECT_THAT(left.topology.in_links(NodeId(0)), IsEmpty());
}

TEST(Failures, LeaveTheIdsOfLinks) {
  const Topology whole = *parse_topology_spec("mesh:3x3");
  const Topology left = degraded("mesh:3x3", {"link:3>4", "npu:0", "slow:7-8=0.5"}).topology;
  ASSERT_EQ(left.num_links(), whole.num_links());
  for (std::uint32_t id = 0; id < whole.num_links(); ++id) {
    Link expected = whole.link(LinkId(id));
    const auto joins = [&](std::uint32_t a, std::uint32_t b) {
      return expected.src == NodeId(a) && expected.dst == NodeId(b);
    };
    EXPECT_EQ(left.failed(LinkId(id)),
              joins(3, 4) || expected.src == NodeId(0) || expected.dst == NodeId(0));
    if (joins(7, 8) || joins(8, 7)) {
      expected.bandwidth.bytes_per_second /= 2;
    }
    EXPECT_EQ(left.link(LinkId(id)), expected) << id;
  }
}

TEST(Failures, AddUp) {
  const Topology once = degraded("mesh:3x3", {"link:3-4"}).topology;
  const Topology twice = apply_failures(once, std::vector<std::string>{"link:0-1"})->topology;
  EXPECT_EQ(twice, degraded("mesh:3x3", {"link:3-4", "link:0-1"}).topology);
}

TEST(Failures, SlowLinksExactly) {
  const Topology topology =
      degraded("dgx1", {"slow:0-1=0.25", "slow:2>3=0.1", "slow:4-5=1"}).topology;
  EXPECT_THAT(between(topology, 0, 1), ElementsAre(6'250, 6'250));
  EXPECT_THAT(between(topology, 1, 0), ElementsAre(6'250, 6'250));
  EXPECT_THAT(between(topology, 2, 3), ElementsAre(2'500, 2'500));
  EXPECT_THAT(between(topology, 3, 2), ElementsAre(25'000, 25'000));
  EXPECT_THAT(between(topology, 4, 5), ElementsAre(25'000, 25'000));
}

TEST(Failures, LeaveAByteASecond) {
  const Topology topology = degraded("ring:3,bw=5Bps", {"slow:0>1=.1", "slow:1>2=0.9"}).topology;
  EXPECT_EQ(topology.link(topology.out_links(NodeId(0))[0]).bandwidth.bytes_per_second, 1);
  EXPECT_EQ(topology.link(topology.out_links(NodeId(1))[0]).bandwidth.bytes_per_second, 4);
}

TEST(Failures, OfLinksToSwitchesAreFine) {
  EXPECT_EQ(degraded("switch:4", {"link:0-4"}).topology.num_working_links(), 6U);
  // Only one direction exists.
  EXPECT_EQ(degraded("ndv2:2", {"link:1-16"}).topology.num_working_links(), 67U);
}

TEST(Failures, DoNotDependOnTheirOrder) {
  EXPECT_EQ(degraded("mesh:3x3", {"npu:4", "link:3-4", "slow:0-1=0.5"}).topology,
            degraded("mesh:3x3", {"slow:0-1=0.5", "link:3-4", "npu:4"}).topology);
}

TEST(Failures, AreInTheName) {
  EXPECT_EQ(degraded("mesh:3x3", {"npu:4", "link:0>1"}).topology.name(),
            "mesh:3x3 --fail npu:4 --fail link:0>1");
  EXPECT_EQ(degraded("mesh:3x3", {}).topology.name(), "mesh:3x3");
}

TEST(Failures, RefuseWhatDoesNotExist) {
  EXPECT_THAT(error_of("mesh:3x3", {"lnk:0-1"}), HasSubstr("did you mean 'link'"));
  EXPECT_THAT(error_of("mesh:3x3", {"memory:1"}), HasSubstr("known are link, npu, slow"));
  EXPECT_THAT(error_of("mesh:3x3", {"link:0-8"}), HasSubstr("no link between node 0 and node 8"));
  EXPECT_THAT(error_of("mesh:3x3", {"link:0>99"}), HasSubstr("no link from node 0 to node 99"));
  EXPECT_THAT(error_of("mesh:3x3", {"link:0"}), HasSubstr("does not name a link"));
  EXPECT_THAT(error_of("mesh:3x3", {"link:"}), HasSubstr("does not name a link"));
  EXPECT_THAT(error_of("mesh:3x3", {"link:0-x"}), HasSubstr("does not name a link"));
  EXPECT_THAT(error_of("mesh:3x3", {"npu:9"}), HasSubstr("NPU 9 does not exist; NPUs are 0 to 8"));
  EXPECT_THAT(error_of("mesh:3x3", {"npu:-1"}), HasSubstr("not the number of an NPU"));
  EXPECT_THAT(error_of("switch:4", {"npu:4"}), HasSubstr("node 4 is a switch, not an NPU"));
  EXPECT_THAT(error_of("ring:2", {"npu:0", "npu:1"}), HasSubstr("every NPU has failed"));
}

TEST(Failures, RefuseSharesOutOfRange) {
  for (const char* share : {"0", "0.0", "1.5", "-0.5", "nan", "", "1e-1", "0.5x", "1.0.0"}) {
    EXPECT_THAT(error_of("mesh:3x3", {std::string("slow:0-1=") + share}),
                HasSubstr("above 0 and at most 1"));
  }
  EXPECT_THAT(error_of("mesh:3x3", {"slow:0-1"}), HasSubstr("above 0 and at most 1"));
}

TEST(Failures, RefuseFailingTwice) {
  EXPECT_THAT(error_of("mesh:3x3", {"npu:4", "npu:4"}), HasSubstr("NPU 4 fails twice"));
  EXPECT_THAT(error_of("mesh:3x3", {"link:3-4", "link:4>3"}), HasSubstr("link 4>3 fails twice"));
  EXPECT_THAT(error_of("mesh:3x3", {"slow:3>4=0.5", "link:3-4"}), HasSubstr("fails twice"));
}

TEST(Relays, LoseTheirLinks) {
  const Topology mesh = *parse_topology_spec("mesh:3x3");
  const Topology row = without_relays(mesh, std::vector{NodeId(0), NodeId(1), NodeId(2)});
  EXPECT_EQ(row.num_npus(), 9U);
  EXPECT_EQ(row.num_links(), mesh.num_links());
  EXPECT_EQ(row.num_working_links(), 4U);
  const Topology on_switch =
      without_relays(*parse_topology_spec("switch:4"), std::vector{NodeId(1), NodeId(3)});
  EXPECT_EQ(on_switch.num_working_links(), 4U);
}

}  // namespace
}  // namespace tacos
