// SPDX-License-Identifier: MIT
// Valid schedules are accepted, and the report has the right numbers.
#include "tacos/verify.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/builder.h"
#include "schedule/source.h"
#include "verify/cases.h"

namespace tacos::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

void expect_valid(const Case& given) {
  const VerifyReport report = given.report();
  EXPECT_THAT(report.violations, IsEmpty());
  EXPECT_TRUE(report.valid());
  EXPECT_EQ(report.num_transfers, given.transfers.size());
}

TEST(Verify, AcceptsAllGatherOnARing) {
  for (const std::uint32_t npus : {2U, 3U, 4U}) {
    expect_valid(ring_all_gather(npus));
  }
}

TEST(Verify, AcceptsReduceScatterOnARing) {
  for (const std::uint32_t npus : {2U, 3U, 4U}) {
    expect_valid(ring_reduce_scatter(npus));
  }
}

TEST(Verify, AcceptsAllReduceOnARing) {
  for (const std::uint32_t npus : {2U, 3U, 4U}) {
    expect_valid(ring_all_reduce(npus));
  }
}

TEST(Verify, AcceptsAllReduceOverATreeWithOverlappingChunks) {
  expect_valid(rooted_all_reduce(5));
}

TEST(Verify, ReportsTransfersAndCollectiveTime) {
  const VerifyReport report = ring_all_gather(4).report();
  EXPECT_EQ(report.num_transfers, 12U);
  EXPECT_EQ(report.collective_time, Ticks{3 * kStep});
}

TEST(Verify, ReadsEncodedSchedules) {
  const Case given = ring_all_reduce(4);
  ScheduleBuilder builder(given.topology.num_links());
  for (const ListedTransfer& transfer : given.transfers) {
    builder.append(Ticks{transfer.start},
                   transfer.op,
                   LinkId(transfer.links[0]),
                   ChunkId(transfer.chunks[0]),
                   Ticks{transfer.start + kStep});
  }
  const auto report = verify(given.topology, given.collective, std::move(builder).build());
  ASSERT_TRUE(report);
  EXPECT_THAT(report->violations, IsEmpty());
}

TEST(Verify, AcceptsNoTransfersForOneParticipant) {
  for (const CollectiveKind kind : {kAllGather, kReduceScatter, kAllReduce}) {
    expect_valid({line(2), Collective::make(kind, Bytes{9}, 3, {NodeId(1)}).value(), {}});
  }
}

TEST(Verify, LetsLatencyOverlapOnlyWhenPipelined) {
  Case given{one_way_ring(2), make_collective(kAllGather, 2, 2), {}};
  given.transfers = {{0, Op::kCopy, {0}, {0}},
                     {0, Op::kCopy, {1}, {2}},
                     {100, Op::kCopy, {0}, {1}},
                     {100, Op::kCopy, {1}, {3}}};
  EXPECT_EQ(given.report().num_violations, 2U);
  given.options.link_model = LinkModel::kPipelined;
  expect_valid(given);
  EXPECT_EQ(given.report().collective_time, Ticks{210});
}

TEST(Verify, AcceptsRoutesThroughASwitch) {
  Case given = switched_all_gather();
  expect_valid(given);
  EXPECT_EQ(given.report().collective_time, Ticks{215});
  given.options.link_model = LinkModel::kPipelined;
  expect_valid(given);
}

TEST(Verify, TakesTheSlowestLinkOfARouteOnce) {
  // NPU 0 - switch 2 - switch 3 - NPU 1, the middle at half speed.
  TopologyBuilder builder("two switches", 2, 2);
  builder.add_both(make_link(0, 2, 5)).add_both(make_link(2, 3, 7, 500'000'000'000));
  builder.add_both(make_link(3, 1, 9));
  Case given{std::move(builder).build().value(), make_collective(kAllGather, 2, 2), {}};
  given.transfers = {{0, Op::kCopy, {0, 2, 4}, {0}},
                     {0, Op::kCopy, {5, 3, 1}, {2}},
                     {207, Op::kCopy, {0, 2, 4}, {1}},
                     {207, Op::kCopy, {5, 3, 1}, {3}}};
  expect_valid(given);
  EXPECT_EQ(given.report().collective_time, Ticks{207 + 21 + 200});
  given.transfers[2].start = 206;
  given.transfers[3].start = 206;
  EXPECT_EQ(given.report().num_violations, 2U);
}

TEST(Verify, LetsHeadsReachALinkOutOfStartOrder) {
  // The route from NPU 0 to NPU 2 starts first but reaches the last link after the one from NPU 1.
  TopologyBuilder builder("star", 3, 1);
  builder.add_both(make_link(0, 3, 500)).add_both(make_link(1, 3, 5)).add_both(make_link(2, 3, 5));
  Case given{std::move(builder).build().value(),
             Collective::make(kAllGather, Bytes{300}, 1, {NodeId(0), NodeId(1), NodeId(2)}).value(),
             {{0, Op::kCopy, {0, 5}, {0}},
              {10, Op::kCopy, {2, 5}, {1}},
              {2000, Op::kCopy, {0, 3}, {0}},
              {3000, Op::kCopy, {2, 1}, {1}},
              {4000, Op::kCopy, {4, 1}, {2}},
              {5000, Op::kCopy, {4, 3}, {2}}}};
  given.options.link_model = LinkModel::kPipelined;
  expect_valid(given);
  given.transfers[1].start = 400;  // busy from 405 to 505, and the other head comes at 500
  EXPECT_EQ(given.report().num_violations, 1U);
}

TEST(Verify, AddsUpTheBytesOfChunksThatShareATransfer) {
  Case given{line(2), make_collective(kAllGather, 2, 2), {}};
  given.transfers = {{0, Op::kCopy, {0}, {1, 0}}, {0, Op::kCopy, {1}, {2, 3}}};
  expect_valid(given);
  EXPECT_EQ(given.report().collective_time, Ticks{210});
  Case sums{line(2), make_collective(kAllReduce, 3, 2), {}};
  sums.transfers = {{0, Op::kReduce, {0}, {0, 1, 2}}, {310, Op::kCopy, {1}, {0, 1, 2}}};
  expect_valid(sums);
}

TEST(Verify, KnowsThatChunksDifferByAByte) {
  // 7 bytes are chunks of 3 and 4.
  Case given{line(2), Collective::over_all(kAllGather, Bytes{7}, 1, 2).value(), {}};
  given.transfers = {{0, Op::kCopy, {0}, {0}}, {0, Op::kCopy, {1}, {1}}, {13, Op::kCopy, {0}, {0}}};
  expect_valid(given);
  given.transfers[2] = {13, Op::kCopy, {1}, {1}};
  EXPECT_EQ(given.report().num_violations, 1U);
  given.transfers[2].start = 14;
  expect_valid(given);
}

TEST(Verify, LetsOthersRelay) {
  const std::vector<NodeId> ends{NodeId(0), NodeId(2)};
  Case gather{line(3), Collective::make(kAllGather, Bytes{200}, 1, ends).value(), {}};
  gather.transfers = {{0, Op::kCopy, {0}, {0}},
                      {0, Op::kCopy, {3}, {1}},
                      {kStep, Op::kCopy, {1}, {1}},
                      {kStep, Op::kCopy, {2}, {0}}};
  expect_valid(gather);
  Case reduce{line(3), Collective::make(kAllReduce, Bytes{100}, 1, ends).value(), {}};
  reduce.transfers = {{0, Op::kReduce, {0}, {0}},
                      {0, Op::kReduce, {3}, {0}},
                      {kStep, Op::kCopy, {1}, {0}},
                      {kStep, Op::kCopy, {2}, {0}}};
  expect_valid(reduce);
}

TEST(Verify, AcceptsCopiesThatChangeNothing) {
  Case given = ring_all_gather(3);
  given.transfers.push_back({2 * kStep, Op::kCopy, {0}, {0}});
  expect_valid(given);
  // NPU 1 gets the sum again while it is sending it.
  Case sums = rooted_all_reduce(1);
  sums.transfers.push_back({2 * kStep, Op::kCopy, {0}, {0}});
  sums.transfers.push_back({2 * kStep + 50, Op::kCopy, {2}, {0}});
  expect_valid(sums);
}

TEST(Verify, SaysTheSameInLittleMemory) {
  Case given = rooted_all_reduce(5);
  for (const std::size_t memory : {0U, 1U, 100U, 144U, 1000U}) {
    given.options.memory_bytes = memory;
    expect_valid(given);
  }
  Case broken = given;
  broken.transfers[9].op = Op::kReduce;  // chunk 1, downwards
  const VerifyReport at_once = broken.report();
  broken.options.memory_bytes = 0;
  EXPECT_EQ(broken.report().violations, at_once.violations);
  EXPECT_EQ(at_once.num_violations, 1U);
}

TEST(Verify, AcceptsTheLatestTimeThereIs) {
  Case given = ring_all_gather(2);
  for (ListedTransfer& transfer : given.transfers) {
    transfer.start = kMaxTime.ps - kStep;
  }
  EXPECT_TRUE(given.report({.transfers = 2, .moves = 2, .collective_time = kMaxTime}).valid());
}

class BrokenSource final : public TransferSource {
 public:
  class Cursor final : public TransferCursor {
   public:
    [[nodiscard]] Status next(TransferBatch& /*batch*/) override {
      return input_error("has a damaged block");
    }
  };
  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override {
    return std::make_unique<Cursor>();
  }
  [[nodiscard]] std::size_t memory_bytes() const override { return 0; }
};

TEST(Verify, FailsWhenTheScheduleCannotBeRead) {
  for (const Case& given : {ring_all_gather(2), ring_all_reduce(2)}) {
    const auto report = verify(
        given.topology, given.collective, make_schedule(std::make_shared<BrokenSource>(), {}));
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().message, "has a damaged block");
  }
}

TEST(Verify, RefusesLinksThatHaveFailed) {
  for (const Case& given : {ring_all_gather(4), ring_all_reduce(4)}) {
    for (std::uint32_t failed = 0; failed < given.topology.num_links(); ++failed) {
      TopologyBuilder builder("failed", given.topology.num_npus());
      for (std::uint32_t id = 0; id < given.topology.num_links(); ++id) {
        const Link& link = given.topology.link(LinkId(id));
        id == failed ? builder.add_failed_link(link) : builder.add_link(link);
      }
      Case broken = given;
      broken.topology = std::move(builder).build().value();
      const bool used =
          std::any_of(given.transfers.begin(), given.transfers.end(), [&](const auto& transfer) {
            return transfer.links.front() == failed;
          });
      const VerifyReport report = broken.report();
      EXPECT_EQ(report.valid(), !used);
      if (used) {
        EXPECT_THAT(report.violations.front(),
                    HasSubstr(fmt::format("link {} has failed", failed)));
      }
    }
  }
}

TEST(Verify, RefusesToReplayWhatDoesNotFitIntoMemory) {
  const Topology topology = parse_topology_spec("ring:1000000").value();
  const Collective collective =
      Collective::over_all(CollectiveKind::kAllGather, Bytes{1LL << 50U}, 2'000, 1'000'000).value();
  const Result<VerifyReport> report = verify(topology, collective, listed_schedule({}, {}));
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().to_string(), ::testing::HasSubstr("ring:1000000: needs 227.4 TiB"));
}

}  // namespace
}  // namespace tacos::test
