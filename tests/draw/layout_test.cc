// SPDX-License-Identifier: MIT
#include "draw/layout.h"

#include <algorithm>
#include <set>
#include <utility>

#include <gmock/gmock.h>

#include "tacos/topology.h"

namespace tacos::draw {
namespace {

/// No two nodes at one place, all within the corners, something for every link and node.
void expect_sound(const Topology& topology, const Layout& layout) {
  ASSERT_EQ(layout.nodes.size(), topology.num_nodes());
  ASSERT_EQ(layout.frame_of.size(), topology.num_nodes());
  ASSERT_EQ(layout.runs.size(), topology.num_links());
  std::set<std::pair<double, double>> places;
  for (const Place& place : layout.nodes) {
    EXPECT_TRUE(places.emplace(place.x, place.y).second) << place.x << " " << place.y;
    EXPECT_EQ(place.x * kGrid, static_cast<double>(static_cast<long>(place.x * kGrid)));
    EXPECT_GE(place.x, layout.low.x);
    EXPECT_LE(place.x, layout.high.x);
    EXPECT_GE(place.y, layout.low.y);
    EXPECT_LE(place.y, layout.high.y);
  }
  for (const std::uint32_t frame : layout.frame_of) {
    EXPECT_TRUE(frame == kNoFrame || frame < layout.frames.size());
  }
}

TEST(Layout, NoNodeHidesAnother) {
  for (const std::string spec : {"mesh:1",
                                 "ring:2",
                                 "mesh:8x8",
                                 "mesh:100",
                                 "torus:4x4x4",
                                 "torus:3x3x3x3",
                                 "hypercube:6",
                                 "fc:9",
                                 "switch:8",
                                 "switch:1",
                                 "rail:4x8",
                                 "rfs",
                                 "switch-2d",
                                 "hetero-switch",
                                 "ring:4*switch:4*mesh:3",
                                 "dragonfly:4x5",
                                 "dragonfly:3x9"}) {
    SCOPED_TRACE(spec);
    const Topology topology = load_topology(spec).value();
    expect_sound(topology, lay_out(topology));
  }
}

}  // namespace
}  // namespace tacos::draw
