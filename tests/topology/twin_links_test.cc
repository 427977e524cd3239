// SPDX-License-Identifier: MIT
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tacos/topology.h"

namespace tacos {
namespace {

constexpr Link kLink{NodeId(0), NodeId(1), {50'000'000'000}, {500'000}};

TEST(TwinLinks, PairEveryLinkWithAnEqualOneTheOtherWay) {
  for (const char* spec : {"mesh:3x4,bw=50GBps/75GBps", "dgx1", "a100:2", "leaf-spine:2x2x2"}) {
    const Topology topology = *parse_topology_spec(spec);
    const std::vector<LinkId> twins = twin_links(topology);
    ASSERT_EQ(twins.size(), topology.num_links()) << spec;
    for (std::uint32_t number = 0; number < topology.num_links(); ++number) {
      const LinkId id(number);
      Link back = topology.link(twins[number]);
      EXPECT_EQ(twins[twins[number].index()], id);
      std::swap(back.src, back.dst);
      EXPECT_EQ(back, topology.link(id)) << spec;
    }
  }
}

TEST(TwinLinks, AreNoneWhereOneLinkHasNoEqual) {
  TopologyBuilder one_way("one way", 2);
  one_way.add_both(kLink).add_link(kLink);
  EXPECT_TRUE(twin_links(*std::move(one_way).build()).empty());
  TopologyBuilder unequal("unequal", 2);
  Link slow{kLink.dst, kLink.src, {25'000'000'000}, kLink.latency};
  unequal.add_link(kLink).add_link(slow);
  EXPECT_TRUE(twin_links(*std::move(unequal).build()).empty());
}

}  // namespace
}  // namespace tacos
