// SPDX-License-Identifier: MIT
// Node and link counts, degrees and total bandwidth of every built-in network.
#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tacos/topology.h"

namespace tacos {
namespace {

using ::testing::HasSubstr;

struct Shape {
  std::string spec;
  std::uint32_t npus;
  std::uint32_t switches;
  std::uint32_t links;
  std::uint32_t least_degree;
  std::uint32_t most_degree;
  /// Of all links together, in MB/s.
  std::int64_t bandwidth;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << shape.spec;
}

std::int64_t total_bandwidth(const Topology& topology) {
  std::int64_t total = 0;
  for (const Link& link : topology.links()) {
    total += link.bandwidth.bytes_per_second / 1'000'000;
  }
  return total;
}

struct Degrees {
  std::size_t least;
  std::size_t most;
};

Degrees degrees(const Topology& topology) {
  Degrees found{topology.num_links(), 0};
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    const std::size_t degree = topology.out_links(NodeId(npu)).size();
    found.least = std::min(found.least, degree);
    found.most = std::max(found.most, degree);
  }
  return found;
}

class Networks : public ::testing::TestWithParam<Shape> {};

TEST_P(Networks, HaveTheirNodesLinksDegreesAndBandwidth) {
  const Shape& shape = GetParam();
  const Topology topology = parse_topology_spec(shape.spec).value();
  EXPECT_EQ(topology.num_npus(), shape.npus);
  EXPECT_EQ(topology.num_switches(), shape.switches);
  EXPECT_EQ(topology.num_links(), shape.links);
  EXPECT_EQ(total_bandwidth(topology), shape.bandwidth);
  EXPECT_EQ(degrees(topology).least, shape.least_degree);
  EXPECT_EQ(degrees(topology).most, shape.most_degree);
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Networks,
    ::testing::Values(
        Shape{"ring:8", 8, 0, 16, 2, 2, 800'000},
        Shape{"mesh:4x3", 12, 0, 34, 2, 4, 1'700'000},
        Shape{"torus:4x2x3", 24, 0, 24 * 5, 5, 5, 6'000'000},
        Shape{"hypercube:4", 16, 0, 64, 4, 4, 3'200'000},
        Shape{"fc:5", 5, 0, 20, 4, 4, 1'000'000},
        Shape{"switch:8", 8, 1, 16, 1, 1, 800'000},
        Shape{"switch:8*switch:4,bw=300GBps/25GBps", 32, 12, 128, 2, 2, 20'800'000},
        Shape{"ring:2*fc:4*switch:8,bw=200GBps/100GBps/50GBps", 64, 8, 64 * 6, 5, 5, 38'400'000},
        Shape{"dragonfly:4x5,bw=400GBps/200GBps", 20, 0, 80, 4, 4, 28'000'000},
        Shape{"dragonfly:2x5", 10, 0, 30, 3, 3, 1'500'000},
        Shape{"dragonfly:4x3", 12, 0, 42, 3, 4, 2'100'000},
        Shape{"leaf-spine:8x4x2", 32, 6, 80, 1, 1, 4'000'000},
        Shape{"leaf-spine:8x4x2,bw=50GBps/100GBps", 32, 6, 80, 1, 1, 4'800'000},
        Shape{"fat-tree:4", 16, 20, 96, 1, 1, 4'800'000},
        Shape{"fat-tree:4,bw=50GBps/50GBps/25GBps", 16, 20, 96, 1, 1, 4'000'000},
        Shape{"fat-tree:8", 128, 80, 768, 1, 1, 38'400'000},
        Shape{"rail:4x8,bw=450GBps/50GBps", 32, 12, 128, 2, 2, 32'000'000},
        Shape{"rail:1x8", 8, 1, 16, 1, 1, 800'000},
        Shape{"tpu-v3", 32, 0, 128, 4, 4, 10'240'000},
        Shape{"tpu-v4", 32, 0, 160, 5, 5, 8'000'000},
        Shape{"tpu-v4:8x8x8", 512, 0, 3072, 6, 6, 153'600'000},
        Shape{"tpu-v4:8x8x8,bw=100GBps", 512, 0, 3072, 6, 6, 307'200'000},
        Shape{"hetero-mesh", 64, 0, 224, 2, 4, 16'800'000},
        Shape{"hetero-switch", 64, 16, 256, 2, 2, 32'000'000},
        Shape{"rfs", 64, 8, 64 * 6, 5, 5, 38'400'000},
        Shape{"switch-2d", 32, 12, 128, 2, 2, 20'800'000},
        Shape{"ring:16*fc:8*switch:32", 4096, 128, 4096 * 11, 10, 10, 2'252'800'000},
        Shape{"ring:4*fc:8*ring:4*switch:32", 4096, 128, 4096 * 13, 12, 12, 2'662'400'000},
        Shape{"switch:8,unwind=2", 8, 0, 16, 2, 2, 400'000},
        Shape{"switch:8,unwind=7", 8, 0, 56, 7, 7, 399'952},
        Shape{"rfs,unwind=2", 64, 0, 64 * 6, 6, 6, 35'200'000},
        Shape{"dgx2:2,unwind=1", 32, 0, 48, 1, 2, 4'200'000},
        Shape{"dgx1", 8, 0, 48, 6, 6, 1'200'000},
        Shape{"ndv2:1", 8, 0, 32, 4, 4, 1'200'000},
        Shape{"ndv2:4", 32, 1, 136, 4, 5, 4'900'000},
        Shape{"dgx2:1", 16, 1, 32, 1, 1, 4'000'000},
        Shape{"dgx2:2", 32, 3, 96, 1, 2, 8'400'000},
        Shape{"a100:1", 8, 1, 16, 1, 1, 4'800'000},
        Shape{"a100:2", 16, 3, 64, 2, 2, 10'400'000},
        Shape{"h100:2", 16, 3, 64, 2, 2, 16'000'000},
        Shape{"mi250:1", 16, 0, 112, 7, 7, 5'600'000},
        Shape{"mi250:2", 32, 1, 288, 8, 8, 12'224'000}));

TEST(SwitchBlocks, SplitTheLatencyExactly) {
  const Topology topology = *parse_topology_spec("switch:3,lat=0.007ns");
  for (const Link& link : topology.links()) {
    EXPECT_EQ(link.latency.ps, topology.is_npu(link.src) ? 4 : 3);
  }
}

TEST(SwitchBlocks, JoinTheNpusOfALine) {
  const Topology topology = *parse_topology_spec("ring:2*fc:4*switch:8");
  // NPUs that agree in the first two coordinates share a switch.
  for (std::uint32_t npu = 0; npu < 64; ++npu) {
    std::uint32_t up = 0;
    for (const LinkId id : topology.out_links(NodeId(npu))) {
      up = std::max(up, topology.link(id).dst.value());
    }
    EXPECT_EQ(up, 64 + npu % 8);
    EXPECT_EQ(topology.out_links(NodeId(up)).size(), 8U);
  }
}

TEST(Dragonfly, JoinsEveryTwoGroupsOnce) {
  const Topology topology = *parse_topology_spec("dragonfly:3x6");
  std::vector<int> joined(36, 0);
  for (const Link& link : topology.links()) {
    ++joined[link.src.value() / 3 * 6 + link.dst.value() / 3];
  }
  for (std::uint32_t a = 0; a < 6; ++a) {
    for (std::uint32_t b = 0; b < 6; ++b) {
      EXPECT_EQ(joined[a * 6 + b], a == b ? 6 : 1);
    }
  }
}

TEST(Wiring, IsSymmetric) {
  for (const char* spec : {"dragonfly:3x6",
                           "dragonfly:4x5",
                           "mi250:1",
                           "dgx1",
                           "a100:3",
                           "switch:5",
                           "leaf-spine:3x2x4",
                           "fat-tree:4",
                           "rail:3x4",
                           "tpu-v4"}) {
    const Topology topology = *parse_topology_spec(spec);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> there;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> back;
    for (const Link& link : topology.links()) {
      there.emplace_back(link.src.value(), link.dst.value());
      back.emplace_back(link.dst.value(), link.src.value());
    }
    std::sort(there.begin(), there.end());
    std::sort(back.begin(), back.end());
    EXPECT_EQ(there, back) << spec;
  }
}

TEST(LeafSpine, JoinsEveryLeafToEverySpine) {
  const Topology topology = *parse_topology_spec("leaf-spine:3x2x4,bw=50GBps/100GBps,lat=1us/2us");
  // NPUs 0-5, leaves 6 and 7, spines 8-11.
  EXPECT_EQ(topology.link(topology.out_links(NodeId(2))[0]).dst, NodeId(6));
  EXPECT_EQ(topology.link(topology.out_links(NodeId(3))[0]).dst, NodeId(7));
  for (std::uint32_t leaf = 6; leaf < 8; ++leaf) {
    EXPECT_EQ(topology.out_links(NodeId(leaf)).size(), 3U + 4U);
  }
  for (std::uint32_t spine = 8; spine < 12; ++spine) {
    ASSERT_EQ(topology.in_links(NodeId(spine)).size(), 2U);
    const Link& link = topology.link(topology.in_links(NodeId(spine))[1]);
    EXPECT_EQ(link.src, NodeId(7));
    EXPECT_EQ(link.bandwidth.bytes_per_second, 100'000'000'000);
    EXPECT_EQ(link.latency.ps, 1'000'000);
  }
}

TEST(FatTree, GivesEverySwitchItsPorts) {
  const Topology topology = *parse_topology_spec("fat-tree:6");
  for (std::uint32_t node = topology.num_npus(); node < topology.num_nodes(); ++node) {
    EXPECT_EQ(topology.out_links(NodeId(node)).size(), 6U) << node;
    EXPECT_EQ(topology.in_links(NodeId(node)).size(), 6U) << node;
  }
}

TEST(FatTree, JoinsEveryCoreToEveryPodOnce) {
  const Topology topology = *parse_topology_spec("fat-tree:4");
  // 16 NPUs, 8 edge switches, 8 aggregation switches (24-31, two in a pod), 4 cores.
  for (std::uint32_t core = 32; core < 36; ++core) {
    std::vector<std::uint32_t> pods;
    for (const LinkId link : topology.in_links(NodeId(core))) {
      pods.push_back((topology.link(link).src.value() - 24) / 2);
    }
    EXPECT_THAT(pods, ::testing::UnorderedElementsAre(0, 1, 2, 3));
  }
}

TEST(Rail, JoinsNpusWithTheSamePlaceInTheirBox) {
  const Topology topology = *parse_topology_spec("rail:3x4,bw=450GBps/50GBps,lat=1us/2us");
  // Boxes are switches 12-14, rails 15-18.
  for (std::uint32_t npu = 0; npu < 12; ++npu) {
    const auto links = topology.out_links(NodeId(npu));
    ASSERT_EQ(links.size(), 2U);
    EXPECT_EQ(topology.link(links[0]).dst.value(), 12 + npu / 4);
    EXPECT_EQ(topology.link(links[0]).bandwidth.bytes_per_second, 450'000'000'000);
    EXPECT_EQ(topology.link(links[1]).dst.value(), 15 + npu % 4);
    EXPECT_EQ(topology.link(links[1]).latency.ps, 1'000'000);
  }
}

TEST(Presets, AreTheProductsTheyStandFor) {
  const std::vector<std::pair<std::string, std::string>> same{
      {"tpu-v3", "torus:4x8,bw=80GBps,lat=1us"},
      {"tpu-v4:8x8x8", "torus:8x8x8"},
      {"hetero-mesh", "mesh:8x8,bw=50GBps/100GBps,lat=0.2us/0.15us"},
      {"hetero-mesh:4x4,lat=1us", "mesh:4x4,bw=50GBps/100GBps,lat=1us"},
      {"hetero-switch", "switch:8*switch:8,bw=50GBps/200GBps,lat=0.2us/0.05us"},
      {"rfs", "ring:2*fc:4*switch:8,bw=200GBps/100GBps/50GBps"},
      {"switch-2d", "switch:8*switch:4,bw=300GBps/25GBps"},
      {"rail:4x8", "switch:8*switch:4"}};
  for (const auto& [name, product] : same) {
    EXPECT_EQ(*parse_topology_spec(name), *parse_topology_spec(product)) << name;
  }
}

TEST(Unwinding, GivesEveryPortTheNextOnes) {
  const Topology topology = *parse_topology_spec("switch:5,bw=60GBps,lat=0.007ns,unwind=3");
  EXPECT_EQ(topology.num_switches(), 0U);
  for (std::uint32_t npu = 0; npu < 5; ++npu) {
    const auto links = topology.out_links(NodeId(npu));
    ASSERT_EQ(links.size(), 3U);
    for (std::uint32_t shift = 1; shift <= 3; ++shift) {
      const Link& link = topology.link(links[shift - 1]);
      EXPECT_EQ(link.dst.value(), (npu + shift) % 5);
      EXPECT_EQ(link.bandwidth.bytes_per_second, 20'000'000'000);
      EXPECT_EQ(link.latency.ps, 7);
    }
  }
}

TEST(Unwinding, ToAllOtherPortsIsFullyConnected) {
  const Topology unwound = *parse_topology_spec("switch:4,bw=150GBps,unwind=3");
  const Topology connected = *parse_topology_spec("fc:4");
  EXPECT_EQ(unwound, connected);
}

TEST(Unwinding, GivesSmallSwitchesAllTheirPorts) {
  const Topology topology = *parse_topology_spec("switch:2*switch:6,unwind=4");
  EXPECT_EQ(topology.out_links(NodeId(0)).size(), 1U + 4U);
}

TEST(Boxes, MeetAtOneSwitch) {
  const Topology ndv2 = *parse_topology_spec("ndv2:3");
  EXPECT_EQ(ndv2.in_links(NodeId(24)).size(), 3U);
  EXPECT_EQ(ndv2.link(ndv2.in_links(NodeId(24))[1]).src, NodeId(9));
  EXPECT_EQ(ndv2.link(ndv2.out_links(NodeId(24))[1]).dst, NodeId(8));
  const Topology dgx2 = *parse_topology_spec("dgx2:2");
  EXPECT_EQ(dgx2.in_links(NodeId(34)).size(), 16U);
  EXPECT_EQ(dgx2.out_links(NodeId(34)).size(), 16U);
}

TEST(Specs, RefuseWhatHasNoMeaning) {
  struct Case {
    const char* spec;
    const char* message;
  };
  for (const auto& [spec, message] : {Case{"a100:2,bw=50GBps", "takes no options"},
                                      Case{"a100", "number of boxes, such as a100:2"},
                                      Case{"a100:2x2", "number of boxes"},
                                      Case{"a100:0", "dimension of 0"},
                                      Case{"a100:16000000", "more than"},
                                      Case{"dgx1:2", "takes no number"},
                                      Case{"dgx1*ring:4", "stands alone"},
                                      Case{"dragonfly:4", "such as dragonfly:4x5"},
                                      Case{"dragonfly:4x5,bw=1GBps/2GBps/3GBps", "3 values for 2"},
                                      Case{"dragonfly:4x5*ring:2", "stands alone"},
                                      Case{"rail:4", "such as rail:4x8"},
                                      Case{"rail:4x8*ring:2", "stands alone"},
                                      Case{"leaf-spine:4x4", "such as leaf-spine:8x4x4"},
                                      Case{"leaf-spine:9999x9999x1", "nodes, more than"},
                                      Case{"leaf-spine:1x999999x9999", "links, more than"},
                                      Case{"fat-tree:5", "use an even number"},
                                      Case{"fat-tree:4x4", "such as fat-tree:4"},
                                      Case{"fat-tree:1000", "nodes, more than"},
                                      Case{"fat-tree:4000000", "use an even number"},
                                      Case{"fat-tree:4,bw=1GBps/2GBps", "2 values for 3"},
                                      Case{"tpu-v4:8x8", "takes 3 lengths, such as tpu-v4:2x4x4"},
                                      Case{"tpu-v5", "did you mean 'tpu-v"},
                                      Case{"mesh:4x4,unwind=2", "no switches to unwind"},
                                      Case{"switch:4,unwind=4", "more than the 3 other ports"},
                                      Case{"switch:4,unwind=0", "not a number of links"},
                                      Case{"switch:4,unwind", "not a number of links"},
                                      Case{"switch:4,unwind=x", "not a number of links"},
                                      Case{"switch:4,unwind=1,unwind=2", "unwind= twice"},
                                      Case{"fat-tree:4,unwind=1", "joined to switch"},
                                      Case{"switch:4x4", "takes one number"},
                                      Case{"switch", "takes one number"},
                                      Case{"switc:4", "did you mean 'switch'"},
                                      Case{"h10:4", "did you mean 'h100'"},
                                      Case{"mesh:0x4", "dimension of 0"},
                                      Case{"fc:100000", "links, more than"}}) {
    const Result<Topology> topology = parse_topology_spec(spec);
    ASSERT_FALSE(topology) << spec;
    EXPECT_THAT(topology.error().message, HasSubstr(message)) << spec;
  }
}

}  // namespace
}  // namespace tacos
