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

class Networks : public testing::TestWithParam<Shape> {};

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
    testing::Values(
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
  for (const char* spec :
       {"dragonfly:3x6", "dragonfly:4x5", "mi250:1", "dgx1", "a100:3", "switch:5"}) {
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
