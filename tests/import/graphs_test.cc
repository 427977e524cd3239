// SPDX-License-Identifier: MIT
// Networks as simulators, synthesizers and graph programs describe them.
#include <gmock/gmock.h>

#include "import/support.h"

namespace tacos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::imported;
using ::testing::IsEmpty;
using testing::megabytes_between;
using testing::refusal;

Topology made_of(const std::string& text) {
  Result<ImportedTopology> made = import_topology(text, "file");
  EXPECT_TRUE(made) << made.error().to_string();
  return std::move(made->topology);
}

TEST(AstraSim, CountsInBinaryGigabytes) {
  const Topology made = imported("astra_sim.yml").topology;
  EXPECT_EQ(made,
            parse_topology_spec("ring:2*fc:4*switch:2,bw=200GiBps/100GiBps/50GiBps,"
                                "lat=50ns/500ns/2000ns")
                .value());
  const std::string tail = "\nnpus_count: [4]\nbandwidth: [50]\nlatency: [500]\n";
  EXPECT_EQ(made_of("topology: [ Ring ]" + tail),
            parse_topology_spec("ring:4,bw=50GiBps,lat=500ns").value());
  EXPECT_THAT(refusal("topology: [ Rong ]" + tail), HasSubstr("did you mean 'Ring'"));
  EXPECT_THAT(refusal("topology: [ Ring, Ring ]" + tail), HasSubstr("has 1 entries for 2"));
  EXPECT_THAT(refusal("topology: [Ring]\nnpus_count: [4]\n"), HasSubstr("bandwidth: is missing"));
  EXPECT_THAT(refusal("topology: [Ring]\nnpus_count: [4]\nbandwidth: [0]\nlatency: [1]"),
              HasSubstr("bandwidth[0]"));
}

TEST(Taccl, ReadsMicrosecondsPerMegabyte) {
  const Topology made = imported("taccl_ndv2.json").topology;
  EXPECT_EQ(megabytes_between(made, "gpu0", "gpu1"), 43'478);
  EXPECT_EQ(megabytes_between(made, "gpu0", "gpu2"), 21'739);
  EXPECT_EQ(megabytes_between(made, "gpu5", "nic0"), 9'523);
  const Topology custom = made_of(
      R"({"name": "c", "gpus_per_node": 2, "alpha": 1, "links": [[0, 0], [1, 0]],
          "betas": [[0, 0], [10, 0]], "invbws": [[0, 0], [11, 0]]})");
  EXPECT_EQ(megabytes_between(custom, "gpu0", "gpu1"), 100'000);
  EXPECT_EQ(megabytes_between(custom, "gpu1", "gpu0"), 0);
  const Topology spokes = made_of(R"({"gpus_per_node": 4, "alpha": 0.5, "node_betas_list": [10]})");
  EXPECT_EQ(megabytes_between(spokes, "gpu3", "nvswitch"), 100'000);
  EXPECT_THAT(refusal(R"({"gpus_per_node": 2, "alpha": 1, "links": [[0, 1], [1]], "betas": []})"),
              HasSubstr("links[1]: must have 2 numbers"));
  EXPECT_THAT(refusal(R"({"gpus_per_node": 2, "alpha": 1, "node_betas_list": [0]})"),
              HasSubstr("node_betas_list[0]"));
  EXPECT_THAT(refusal(R"({"gpus_per_node": 2})"), HasSubstr("alpha"));
}

TEST(Sccl, CountsChunksPerRound) {
  const Topology made = imported("sccl_ring.json").topology;
  EXPECT_EQ(megabytes_between(made, "gpu0", "gpu1"), 25'000);
  EXPECT_EQ(megabytes_between(made, "gpu2", "gpu1"), 50'000);
  EXPECT_THAT(
      import_topology(
          R"({"msccl_type": "topology", "links": [[0, 1], [1, 0]], "switches": [[[0], [1], 1, "a"]]})",
          "f")
          .value()
          .warnings,
      ElementsAre(HasSubstr("'switches'")));
  EXPECT_THAT(refusal(R"({"msccl_type": "topology", "links": [[0, -1], [1, 0]]})"),
              HasSubstr("links[0]"));
}

TEST(Ns3, ReadsBothHeaders) {
  const Topology plain = imported("ns3.txt").topology;
  EXPECT_EQ(plain.num_npus(), 4U);
  EXPECT_EQ(plain.num_links(), 8U);
  EXPECT_EQ(megabytes_between(plain, "gpu3", "switch4"), 50'000);
  EXPECT_EQ(plain.link(LinkId(0)).latency, Ticks{500'000});
  const Topology simai = imported("simai.txt").topology;
  EXPECT_EQ(simai.num_npus(), 4U);
  EXPECT_EQ(megabytes_between(simai, "gpu3", "nvswitch5"), 300'000);
  EXPECT_EQ(megabytes_between(simai, "switch6", "gpu0"), 25'000);
  EXPECT_EQ(made_of("2 0 1\n\n0 1 100Gbps 1us 0\n").num_links(), 2U);
  EXPECT_THAT(refusal("2 0 2\n\n0 1 100Gbps 1us 0\n"), HasSubstr("file:3: ends after 1 of the 2"));
  EXPECT_THAT(refusal("2 0 1\n\n0 5 100Gbps 1us 0\n"), HasSubstr("file:3: '5' is no node"));
  EXPECT_THAT(refusal("2 0 1\n\n0 1 fast 1us 0\n"), HasSubstr("file:3"));
  EXPECT_THAT(refusal("2 0 1\n0 1 1Gbps 1us 0\n1 0 1Gbps 1us 0"), HasSubstr("has more than the 1"));
  EXPECT_THAT(refusal("99999999 0 1\n"), HasSubstr("file"));
}

TEST(Graphml, ReadsBandwidthsAndKinds) {
  const ImportedTopology made = imported("graph.graphml");
  EXPECT_THAT(made.warnings, IsEmpty());
  EXPECT_EQ(made.topology.num_npus(), 3U);
  EXPECT_EQ(made.topology.node_name(NodeId(3)), "s");
  EXPECT_EQ(megabytes_between(made.topology, "s", "c"), 25'000);
  EXPECT_EQ(megabytes_between(made.topology, "s", "a"), 12'500);
  const Result<ImportedTopology> bare = import_topology(
      "<graphml><graph edgedefault=\"directed\"><node id=\"a\"/><node id=\"b\"/>"
      "<edge source=\"a\" target=\"b\"/></graph></graphml>",
      "f");
  EXPECT_THAT(bare.value().warnings,
              ElementsAre(HasSubstr("without a bandwidth"), HasSubstr("without a latency")));
  EXPECT_EQ(bare->topology.num_links(), 1U);
  EXPECT_THAT(
      refusal("<graphml><graph><node id='a'/>\n<edge source='a' target='z'/></graph></graphml>"),
      HasSubstr("file:2: an edge ends at 'z'"));
  EXPECT_THAT(refusal("<graphml><graph><node id='a'/><node id='a'/></graph></graphml>"),
              HasSubstr("twice"));
}

TEST(Networkx, ReadsNodeLinkData) {
  const Topology made = imported("networkx.json").topology;
  EXPECT_EQ(made.num_links(), 3U);
  EXPECT_EQ(megabytes_between(made, "2", "0"), 50'000);
  EXPECT_THAT(refusal(R"({"nodes": [{"id": 0}], "links": [{"source": 0, "target": 1}]})"),
              HasSubstr("file: links[0]: an edge ends at '1'"));
  EXPECT_THAT(refusal(R"({"nodes": [{"id": 0}, {"id": 1}],
                          "links": [{"source": 0, "target": 1, "bandwidth": 50}]})"),
              HasSubstr("file: links[0]"));
}

TEST(OwnFiles, YamlIsAsGoodAsJson) {
  const Topology made = imported("ours.yaml").topology;
  EXPECT_EQ(made.name(), "star");
  EXPECT_EQ(megabytes_between(made, "left", "middle"), 50'000);
  EXPECT_EQ(made_of(topology_to_json(made)), made);
  EXPECT_THAT(refusal("npus: 2\nlinks:\n  - {src: 0, dts: 1, bandwidth_Bps: 1}\n"),
              HasSubstr("links[0]: unknown key 'dts'"));
}

TEST(Detection, TakesWhatItKnowsAndRefusesTheRest) {
  EXPECT_THAT(refusal("<html></html>"), HasSubstr("in no format that is known"));
  EXPECT_THAT(refusal("hello world"), HasSubstr("in no format that is known"));
  EXPECT_THAT(refusal("{}"), HasSubstr("npus"));
  EXPECT_THAT(refusal(""), HasSubstr("file"));
  EXPECT_THAT(refusal("{}", "nccll"), HasSubstr("did you mean 'nccl'"));
  // Keys of inner objects, or texts, name no format.
  EXPECT_THAT(refusal(R"({"npus": 1, "name": "msccl_type", "links": [{"gpus_per_node": 1}]})"),
              HasSubstr("links[0]"));
  EXPECT_FALSE(import_topology("{\"a\\", "f"));
  EXPECT_FALSE(import_topology("]]}}\"", "f"));
}

TEST(Cluster, JoinsCopiesByTheirNics) {
  const Topology box = parse_topology_spec("a100:1").value();
  ClusterOptions options{.boxes = 3,
                         .fabric = "switch",
                         .nics = 4,
                         .nic_bandwidth = {25'000'000'000},
                         .latencies = {}};
  const Topology made = make_cluster(box, options).value();
  EXPECT_EQ(made.num_npus(), 24U);
  EXPECT_EQ(made.num_switches(), 3U * 5 + 1);
  EXPECT_EQ(made.node_name(NodeId(11)), "box1/gpu3");
  EXPECT_EQ(megabytes_between(made, "box1/gpu3", "box1/nic1"), 25'000);
  EXPECT_EQ(megabytes_between(made, "box1/gpu4", "box1/nic1"), 0);
  EXPECT_EQ(megabytes_between(made, "box2/nic3", "fabric"), 25'000);
  options.fabric = "rail";
  EXPECT_EQ(megabytes_between(make_cluster(box, options).value(), "box2/nic3", "rail3"), 25'000);
  options.fabric = "ring";
  EXPECT_EQ(megabytes_between(make_cluster(box, options).value(), "box2/nic3", "box0/nic3"),
            25'000);
  options.fabric = "leaf-spine:2x4";
  const Topology tree = make_cluster(box, options).value();
  EXPECT_EQ(megabytes_between(tree, "box1/nic0", "leaf0"), 25'000);
  EXPECT_EQ(megabytes_between(tree, "leaf0", "spine3"), 50'000);
  EXPECT_EQ(megabytes_between(tree, "leaf1", "spine3"), 25'000);
  options.boxes = 2;
  options.fabric = "ring";
  EXPECT_EQ(megabytes_between(make_cluster(box, options).value(), "box1/nic0", "box0/nic0"),
            25'000);
  options.boxes = 1;
  EXPECT_EQ(make_cluster(box, options).value().num_npus(), 8U);
}

TEST(Cluster, TakesTheNicsOfAFile) {
  const Topology box = imported("rccl_topo_8p_940.xml").topology;
  ClusterOptions options{
      .boxes = 2, .fabric = "switch", .nics = 0, .nic_bandwidth = {}, .latencies = {}};
  const Topology made = make_cluster(box, options).value();
  EXPECT_EQ(megabytes_between(made, "box1/nic7", "fabric"), 48'000);
  // A file that was converted says the same.
  EXPECT_EQ(make_cluster(made_of(topology_to_json(box)), options).value(), made);
  options.nic_bandwidth = {10'000'000'000};
  EXPECT_EQ(megabytes_between(make_cluster(box, options).value(), "box1/nic7", "fabric"), 10'000);
  options.nics = 1;
  const Topology one = make_cluster(box, options).value();
  EXPECT_EQ(megabytes_between(one, "box0/gpu7", "box0/nic0"), 10'000);
  EXPECT_EQ(made.num_switches() - one.num_switches(), 2U * 7);
}

TEST(Cluster, RefusesWhatCannotBeJoined) {
  const Topology box = parse_topology_spec("a100:1").value();
  const auto failure = [&](const ClusterOptions& options) {
    return make_cluster(box, options).error().to_string();
  };
  EXPECT_THAT(failure({.boxes = 2, .fabric = "switch"}), HasSubstr("has no NICs"));
  EXPECT_THAT(failure({.boxes = 2, .fabric = "switch", .nics = 2}), HasSubstr("needs --nic-bw"));
  EXPECT_THAT(failure({.boxes = 2, .fabric = "rails", .nics = 2, .nic_bandwidth = {1}}),
              HasSubstr("did you mean 'rail'"));
  EXPECT_THAT(failure({.boxes = 2, .fabric = "leaf-spine:3x2", .nics = 2, .nic_bandwidth = {1}}),
              HasSubstr("more leaves than"));
  for (const char* fabric :
       {"leaf-spine", "leaf-spine:", "leaf-spine:0x1", "leaf-spine:2", "leaf-spine:2x"}) {
    EXPECT_THAT(failure({.boxes = 2, .fabric = fabric, .nics = 2, .nic_bandwidth = {1}}),
                HasSubstr("numbers of leaves"));
  }
  EXPECT_THAT(failure({.boxes = 1U << 24U, .fabric = "ring", .nics = 2, .nic_bandwidth = {1}}),
              HasSubstr("nodes"));
}

}  // namespace
}  // namespace tacos
