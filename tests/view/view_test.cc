// SPDX-License-Identifier: MIT
#include "tacos/view.h"

#include <cmath>
#include <numeric>

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "export/pictures/passages.h"
#include "support/listed_schedule.h"
#include "support/problems.h"
#include "support/random_task.h"
#include "view/page_data.h"
#include "view/piece.h"

namespace tacos {
namespace {

using test::data_of;
using test::ListedTransfer;
using test::numbers_of;

Bundle bundle_of(const Topology& topology,
                 const Problem& problem,
                 const SynthesisOptions& options) {
  Synthesis made = testing::synthesize_verified(topology, problem, options);
  return {.topology = topology,
          .collective = *made.collective,
          .link_model = options.link_model,
          .schedule = *made.schedule,
          .engine = made.engine,
          .seed = options.seed};
}

nlohmann::json side_of(const Bundle& bundle, const ViewOptions& options = {}) {
  const Result<std::string> page = view_page(std::span(&bundle, 1), options);
  EXPECT_TRUE(page) << page.error().to_string();
  return data_of(*page)["sides"][0];
}

/// The transfers of a page, each with what its course says.
struct Held {
  std::vector<ListedTransfer> transfers;
  std::vector<double> ends;
};

Held held_of(const nlohmann::json& side) {
  const auto& transfers = side["transfers"];
  const auto& courses = side["courses"];
  const std::vector<double> start = numbers_of(transfers["start"]);
  const std::vector<double> course = numbers_of(transfers["course"]);
  const std::vector<double> reduces = numbers_of(transfers["reduces"]);
  const std::vector<double> num_chunks = numbers_of(transfers["num_chunks"]);
  const std::vector<double> chunks = numbers_of(transfers["chunks"]);
  const std::vector<double> num_links = numbers_of(courses["num_links"]);
  const std::vector<double> links = numbers_of(courses["links"]);
  const std::vector<double> arrival = numbers_of(courses["arrival"]);
  std::vector<std::size_t> first{0};
  for (const double count : num_links) {
    first.push_back(first.back() + static_cast<std::size_t>(count));
  }
  Held held;
  std::size_t chunk = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    const auto at = static_cast<std::size_t>(course[i]);
    ListedTransfer transfer{.start = static_cast<std::int64_t>(start[i]),
                            .op = reduces[i] > 0 ? Op::kReduce : Op::kCopy,
                            .links = {},
                            .chunks = {}};
    for (std::size_t link = first[at]; link < first[at + 1]; ++link) {
      transfer.links.push_back(static_cast<std::uint32_t>(links[link]));
    }
    for (double left = num_chunks[i]; left > 0; --left) {
      transfer.chunks.push_back(static_cast<std::uint32_t>(chunks[chunk++]));
    }
    held.ends.push_back(start[i] + arrival[at]);
    held.transfers.push_back(transfer);
  }
  return held;
}

/// By link, how long the transfers of a page keep it busy.
std::vector<double> busy_of(const nlohmann::json& side) {
  return numbers_of(side["network"]["links"]["busy"]);
}

RC_GTEST_PROP(View, HoldsEveryTransferOfASmallSchedule, ()) {
  const testing::Task task = testing::any_task();
  const LinkModel model = task.seed % 2 == 0 ? LinkModel::kHold : LinkModel::kPipelined;
  RC_PRE(task.problem.participants.size() > 1);
  const Bundle bundle =
      bundle_of(task.topology, task.problem, {.link_model = model, .seed = task.seed, .effort = 1});
  const nlohmann::json side = side_of(bundle);
  RC_ASSERT(side["detail"] == "whole");
  const Held held = held_of(side);
  RC_ASSERT(held.transfers == test::listed(bundle.schedule));
  double last = 0;
  for (const double end : held.ends) {
    last = std::max(last, end);
  }
  RC_ASSERT(last == static_cast<double>(bundle.schedule.collective_time().ps));
  const auto uses = exporting::uses_of(bundle);
  const std::vector<double> busy = busy_of(side);
  double sum = 0;
  for (std::size_t link = 0; link < busy.size(); ++link) {
    RC_ASSERT(busy[link] == static_cast<double>((*uses)[link].busy.ps));
    sum += busy[link];
  }
  // The strip says the same of all links together; its windows are of equal length.
  const std::vector<double> strip = numbers_of(side["strip"]);
  const double area =
      std::accumulate(strip.begin(), strip.end(), 0.) * last / static_cast<double>(strip.size());
  RC_ASSERT(std::abs(area - sum) <= 1e-3 * sum);
}

TEST(View, BeyondTheBudgetHoldsSumsAndSomeChunks) {
  const Topology topology = testing::network("mesh:4x4");
  const Bundle bundle =
      bundle_of(topology, testing::problem(topology, CollectiveKind::kAllGather, 1 << 24U, 4), {});
  const nlohmann::json side = side_of(bundle, {.most_moves = 200});
  EXPECT_EQ(side["detail"], "sums");
  EXPECT_NE(side["note"].get<std::string>().find("transfers are too many"), std::string::npos);
  const std::vector<double> held = numbers_of(side["chunks"]["held"]);
  ASSERT_EQ(held.size(), 6U);
  std::vector<ListedTransfer> expected;
  for (const ListedTransfer& transfer : test::listed(bundle.schedule)) {
    if (std::find_first_of(
            transfer.chunks.begin(), transfer.chunks.end(), held.begin(), held.end()) !=
        transfer.chunks.end()) {
      expected.push_back(transfer);
    }
  }
  EXPECT_TRUE(held_of(side).transfers == expected);
  // Every cell is the share of its window in which its link is busy.
  const auto windows = side["cells"]["windows"].get<std::size_t>();
  const std::vector<double> cells = numbers_of(side["cells"]["busy"]);
  const std::vector<double> busy = busy_of(side);
  ASSERT_EQ(cells.size(), windows * busy.size());
  const auto time = side["time"].get<double>();
  for (std::size_t link = 0; link < busy.size(); ++link) {
    double sum = 0;
    for (std::size_t window = 0; window < windows; ++window) {
      sum += cells[link * windows + window] / 255 * time / static_cast<double>(windows);
    }
    EXPECT_NEAR(sum, busy[link], 0.01 * time);
  }
}

TEST(View, ShowsOnePatternOfAVeryLongSchedule) {
  for (const char* spec : {"torus:9x9,bw=50GBps/25GBps", "ring:4*switch:8", "fc:40"}) {
    const Topology topology = testing::network(spec);
    const Bundle bundle =
        bundle_of(topology,
                  testing::problem(topology, CollectiveKind::kAllGather, 1 << 20U, 2),
                  {.engine = "symmetric"});
    const nlohmann::json side = side_of(bundle, {.most_pattern_npus = 25, .most_read_moves = 100});
    ASSERT_EQ(side["detail"], "pattern") << spec;
    EXPECT_LE(side["network"]["shown_npus"].get<int>(), 25);
    EXPECT_EQ(side["network"]["npus"].get<std::uint32_t>(), topology.num_npus());
    // Links of the piece do what they do in the whole, to within a byte of a chunk.
    const std::vector<double> ids = numbers_of(side["network"]["link_ids"]);
    const std::vector<double> busy = busy_of(side);
    const auto uses = exporting::uses_of(bundle);
    for (std::size_t link = 0; link < ids.size(); ++link) {
      const auto expected =
          static_cast<double>((*uses)[static_cast<std::size_t>(ids[link])].busy.ps);
      EXPECT_NEAR(busy[link], expected, 1e-3 * expected) << spec << " link " << ids[link];
    }
    // What is held are transfers of NPU 0's chunks.
    const std::vector<ListedTransfer> all = test::listed(bundle.schedule);
    const Held held = held_of(side);
    EXPECT_FALSE(held.transfers.empty());
    for (ListedTransfer transfer : held.transfers) {
      for (std::uint32_t& link : transfer.links) {
        link = static_cast<std::uint32_t>(ids[link]);
      }
      EXPECT_LT(transfer.chunks.front(), 2U);
      EXPECT_NE(std::find(all.begin(), all.end(), transfer), all.end());
    }
  }
}

TEST(View, PieceOfATorusIsAGridAroundNpu0) {
  const viewing::Piece piece = viewing::around_npu_0(testing::network("torus:16x16"), 30);
  EXPECT_EQ(piece.network.num_npus(), 25U);
  EXPECT_EQ(piece.network.num_links(), 80U);
  EXPECT_EQ(piece.nodes[12], NodeId(0));
  EXPECT_EQ(piece.nodes[0], NodeId(14 + 16 * 14));
}

TEST(View, NamesNeverEndTheData) {
  TopologyBuilder builder("<b>&\u2028</script><script>alert(1)</script>", 2);
  builder.set_node_names({"<img src=x onerror=alert(1)>", "</script>"});
  builder.add_both({NodeId(0), NodeId(1), Bandwidth{50'000'000'000}, Ticks{500'000}});
  const Topology topology = std::move(builder).build().value();
  const Bundle bundle =
      bundle_of(topology, testing::problem(topology, CollectiveKind::kAllGather, 1'000), {});
  const Result<std::string> page = view_page(std::span(&bundle, 1));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->find("alert(1)<"), std::string::npos);
  EXPECT_EQ(page->find("<img"), std::string::npos);
  EXPECT_EQ(page->find("\u2028", page->find("id=\"data\"")), std::string::npos);
  const nlohmann::json side = data_of(*page)["sides"][0];
  EXPECT_EQ(side["network"]["name"], topology.name());
  EXPECT_EQ(side["network"]["names"][1], "</script>");
}

TEST(View, IsTheSameOnAnyNumberOfThreads) {
  const Topology topology = testing::network("mesh:4x4");
  const Bundle bundle =
      bundle_of(topology, testing::problem(topology, CollectiveKind::kAllReduce, 1 << 24U), {});
  const Result<std::string> one =
      view_page(std::span(&bundle, 1), {.most_moves = 500, .threads = 1});
  const Result<std::string> four =
      view_page(std::span(&bundle, 1), {.most_moves = 500, .threads = 4});
  ASSERT_TRUE(one && four);
  EXPECT_EQ(*one, *four);
}

TEST(View, TakesSchedulesOfNothing) {
  const Topology topology = testing::network("ring:2");
  const Bundle bundle =
      bundle_of(topology, testing::problem(topology, CollectiveKind::kAllGather, 1'000), {});
  Bundle alone = bundle;
  alone.collective = Collective::make(CollectiveKind::kAllGather, {1'000}, 1, {NodeId(0)}).value();
  alone.schedule = test::listed_schedule({}, {});
  const nlohmann::json side = side_of(alone);
  EXPECT_EQ(side["time"], 0);
  EXPECT_EQ(numbers_of(side["transfers"]["start"]).size(), 0U);
}

}  // namespace
}  // namespace tacos
