// SPDX-License-Identifier: MIT
#include <string>

#include <gmock/gmock.h>

#include "tacos/bundle.h"
#include "tacos/draw.h"

#include "draw/svg.h"
#include "support/problems.h"

namespace tacos {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t count(const std::string& text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

Bundle made(const Topology& topology, CollectiveKind kind, std::int64_t chunks = 1) {
  Synthesis result = testing::synthesize_verified(
      topology, testing::problem(topology, kind, 1 << 20, chunks), {.engine = "matching"});
  return {.topology = topology,
          .collective = *std::move(result.collective),
          .link_model = LinkModel::kHold,
          .schedule = *std::move(result.schedule),
          .engine = "matching",
          .seed = 1};
}

TEST(DrawNetwork, HasEveryNodeAndLink) {
  const std::string svg = draw_network(load_topology("mesh:3x3").value());
  EXPECT_EQ(count(svg, "<circle"), 9);
  EXPECT_EQ(count(svg, "50 GB/s</title>"), 24);
  EXPECT_THAT(svg, HasSubstr("mesh:3x3"));
  EXPECT_THAT(svg, HasSubstr("9 NPUs, 24 links"));
  EXPECT_EQ(svg, draw_network(load_topology("mesh:3x3").value()));
}

TEST(DrawNetwork, NamesAreTextAndNotMarkup) {
  TopologyBuilder builder("<script>alert(1)</script>&\"\x01", 2, 1);
  builder.set_node_names({"<b>", "x/</svg>", "\"><script>"});
  for (std::uint32_t npu = 0; npu < 2; ++npu) {
    builder.add_both({.src = NodeId(npu), .dst = NodeId(2), .bandwidth = {1}, .latency = {}});
  }
  const std::string svg = draw_network(std::move(builder).build().value());
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
  EXPECT_THAT(svg, Not(HasSubstr("\x01")));
  EXPECT_EQ(count(svg, "</svg>"), 1);
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
}

TEST(DrawNetwork, DashesWhatFailed) {
  const std::vector<std::string> failures{"link:0-1", "npu:5"};
  const std::string svg =
      draw_network(apply_failures(load_topology("mesh:3x3").value(), failures)->topology);
  EXPECT_EQ(count(svg, ", failed</title>"), 8);
  EXPECT_THAT(svg, HasSubstr("24 links, 8 failed"));
  EXPECT_THAT(svg, HasSubstr(">failed</text>"));
}

TEST(DrawNetwork, ColoursByUtilization) {
  const Topology ring = load_topology("ring:4").value();
  const Bundle bundle = made(ring, CollectiveKind::kAllGather);
  const std::string svg =
      draw_network(bundle, {.bound = bundle.schedule.collective_time()}).value();
  EXPECT_THAT(svg, HasSubstr("all-gather of 1 MiB on ring:4"));
  EXPECT_THAT(svg, HasSubstr("100.0% of the bound"));
  EXPECT_EQ(count(svg, "% busy</title>"), 8);
  // Without a bound there is nothing to compare with.
  EXPECT_THAT(draw_network(bundle).value(), Not(HasSubstr("of the bound")));
}

TEST(DrawNetwork, LargeNetworksTakeFewWords) {
  const std::string svg = draw_network(load_topology("mesh:300x300").value());
  EXPECT_LT(svg.size(), 6'000'000);
  EXPECT_EQ(count(svg, "<title>"), 0);
}

TEST(DrawTimeline, HasABlockForEveryTransferOfASmallSchedule) {
  const Bundle bundle = made(load_topology("ring:4").value(), CollectiveKind::kAllGather);
  const std::string svg = draw_timeline(bundle, {.bound = Ticks{1'000'000}}).value();
  // A rectangle goes back to the left.
  EXPECT_EQ(count(svg, "h-"), bundle.schedule.num_transfers());
  EXPECT_THAT(svg, HasSubstr("bound 1.000 us"));
  EXPECT_THAT(svg, HasSubstr(">0&gt;1</text>"));
  EXPECT_THAT(svg, Not(HasSubstr(">reduce</text>")));
}

TEST(DrawTimeline, TellsReductionsFromCopies) {
  const Bundle bundle = made(load_topology("ring:4").value(), CollectiveKind::kAllReduce, 4);
  const std::string svg = draw_timeline(bundle).value();
  EXPECT_THAT(svg, HasSubstr(">reduce</text>"));
  EXPECT_THAT(svg, HasSubstr(">copy</text>"));
}

TEST(DrawTimeline, DrawsManyLinksTogether) {
  const Bundle bundle = made(load_topology("mesh:16x16").value(), CollectiveKind::kAllGather);
  const std::string svg = draw_timeline(bundle).value();
  EXPECT_THAT(svg, HasSubstr("960 links,"));
  EXPECT_THAT(svg, HasSubstr("5 in a row"));
  EXPECT_LT(svg.size(), 4'000'000);
}

TEST(BusyColour, GetsDarkerAsLinksGetBusier) {
  double before = 1e9;
  for (int percent = 0; percent <= 100; percent += 2) {
    const draw::Colour colour = draw::busy_colour(percent / 100.0);
    const double light = 0.2126 * colour.red + 0.7152 * colour.green + 0.0722 * colour.blue;
    EXPECT_LT(light, before);
    before = light;
  }
}

}  // namespace
}  // namespace tacos
