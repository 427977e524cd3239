// SPDX-License-Identifier: MIT
#include "cli/measured_network.h"

#include <gmock/gmock.h>

namespace tacos::cli {
namespace {

using execution::WireSpeed;

constexpr Link kCable{NodeId(0), NodeId(1), {1'000'000}, {5}, {}};

/// Three NPUs in a row, and what was found of the four links.
Result<MeasuredNetwork> measure(const std::vector<double>& bandwidths) {
  TopologyBuilder builder("row", 3, 0);
  builder.add_both(kCable);
  builder.add_both({NodeId(1), NodeId(2), kCable.bandwidth, kCable.latency, {}});
  const Result<Topology> row = std::move(builder).build();
  std::vector<WireSpeed> speeds;
  for (std::size_t i = 0; i < bandwidths.size(); ++i) {
    speeds.push_back({.latency = 1e-6 * static_cast<double>(i + 1),
                      .bandwidth = bandwidths[i],
                      .gap = 1e-7,
                      .bandwidth_together = bandwidths[i]});
  }
  return with_speeds(*row, wires_of(*row), speeds);
}

std::vector<std::int64_t> bandwidths(const Topology& topology) {
  std::vector<std::int64_t> list;
  for (const Link& link : topology.links()) {
    list.push_back(link.bandwidth.bytes_per_second);
  }
  return list;
}

TEST(MeasuredNetwork, NoiseBetweenLinksThatAreAlikeIsLeftOut) {
  const auto found = measure({980, 1000, 1020, 1010});
  ASSERT_TRUE(found);
  EXPECT_THAT(bandwidths(found->topology), ::testing::Each(bandwidths(found->topology).front()));
  EXPECT_THAT(found->slow, ::testing::IsEmpty());
  EXPECT_EQ(found->found[0].bytes_per_second, 980);
  EXPECT_EQ(found->topology.link(LinkId(0)).latency, found->topology.link(LinkId(3)).latency);
}

TEST(MeasuredNetwork, ASlowLinkKeepsWhatWasFoundOfIt) {
  const auto found = measure({1000, 1000, 500, 1000});
  ASSERT_TRUE(found);
  EXPECT_THAT(bandwidths(found->topology), ::testing::ElementsAre(1000, 1000, 500, 1000));
  ASSERT_EQ(found->slow.size(), 1U);
  EXPECT_EQ(found->slow[0].link, LinkId(2));
  EXPECT_DOUBLE_EQ(found->slow[0].share, 0.5);
  EXPECT_EQ(found->topology.link(LinkId(2)).latency, Ticks{3'000'000});
}

TEST(MeasuredNetwork, AFastLinkKeepsWhatWasFoundOfIt) {
  const auto found = measure({1000, 2000, 1000, 1000});
  ASSERT_TRUE(found);
  EXPECT_THAT(bandwidths(found->topology), ::testing::ElementsAre(1000, 2000, 1000, 1000));
}

}  // namespace
}  // namespace tacos::cli
