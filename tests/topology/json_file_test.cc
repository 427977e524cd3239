// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tacos/topology.h"

namespace tacos {
namespace {

using ::testing::HasSubstr;

std::string error_of(const std::string& text) {
  const Result<Topology> read = parse_topology_json(text, "net.json");
  EXPECT_FALSE(read) << text;
  return read ? "" : read.error().to_string();
}

TEST(TopologyFile, ComesBackAsItWas) {
  for (const char* spec : {"mesh:3x4,bw=50GBps/75GBps,lat=0.5us/1us",
                           "ring:1",
                           "ring:2*fc:4*switch:8,bw=200GBps/100GBps/50GBps",
                           "dragonfly:4x5"}) {
    const Topology made = *parse_topology_spec(spec);
    const Result<Topology> back = parse_topology_json(topology_to_json(made), "net.json");
    ASSERT_TRUE(back) << back.error().to_string();
    EXPECT_EQ(*back, made);
    EXPECT_EQ(back->name(), made.name());
  }
}

TEST(TopologyFile, NeedsOnlyNpusAndLinks) {
  const Result<Topology> read = parse_topology_json(
      R"({"npus": 2, "links": [{"src": 0, "dst": 1, "bandwidth_Bps": 5e10}]})", "dir/net.json");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->name(), "net");
  EXPECT_EQ(read->num_switches(), 0U);
  EXPECT_EQ(read->link(LinkId(0)).bandwidth.bytes_per_second, 50'000'000'000);
  EXPECT_EQ(read->link(LinkId(0)).latency.ps, 0);
}

TEST(TopologyFile, KeepsFailedLinksAndNames) {
  const std::string text = R"({
  "version": 2,
  "name": "box",
  "npus": 2,
  "switches": 1,
  "node_names": ["gpu \"a\"", "gpu b", "nvswitch"],
  "links": [
    {"src": 0, "dst": 1, "bandwidth_Bps": 5, "latency_ps": 7},
    {"src": 1, "dst": 0, "bandwidth_Bps": 5, "latency_ps": 7, "failed": true}
  ]
}
)";
  const Result<Topology> read = parse_topology_json(text, "net.json");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_TRUE(read->failed(LinkId(1)));
  EXPECT_EQ(read->num_working_links(), 1U);
  EXPECT_EQ(read->node_name(NodeId(0)), "gpu \"a\"");
  EXPECT_EQ(read->node_name(NodeId(2)), "nvswitch");
  EXPECT_EQ(topology_to_json(*read), text);
}

TEST(TopologyFile, KeepsNamesOfAProduct) {
  const std::string head = R"({"npus": 2, "node_names": ["a", "b"], "dimensions": [)";
  const Result<Topology> read = parse_topology_json(
      head + R"({"wiring": "ring", "length": 2, "bandwidth_Bps": 5}]})", "net.json");
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->node_name(NodeId(1)), "b");
  EXPECT_EQ(product_to_json(*parse_topology_json(product_to_json(*read), "again.json")),
            product_to_json(*read));
}

TEST(TopologyFile, RefusesDimensionsOfAnotherSizeBeforeMakingThem) {
  const std::string huge =
      R"({"wiring": "fully-connected", "length": 16777216, "bandwidth_Bps": 1})";
  EXPECT_THAT(error_of(R"({"npus": 8, "dimensions": [)" + huge + ", " + huge + "]}"),
              HasSubstr("npus: is 8, which its dimensions do not make"));
  EXPECT_THAT(error_of(R"({"npus": 4, "switches": 2, "dimensions": [)"
                       R"({"wiring": "switch", "length": 4, "bandwidth_Bps": 5}]})"),
              HasSubstr("dimensions: make 1 switches, not what the file says"));
}

TEST(TopologyFile, RefusesWrongNames) {
  const auto names = [](const std::string& list) {
    return error_of(R"({"npus": 2, "links": [], "node_names": )" + list + "}");
  };
  EXPECT_THAT(names(R"("a")"), HasSubstr("node_names: must be a list of strings"));
  EXPECT_THAT(names(R"(["a", 2])"), HasSubstr("node_names: must be a list of strings"));
  EXPECT_THAT(names(R"(["a"])"), HasSubstr("node_names: there are 1 names for 2 nodes"));
  EXPECT_THAT(names(R"(["a", ""])"), HasSubstr("node_names: a name is empty"));
  EXPECT_THAT(names(R"(["a", "a"])"), HasSubstr("node_names: two nodes are called 'a'"));
  EXPECT_THAT(error_of(R"({"npus": 2, "node_names": ["a"], "dimensions": [)"
                       R"({"wiring": "ring", "length": 2, "bandwidth_Bps": 5}]})"),
              HasSubstr("node_names: there are 1 names for 2 nodes"));
}

TEST(TopologyFile, KeepsWhetherNpusForward) {
  EXPECT_THAT(error_of(R"({"npus": 2, "links": [], "npus_forward": 1})"),
              HasSubstr("npus_forward"));
  for (const char* spec : {"mesh:3x3,forward=yes", "dragonfly:2x3,forward=yes,bw=1GBps"}) {
    const Topology topology = *parse_topology_spec(spec);
    EXPECT_TRUE(topology.npus_forward());
    const Result<Topology> again = parse_topology_json(topology_to_json(topology), "again");
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_TRUE(again->npus_forward());
    EXPECT_EQ(has_product_structure(*again), has_product_structure(topology));
    const std::vector<std::string> failures{"link:0-1"};
    EXPECT_TRUE(apply_failures(topology, failures)->topology.npus_forward());
  }
  const Topology product = *parse_topology_spec("torus:3x3,forward=yes");
  EXPECT_TRUE(parse_topology_json(product_to_json(product), "again")->npus_forward());
  EXPECT_FALSE(parse_topology_spec("mesh:3x3,forward=no")->npus_forward());
  EXPECT_FALSE(parse_topology_spec("mesh:3x3")->npus_forward());
  EXPECT_THAT(parse_topology_spec("mesh:3x3,forward=maybe").error().message,
              HasSubstr("'maybe' is neither yes nor no"));
  EXPECT_THAT(parse_topology_spec("mesh:3x3,forward=yes,forward=yes").error().message,
              HasSubstr("gives forward= twice"));
}

TEST(TopologyFile, RefusesWhatIsOnlyPlanned) {
  EXPECT_THAT(error_of(R"({"npus": 2, "links": [], "version": 3})"),
              HasSubstr("version: is 3; this program reads versions 1 to 2"));
  EXPECT_THAT(error_of(R"({"npus": 2, "links": [{"src": 0, "dst": 1, "bandwidth_Bps": 1,
                          "failed": 1}]})"),
              HasSubstr("links[0].failed: must be true or false"));
}

TEST(TopologyFile, SaysWhereJsonIsBroken) {
  EXPECT_THAT(error_of("{\n  \"npus\": 2,\n  oops\n}"), HasSubstr("net.json:3:3"));
  EXPECT_THAT(error_of(""), HasSubstr("net.json:1:1"));
  EXPECT_THAT(error_of("{\"npus\": 2, \"links\": ["), HasSubstr("not valid JSON"));
}

TEST(TopologyFile, IgnoresNothing) {
  EXPECT_THAT(error_of(R"({"npus": 2, "npus": 3, "links": []})"),
              HasSubstr("'npus' is given twice"));
  EXPECT_THAT(error_of(R"({"npus": 2, "links": [{"src": 0, "dst": 1, "bandwidth_Bps": 1},
                          {"src": 1, "dst": 0, "bandwidth_Bps": 1, "src": 1}]})"),
              HasSubstr("net.json: links[1]: 'src' is given twice"));
  EXPECT_THAT(error_of(std::string(R"({"npus": 2, "links": []})") + '\0' + "and more"),
              HasSubstr("net.json:1:25: has a NUL byte here"));
}

TEST(TopologyFile, SaysWhichMemberIsWrong) {
  EXPECT_THAT(error_of("[]"), HasSubstr("must be a JSON object"));
  EXPECT_THAT(error_of(R"({"links": []})"), HasSubstr("'npus' is missing"));
  EXPECT_THAT(error_of(R"({"npus": 0, "links": []})"), HasSubstr("at least one NPU"));
  EXPECT_THAT(error_of(R"({"npus": -1, "links": []})"), HasSubstr("negative"));
  EXPECT_THAT(error_of(R"({"npus": 1.5, "links": []})"), HasSubstr("not a whole number"));
  EXPECT_THAT(error_of(R"({"npus": 1e300, "links": []})"), HasSubstr("too large"));
  EXPECT_THAT(error_of(R"({"npus": 2})"), HasSubstr("links"));
  EXPECT_THAT(error_of(R"({"npus": 2, "lnks": []})"), HasSubstr("did you mean 'links'"));
  EXPECT_THAT(error_of(R"({"npus": 2, "links": [7]})"), HasSubstr("links[0]"));
  EXPECT_THAT(error_of(R"({"npus": 2, "links": [{"src": 0, "dst": 1}]})"),
              HasSubstr("'bandwidth_Bps' is missing"));
}

TEST(TopologyFile, RefusesLinksThatCannotBe) {
  const auto link = [](const std::string& members) {
    return error_of(R"({"npus": 2, "switches": 1, "links": [{)" + members + "}]}");
  };
  EXPECT_THAT(link(R"("src": 0, "dst": 9, "bandwidth_Bps": 1)"),
              HasSubstr("links[0]: node 9 does not exist; nodes are 0 to 2"));
  EXPECT_THAT(link(R"("src": 1, "dst": 1, "bandwidth_Bps": 1)"), HasSubstr("to itself"));
  EXPECT_THAT(link(R"("src": 0, "dst": 1, "bandwidth_Bps": 0)"), HasSubstr("out of range"));
  EXPECT_THAT(link(R"("src": 0, "dst": 1, "bandwidth_Bps": -5)"), HasSubstr("negative"));
  EXPECT_THAT(link(R"("src": 0, "dst": 1, "bandwidth_Bps": "fast")"),
              HasSubstr("must be a number"));
  EXPECT_THAT(link(R"("src": 0, "dst": 1, "bandwidth_Bps": 1e400)"), HasSubstr("net.json"));
  EXPECT_THAT(link(R"("src": 0, "dst": 1, "bandwidth_Bps": 1, "latency_ps": 1e19)"),
              HasSubstr("too large"));
  EXPECT_THAT(link(R"("src": 0, "dst": 1, "bandwidth_Bps": 1, "lat": 5)"),
              HasSubstr("unknown key"));
}

TEST(TopologyFile, MayBeMissing) {
  const Result<Topology> read = load_topology("no-such-file.json");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().to_string(), HasSubstr("no-such-file.json: cannot be read"));
}

TEST(LinkCost, RoundsUpAndNeverOverflows) {
  EXPECT_EQ(serialization_time({1}, {3'000'000'000'000}).ps, 1);
  EXPECT_EQ(serialization_time({100}, {50'000'000'000}).ps, 2'000);
  EXPECT_EQ(serialization_time({1LL << 60U}, {1}), kMaxTime);
  const Link link{.src = NodeId(0), .dst = NodeId(1), .bandwidth = {1'000}, .latency = {500}};
  const LinkCost hold = link_cost(link, {1}, LinkModel::kHold);
  const LinkCost pipelined = link_cost(link, {1}, LinkModel::kPipelined);
  EXPECT_EQ(hold.busy.ps, 1'000'000'500);
  EXPECT_EQ(hold.arrival, hold.busy);
  EXPECT_EQ(pipelined.busy.ps, 1'000'000'000);
  EXPECT_EQ(pipelined.arrival, hold.arrival);
}

TEST(Topology, IsItselfWhenReversedTwice) {
  const Topology made = *parse_topology_spec("mesh:3x2,bw=50GBps/75GBps");
  const Topology turned = made.reversed();
  EXPECT_EQ(turned.reversed(), made);
  EXPECT_EQ(turned.link(LinkId(0)).src, made.link(LinkId(0)).dst);
  EXPECT_EQ(turned.in_links(NodeId(0)).size(), made.out_links(NodeId(0)).size());
}

}  // namespace
}  // namespace tacos
