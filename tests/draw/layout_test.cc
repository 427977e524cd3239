// SPDX-License-Identifier: MIT
#include "draw/layout.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "tacos/topology.h"

#include "base/numbers/rng.h"
#include "draw/layouts/layouts.h"
#include "import/support.h"
#include "support/problems.h"
#include "support/random_network.h"

namespace tacos::draw {
namespace {

using testing::network;

/// No two nodes at one place, all within the corners and on the grid, frames around their nodes.
void expect_sound(const Topology& topology, const Layout& layout) {
  ASSERT_EQ(layout.nodes.size(), topology.num_nodes());
  ASSERT_EQ(layout.frame_of.size(), topology.num_nodes());
  ASSERT_EQ(layout.runs.size(), topology.num_links());
  std::set<std::pair<double, double>> places;
  for (std::size_t node = 0; node < layout.nodes.size(); ++node) {
    const Place place = layout.nodes[node];
    EXPECT_TRUE(places.emplace(place.x, place.y).second) << place.x << " " << place.y;
    EXPECT_EQ(place.x * kGrid, std::floor(place.x * kGrid));
    EXPECT_EQ(place.y * kGrid, std::floor(place.y * kGrid));
    EXPECT_TRUE(place.x >= layout.low.x && place.x <= layout.high.x);
    EXPECT_TRUE(place.y >= layout.low.y && place.y <= layout.high.y);
    const std::uint32_t frame = layout.frame_of[node];
    if (frame == kNoFrame) {
      continue;
    }
    ASSERT_LT(frame, layout.frames.size());
    EXPECT_TRUE(place.x > layout.frames[frame].low.x && place.x < layout.frames[frame].high.x);
    EXPECT_TRUE(place.y > layout.frames[frame].low.y && place.y < layout.frames[frame].high.y);
  }
  // All links of a pair have curves of their own.
  std::set<std::pair<std::pair<double, double>, std::pair<NodeId, NodeId>>> middles;
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    const Link& link = topology.link(LinkId(id));
    const Place middle = curve_of(layout, link, layout.runs[id]).at(0.5);
    EXPECT_TRUE(std::isfinite(middle.x) && std::isfinite(middle.y));
    const auto ends = std::minmax(link.src, link.dst);
    EXPECT_TRUE(
        middles.emplace(std::pair(middle.x, middle.y), std::pair(ends.first, ends.second)).second)
        << link.src.value() << ">" << link.dst.value();
  }
}

double distance(Place a, Place b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

/// What stress_layout minimizes, with the best scale.
double stress(const std::vector<Place>& places, const std::vector<std::vector<double>>& wanted) {
  double sum = 0;
  double squares = 0;
  double terms = 0;
  for (std::size_t a = 0; a < places.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const double share = distance(places[a], places[b]) / wanted[a][b];
      sum += share;
      squares += share * share;
      ++terms;
    }
  }
  return 1 - sum * sum / (squares * terms);
}

/// Distances by Floyd and Warshall.
std::vector<std::vector<double>> naive_distances(const Topology& topology) {
  const std::size_t n = topology.num_nodes();
  std::vector<std::vector<double>> d(n, std::vector<double>(n, 1e9));
  for (const Link& link : topology.all_links()) {
    d[link.src.index()][link.dst.index()] = d[link.dst.index()][link.src.index()] = 1;
  }
  for (std::size_t k = 0; k < n; ++k) {
    d[k][k] = 0;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        d[a][b] = std::min(d[a][b], d[a][k] + d[k][b]);
      }
    }
  }
  return d;
}

/// Majorization (Gansner, Koren, North 2004) from random places, the best of some attempts.
double naive_stress(const std::vector<std::vector<double>>& d) {
  double best = 1;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Rng rng(seed);
    std::vector<Place> places(d.size());
    for (Place& place : places) {
      place = {rng.below(1'000) / 100.0, rng.below(1'000) / 100.0};
    }
    for (int round = 0; round < 150; ++round) {
      for (std::size_t a = 0; a < places.size(); ++a) {
        Place sum;
        double weights = 0;
        for (std::size_t b = 0; b < places.size(); ++b) {
          const double is = distance(places[a], places[b]);
          if (a == b || is == 0) {
            continue;
          }
          const double weight = 1 / (d[a][b] * d[a][b]);
          sum = sum + weight * (places[b] + d[a][b] / is * (places[a] - places[b]));
          weights += weight;
        }
        places[a] = 1 / weights * sum;
      }
    }
    best = std::min(best, stress(places, d));
  }
  return best;
}

/// A grid that does not say that it is one, its NPUs numbered at random.
Topology unknown_grid(std::uint32_t side) {
  std::vector<std::uint32_t> id(std::size_t{side} * side);
  Rng rng(3);
  for (std::uint32_t i = 0; i < id.size(); ++i) {
    id[i] = i;
    std::swap(id[i], id[rng.below(i + 1)]);
  }
  TopologyBuilder builder("unknown", side * side);
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    builder.add_both({.src = NodeId(id[a]), .dst = NodeId(id[b]), .bandwidth = {1}, .latency = {}});
  };
  for (std::uint32_t y = 0; y < side; ++y) {
    for (std::uint32_t x = 0; x < side; ++x) {
      if (x + 1 < side) {
        join(x + side * y, x + 1 + side * y);
      }
      if (y + 1 < side) {
        join(x + side * y, x + side * (y + 1));
      }
    }
  }
  return std::move(builder).build().value();
}

TEST(Layout, NoNodeHidesAnother) {
  for (const std::string spec : {"mesh:1",
                                 "ring:2",
                                 "mesh:8x8",
                                 "mesh:100",
                                 "torus:4x4x4",
                                 "torus:3x3x3x3",
                                 "hypercube:3",
                                 "hypercube:8",
                                 "fc:9",
                                 "switch:8",
                                 "switch:1",
                                 "rail:4x8",
                                 "rfs",
                                 "switch-2d",
                                 "hetero-switch",
                                 "dragonfly:4x5",
                                 "dragonfly:3x9",
                                 "dragonfly:4x2",
                                 "leaf-spine:8x4x4",
                                 "fat-tree:4",
                                 "fat-tree:6",
                                 "dgx1",
                                 "ndv2:3",
                                 "dgx2:2",
                                 "h100:1",
                                 "h100:5",
                                 "mi250:2",
                                 "torus:2x2x5",
                                 "mesh:1x1x7",
                                 "ring:3*switch:4*mesh:3",
                                 "switch:3*fc:3*switch:2*ring:3"}) {
    SCOPED_TRACE(spec);
    const Topology topology = network(spec);
    expect_sound(topology, lay_out(topology));
  }
}

TEST(Layout, IsFoundForAnyNetwork) {
  for (std::uint64_t number = 0; number < 60; ++number) {
    SCOPED_TRACE(number);
    const Topology any = testing::random_network(number, {.max_npus = 40, .connected = false});
    expect_sound(any, lay_out(any));
    EXPECT_EQ(lay_out(any), lay_out(any));
    const Topology switched = testing::random_switched_network(number, 30);
    expect_sound(switched, lay_out(switched));
  }
}

TEST(Layout, OfMachineFilesIsSound) {
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(TACOS_TEST_DATA) + "/machines")) {
    SCOPED_TRACE(entry.path().string());
    const Topology topology = testing::imported(entry.path().filename().string()).topology;
    expect_sound(topology, lay_out(topology));
  }
}

TEST(Layout, GridsAreGrids) {
  const Layout mesh = lay_out(network("mesh:5x3"));
  EXPECT_EQ(mesh.rule, "product");
  for (std::uint32_t npu = 0; npu < 15; ++npu) {
    EXPECT_EQ(mesh.nodes[npu], (Place{static_cast<double>(npu % 5), static_cast<double>(npu / 5)}));
  }
  // Links the other way are on the other side; those that wrap around leave the row.
  const Topology torus = network("torus:5x3");
  const Layout layout = lay_out(torus);
  for (std::uint32_t id = 0; id < torus.num_links(); ++id) {
    const Link& link = torus.link(LinkId(id));
    const double length = distance(layout.nodes[link.src.index()], layout.nodes[link.dst.index()]);
    EXPECT_EQ(layout.runs[id].reach > 0, length > 1.5);
    EXPECT_EQ(layout.runs[id].bend > 0, length > 1.5);
  }
}

/// Every map of the NPUs that moves all coordinates alike moves all places alike.
TEST(Layout, OfASymmetricProductIsSymmetric) {
  const Topology torus = network("torus:4x4x4");
  const Layout layout = lay_out(torus);
  for (const std::uint32_t stride : {1U, 4U, 16U}) {
    for (std::uint32_t npu = 0; npu < 64; ++npu) {
      if (npu / stride % 4 < 3) {
        const Place step = layout.nodes[npu + stride] - layout.nodes[npu];
        EXPECT_NEAR(step.x, (layout.nodes[stride] - layout.nodes[0]).x, 2 / kGrid);
        EXPECT_NEAR(step.y, (layout.nodes[stride] - layout.nodes[0]).y, 2 / kGrid);
      }
    }
  }
  const Layout ring = lay_out(network("ring:12"));
  const double side = distance(ring.nodes[0], ring.nodes[11]);
  for (std::uint32_t npu = 1; npu < 12; ++npu) {
    EXPECT_NEAR(distance(ring.nodes[npu], ring.nodes[npu - 1]), side, 3 / kGrid);
    EXPECT_NEAR(distance(ring.nodes[npu], {}), distance(ring.nodes[0], {}), 2 / kGrid);
  }
}

TEST(Layout, SwitchesAreAboveWhatHangsOnThem) {
  for (const std::string spec :
       {"switch:8", "h100:4", "leaf-spine:8x4x4", "fat-tree:4", "dgx2:2", "rail:4x8", "mi250:3"}) {
    SCOPED_TRACE(spec);
    const Topology topology = network(spec);
    const Layout layout = lay_out(topology);
    for (const Link& link : topology.all_links()) {
      const bool up = link.src < link.dst && !topology.is_npu(link.dst);
      if (up) {
        EXPECT_LT(layout.nodes[link.dst.index()].y, layout.nodes[link.src.index()].y);
      }
    }
  }
}

TEST(Layout, BoxesAreFrames) {
  const Layout h100 = lay_out(network("h100:4"));
  EXPECT_EQ(h100.rule, "tiers");
  ASSERT_EQ(h100.frames.size(), 4);
  EXPECT_EQ(h100.frames[2].label, "box 2");
  for (std::uint32_t npu = 0; npu < 32; ++npu) {
    EXPECT_EQ(h100.frame_of[npu], npu / 8);
  }
  EXPECT_EQ(h100.frame_of[34], 2);
  EXPECT_EQ(h100.frame_of[36], kNoFrame);
}

TEST(Layout, NamesSayWhatIsInABox) {
  TopologyBuilder builder("named", 4, 1);
  builder.set_node_names({"b/one", "a/one", "b/two", "a/two", "spine"});
  for (std::uint32_t npu = 0; npu < 4; ++npu) {
    builder.add_both({.src = NodeId(npu), .dst = NodeId(4), .bandwidth = {1}, .latency = {}});
  }
  const Layout layout = lay_out(std::move(builder).build().value());
  ASSERT_EQ(layout.frames.size(), 2);
  EXPECT_EQ(layout.frames[0].label, "b");
  EXPECT_EQ(layout.frames[1].label, "a");
  EXPECT_EQ(layout.frame_of, (std::vector<std::uint32_t>{0, 1, 0, 1, kNoFrame}));
}

TEST(Layout, GroupsOfADragonflyAreCircles) {
  const Layout layout = lay_out(network("dragonfly:4x5"));
  EXPECT_EQ(layout.rule, "groups");
  ASSERT_EQ(layout.frames.size(), 5);
  for (std::uint32_t npu = 0; npu < 20; ++npu) {
    EXPECT_EQ(layout.frame_of[npu], npu / 4);
    EXPECT_EQ(layout.frames[npu / 4].outline, Outline::kCircle);
  }
}

TEST(Layout, StaysTheSameWhenSomethingFails) {
  for (const std::string spec : {"mesh:4x4", "dragonfly:4x5", "h100:2", "dgx1"}) {
    const Topology whole = network(spec);
    const std::vector<std::string> failures{"npu:1", "link:0-2"};
    const Result<DegradedTopology> left =
        apply_failures(whole,
                       spec == "mesh:4x4" || spec == "h100:2" ? std::span(failures).first(1)
                                                              : std::span(failures));
    ASSERT_TRUE(left) << left.error().to_string();
    EXPECT_EQ(lay_out(left->topology), lay_out(whole)) << spec;
  }
}

TEST(Layout, AFileThatOnlyClaimsToBeAProductIsNotDrawnAsOne) {
  TopologyBuilder builder("mesh:2x2", 4);
  for (std::uint32_t npu = 1; npu < 4; ++npu) {
    builder.add_both({.src = NodeId(0), .dst = NodeId(npu), .bandwidth = {1}, .latency = {}});
  }
  const Topology mesh = network("mesh:2x2");
  builder.set_dimensions({mesh.dimensions().begin(), mesh.dimensions().end()});
  EXPECT_EQ(lay_out(std::move(builder).build().value()).rule, "stress");
}

TEST(Layout, OfDegenerateNetworks) {
  for (const std::uint32_t npus : {1U, 2U, 3U, 7U}) {
    for (const std::uint32_t switches : {0U, 3U}) {
      const Topology alone = TopologyBuilder("alone", npus, switches).build().value();
      expect_sound(alone, lay_out(alone));
    }
  }
}

TEST(StressLayout, IsNearlyAsGoodAsANaiveOne) {
  for (std::uint64_t number = 0; number < 12; ++number) {
    SCOPED_TRACE(number);
    const Topology topology = testing::random_network(number, {.max_npus = 24});
    if (topology.num_npus() < 4) {
      continue;
    }
    const auto wanted = naive_distances(topology);
    EXPECT_LT(stress(stress_layout(topology).nodes, wanted), 1.25 * naive_stress(wanted) + 0.03);
  }
}

/// With pivots: a grid comes out as one.
TEST(StressLayout, UnfoldsALargeGrid) {
  const Topology grid = unknown_grid(22);
  const Layout layout = lay_out(grid);
  EXPECT_EQ(layout.rule, "stress");
  expect_sound(grid, layout);
  EXPECT_LT(stress(layout.nodes, naive_distances(unknown_grid(22))), 0.06);
  for (const Link& link : grid.all_links()) {
    EXPECT_LT(distance(layout.nodes[link.src.index()], layout.nodes[link.dst.index()]), 2.6);
  }
}

/// The same on every machine and with every compiler: change it only on purpose.
TEST(StressLayout, IsTheSameEverywhere) {
  std::uint64_t hash = 0;
  for (const Place& place : lay_out(unknown_grid(20)).nodes) {
    hash = mix64(hash, static_cast<std::uint64_t>(static_cast<std::int64_t>(place.x * kGrid)));
    hash = mix64(hash, static_cast<std::uint64_t>(static_cast<std::int64_t>(place.y * kGrid)));
  }
  EXPECT_EQ(hash, 218764812258001308U);
}

}  // namespace
}  // namespace tacos::draw
