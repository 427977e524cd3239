// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "tacos/topology.h"

namespace tacos {
namespace {

TEST(ProductStructure, IsKnownOfEveryProductAndOfNothingElse) {
  for (const char* spec : {"ring:2",
                           "mesh:3x4",
                           "torus:2x3x4",
                           "hypercube:4",
                           "fc:5",
                           "ring:2*fc:4*switch:8,bw=200GBps/100GBps/50GBps,lat=1ns/3ps/5ps"}) {
    const Topology topology = *parse_topology_spec(spec);
    EXPECT_TRUE(has_product_structure(topology)) << spec;
    EXPECT_EQ(is_translation_symmetric(topology), spec != std::string("mesh:3x4")) << spec;
    EXPECT_FALSE(has_product_structure(topology.reversed())) << spec;
  }
  for (const char* spec : {"dragonfly:4x5", "dgx1", "a100:2"}) {
    EXPECT_FALSE(has_product_structure(*parse_topology_spec(spec))) << spec;
  }
}

/// The network with one link changed, still said to be the product.
template <class Change>
Topology changed(const Topology& topology, std::size_t which, const Change& change) {
  TopologyBuilder builder(topology.name(), topology.num_npus(), topology.num_switches());
  for (std::size_t i = 0; i < topology.num_links(); ++i) {
    Link link = topology.all_links()[i];
    if (i == which) {
      change(link);
    }
    builder.add_link(link);
  }
  builder.set_dimensions({topology.dimensions().begin(), topology.dimensions().end()});
  return std::move(builder).build().value();
}

TEST(ProductStructure, IsDeniedWhenAnyLinkDiffers) {
  const Topology topology = *parse_topology_spec("ring:3*switch:2");
  for (std::size_t i = 0; i < topology.num_links(); ++i) {
    EXPECT_TRUE(has_product_structure(changed(topology, i, [](Link&) {})));
    EXPECT_FALSE(
        has_product_structure(changed(topology, i, [](Link& link) { --link.latency.ps; })));
    EXPECT_FALSE(has_product_structure(
        changed(topology, i, [](Link& link) { ++link.bandwidth.bytes_per_second; })));
    EXPECT_FALSE(has_product_structure(
        changed(topology, i, [](Link& link) { std::swap(link.src, link.dst); })));
  }
}

TEST(ProductStructure, ComesBackFromAFileThatNamesTheSpec) {
  const Topology topology = *parse_topology_spec("torus:3x4,bw=50GBps/25GBps");
  std::string text = topology_to_json(topology);
  EXPECT_TRUE(is_translation_symmetric(*parse_topology_json(text, "a.json")));
  text.replace(text.find("25GBps"), 6, "30GBps");
  EXPECT_FALSE(is_translation_symmetric(*parse_topology_json(text, "a.json")));
}

TEST(ProductStructure, IsWrittenInPlaceOfLinks) {
  for (const char* spec :
       {"torus:3x4", "ring:2*fc:4*switch:8,bw=200GBps/100GBps/50GBps,lat=3ps", "mesh:4x3"}) {
    const Topology topology = *parse_topology_spec(spec);
    const Result<Topology> back = parse_topology_json(product_to_json(topology), "a.json");
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(*back, topology);
    EXPECT_EQ(back->name(), topology.name());
    EXPECT_TRUE(has_product_structure(*back));
  }
}

TEST(ProductStructure, IsRefusedWhenItMakesNoSense) {
  const auto error = [](std::string dimensions, const std::string& more = "") {
    const Result<Topology> read = parse_topology_json(
        R"({"npus": 4, "dimensions": )" + std::move(dimensions) + more + "}", "a.json");
    return read ? std::string() : read.error().to_string();
  };
  const std::string ring = R"([{"wiring": "ring", "length": 4, "bandwidth_Bps": 1}])";
  EXPECT_EQ(error(ring), "");
  EXPECT_NE(error(ring, R"(, "links": [])").find("in place of"), std::string::npos);
  EXPECT_NE(error(R"([{"wiring": "rong", "length": 4, "bandwidth_Bps": 1}])").find("ring"),
            std::string::npos);
  EXPECT_NE(error(R"([{"wiring": "ring", "length": 5, "bandwidth_Bps": 1}])").find("do not make"),
            std::string::npos);
  for (const char* dimensions :
       {"4",
        "[]",
        "[4]",
        R"([{"wiring": "ring", "length": 0, "bandwidth_Bps": 1}])",
        R"([{"wiring": "ring", "length": 4, "bandwidth_Bps": 0}])",
        R"([{"wiring": "ring", "length": 4}])",
        R"([{"wiring": "ring", "length": 4, "bandwidth_Bps": 1, "x": 2}])"}) {
    EXPECT_NE(error(dimensions), "") << dimensions;
  }
}

}  // namespace
}  // namespace tacos
