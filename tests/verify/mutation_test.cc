// SPDX-License-Identifier: MIT
// Every documented way to break a schedule is caught, and said in the right words.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tacos/verify.h"

#include "verify/cases.h"

namespace tacos::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

void expect_only(const Case& broken, const char* sentence) {
  EXPECT_THAT(broken.report().violations, ElementsAre(HasSubstr(sentence)));
}

void expect_among(const Case& broken, const char* sentence) {
  EXPECT_THAT(broken.report().violations, Contains(HasSubstr(sentence)));
}

TEST(Verify, RejectsADroppedTransfer) {
  Case broken = ring_all_gather(4);
  broken.transfers.erase(broken.transfers.begin() + 11);  // NPU 3 sends chunk 1 to NPU 0
  expect_only(broken, "NPU 0 never gets chunk 1");
}

TEST(Verify, RejectsChunkSentBeforeArrival) {
  Case broken = ring_all_gather(3);
  broken.options.link_model = LinkModel::kPipelined;
  for (std::size_t i = 3; i < 6; ++i) {
    broken.transfers[i].start = kStep - 1;
  }
  EXPECT_THAT(broken.report().violations,
              ElementsAre("transfer 3 (start 109 ps, link 0: NPU 0 > NPU 1, chunk 2): NPU 0 does "
                          "not hold chunk 2 at the start",
                          HasSubstr("NPU 1 does not hold chunk 0 at the start"),
                          HasSubstr("NPU 2 does not hold chunk 1 at the start")));
}

TEST(Verify, RejectsAChunkSentByAnNpuThatNeverHadIt) {
  Case broken = ring_all_gather(3);
  broken.transfers[0].chunks = {1};
  expect_among(broken, "NPU 0 does not hold chunk 1 at the start");
  Case sums{line(3), Collective::make(kAllReduce, Bytes{9}, 1, {NodeId(0)}).value(), {}};
  sums.transfers = {{0, Op::kReduce, {1}, {0}}};
  expect_only(sums, "NPU 1 does not hold chunk 0 at the start");
}

TEST(Verify, RejectsALinkTakenOnePicosecondEarly) {
  Case broken = rooted_all_reduce(2);
  broken.transfers[2].start = kStep - 1;
  expect_only(broken,
              "transfer 2 (start 109 ps, link 0: NPU 0 > NPU 1, chunk 1): link 0 is busy until 110 "
              "ps");
}

TEST(Verify, RejectsAStartBeforeTheSumIsComplete) {
  Case broken = rooted_all_reduce(1);
  broken.transfers[2].start = kStep - 1;
  expect_among(broken, "NPU 0 ends with the wrong sum of chunk 0");
  expect_among(broken, "transfer 0 changes chunk 0 at NPU 1 at 110 ps, while NPU 1 is sending it");
}

TEST(Verify, RejectsADuplicatedReduce) {
  Case broken = ring_reduce_scatter(3);
  ListedTransfer again = broken.transfers[5];  // NPU 2 to NPU 0, chunk 0: the sum of NPUs 1 and 2
  again.start += kStep;
  broken.transfers.push_back(again);
  expect_only(broken,
              "NPU 0 ends with the wrong sum of chunk 0: some contributions are missing or");
}

TEST(Verify, NamesTheContributionThatIsCountedTwice) {
  Case broken = rooted_all_reduce(1);
  broken.transfers.insert(broken.transfers.begin() + 2, {kStep, Op::kReduce, {0}, {0}});
  broken.transfers[3].start = 2 * kStep;
  broken.transfers[4].start = 2 * kStep;
  expect_among(broken,
               "NPU 2 ends with the wrong sum of chunk 0: the contribution of NPU 0 is counted "
               "twice");
}

TEST(Verify, NamesTheContributionThatIsMissing) {
  Case broken = rooted_all_reduce(1);
  broken.transfers.erase(broken.transfers.begin() + 1);
  expect_among(broken,
               "NPU 1 ends with the wrong sum of chunk 0: the contribution of NPU 2 is missing");
}

TEST(Verify, RejectsAReduceThatShouldCopyAndTheReverse) {
  Case adds = rooted_all_reduce(1);
  adds.transfers[2].op = Op::kReduce;
  expect_only(adds,
              "NPU 0 ends with the wrong sum of chunk 0: the contribution of NPU 0 is counted "
              "twice");
  Case copies = ring_reduce_scatter(3);
  copies.transfers[0].op = Op::kCopy;
  expect_only(copies, "ends with the wrong sum");
}

TEST(Verify, RejectsAddingInACopyingCollective) {
  Case broken = ring_all_gather(3);
  broken.transfers[4].op = Op::kReduce;
  expect_only(
      broken,
      "transfer 4 (start 110 ps, link 1: NPU 1 > NPU 2, chunk 0): all-gather copies, it does "
      "not add");
}

TEST(Verify, RejectsTheWrongLink) {
  Case broken = ring_all_gather(3);
  broken.transfers[0].links = {1};
  expect_among(broken, "NPU 1 does not hold chunk 0 at the start");
  expect_among(broken, "link 1 is busy until 110 ps");
}

TEST(Verify, RejectsLinksAndChunksThatDoNotExist) {
  for (const std::uint32_t id : {3U, 4U, std::numeric_limits<std::uint32_t>::max()}) {
    Case link = ring_all_gather(3);
    link.transfers[1].links = {id};
    expect_among(link, "does not exist; the network has 3 links");
    for (Case chunk : {ring_all_gather(3), ring_reduce_scatter(3)}) {
      chunk.transfers[1].chunks = {id};
      expect_among(chunk, "does not exist; the collective has 3 chunks");
      chunk.transfers[1].chunks = {0, 1, id};
      expect_among(chunk, "does not exist; the collective has 3 chunks");
    }
  }
}

TEST(Verify, RejectsAChunkListedTwice) {
  Case broken{line(2), make_collective(kAllGather, 2, 2), {}};
  broken.transfers = {{0, Op::kCopy, {0}, {0, 1, 0}}, {0, Op::kCopy, {1}, {2, 3}}};
  expect_among(broken, "chunks 0, 1, 0): lists a chunk twice");
}

TEST(Verify, RejectsABrokenRoute) {
  Case broken = switched_all_gather();
  broken.transfers[0].links = {0, 2};
  expect_among(broken, "the route is broken: link 0 ends at switch 3, but link 2 begins at NPU 1");
  expect_among(broken, "links 0, 2: NPU 0 > switch 3 | NPU 1 > switch 3");
}

TEST(Verify, RejectsARouteWithoutItsSwitch) {
  Case ends_early = switched_all_gather();
  ends_early.transfers[0].links = {0};
  expect_among(ends_early, "ends at switch 3, which holds no data");
  Case begins_late = switched_all_gather();
  begins_late.transfers[0].links = {3};
  expect_among(begins_late, "begins at switch 3, which holds no data");
}

TEST(Verify, RejectsARouteThroughAnNpu) {
  Case broken = ring_all_gather(3);
  broken.transfers[0].links = {0, 1};
  expect_among(broken, "the route passes through NPU 1");
}

TEST(Verify, RejectsAHeadThatMeetsABusyLink) {
  Case broken = switched_all_gather();
  broken.transfers[4].start = 104;
  std::swap(broken.transfers[3], broken.transfers[4]);
  EXPECT_THAT(broken.report().violations,
              ElementsAre(HasSubstr("link 2 is busy until 105 ps"),
                          "transfer 3 reaches link 1: switch 3 > NPU 0 at 109 ps, but the link is "
                          "busy until 110 ps"));
}

TEST(Verify, RejectsTransfersOutOfStartOrder) {
  Case broken = ring_all_gather(3);
  std::swap(broken.transfers[2], broken.transfers[3]);
  expect_among(broken, "transfers must come in start order, but one before it starts at 110 ps");
}

TEST(Verify, RejectsTimesOutOfRange) {
  Case early = ring_all_gather(3);
  early.transfers[0].start = -1;
  expect_among(early, "starts before time 0");
  for (const std::int64_t start : {kMaxTime.ps - kStep + 1,
                                   kMaxTime.ps,
                                   kMaxTime.ps + 1,
                                   std::numeric_limits<std::int64_t>::max()}) {
    for (Case late : {ring_all_gather(3), ring_all_reduce(3), switched_all_gather()}) {
      late.transfers.back().start = start;
      expect_among(late, "ends after 4611686018427387904 ps, the latest time there is");
    }
  }
}

TEST(Verify, RejectsARouteOfHugeLatencies) {
  TopologyBuilder builder("slow", 2, 3);
  builder.add_link(make_link(0, 2, kMaxTime.ps - 1)).add_link(make_link(2, 3, kMaxTime.ps - 1));
  builder.add_link(make_link(3, 4, kMaxTime.ps - 1)).add_link(make_link(4, 1, 1, 1));
  Case broken{std::move(builder).build().value(),
              Collective::over_all(kAllGather, Bytes{kMaxSizeBytes}, 1, 2).value(),
              {{0, Op::kCopy, {0, 1, 2, 3}, {0}}}};
  EXPECT_THAT(broken.report(Schedule::Totals{}).violations,
              Contains(HasSubstr("the latest time there is")));
}

TEST(Verify, RejectsTransfersOfNothing) {
  Case no_link = ring_all_gather(3);
  no_link.transfers[0].links = {};
  expect_among(no_link, "transfer 0 (start 0 ps, no link, chunk 0): takes no link");
  Case no_chunk = ring_all_gather(3);
  no_chunk.transfers[0].chunks = {};
  expect_among(no_chunk,
               "transfer 0 (start 0 ps, link 0: NPU 0 > NPU 1, no chunk): moves no chunk");
}

TEST(Verify, IsNotFooledByABatchThatOnlyAddsUpToSimple) {
  // One link too few and one too many make as many links as transfers.
  Case broken = ring_all_gather(3);
  broken.transfers[0].links = {};
  broken.transfers[1].links = {0, 1};
  expect_among(broken, "takes no link");
  expect_among(broken, "the route passes through NPU 1");
}

TEST(Verify, RejectsWrongTotals) {
  const Case given = ring_all_gather(3);
  const Schedule::Totals right{.transfers = 6, .moves = 6, .collective_time = Ticks{2 * kStep}};
  EXPECT_TRUE(given.report(right).valid());
  Schedule::Totals wrong = right;
  wrong.transfers = 7;
  EXPECT_THAT(given.report(wrong).violations,
              ElementsAre("the schedule says it has 7 transfers, but it has 6"));
  wrong = right;
  wrong.moves = 5;
  EXPECT_THAT(given.report(wrong).violations,
              ElementsAre("the schedule says it moves 5 chunks, but it moves 6"));
  wrong = right;
  wrong.collective_time = Ticks{2 * kStep - 1};
  EXPECT_THAT(given.report(wrong).violations,
              ElementsAre("the schedule says it takes 219 ps, but it takes 220 ps"));
}

TEST(Verify, RejectsAChunkOverwrittenWhileBeingSent) {
  // NPU 1 sends the sum to NPU 2 over a slow link while NPU 2's contribution comes a second time.
  // Then NPU 0 sets it right again: all sums are right in the end, but what NPU 2 got is garbage.
  TopologyBuilder builder("slow way", 3);
  builder.add_both(make_link(0, 1)).add_link(make_link(1, 2, 10, 100'000'000'000));
  builder.add_link(make_link(2, 1));
  const Case broken{std::move(builder).build().value(),
                    make_collective(kAllReduce, 1, 3),
                    {{0, Op::kReduce, {0}, {0}},
                     {0, Op::kReduce, {3}, {0}},
                     {kStep, Op::kCopy, {1}, {0}},
                     {kStep, Op::kCopy, {2}, {0}},
                     {kStep, Op::kReduce, {3}, {0}},
                     {300, Op::kCopy, {0}, {0}}}};
  EXPECT_THAT(
      broken.report().violations,
      ElementsAre("transfer 4 changes chunk 0 at NPU 1 at 220 ps, while NPU 1 is sending it "
                  "until 1120 ps",
                  HasSubstr("transfer 5 changes chunk 0 at NPU 1 at 410 ps")));
}

TEST(Verify, LetsAChunkChangeWhenItsTransferEnds) {
  // Line of two: both send their share at once, so that each arrives as the other's sending ends.
  Case given{line(2), make_collective(kAllReduce, 1, 2), {}};
  given.transfers = {{0, Op::kReduce, {0}, {0}}, {0, Op::kReduce, {1}, {0}}};
  EXPECT_TRUE(given.report().valid());
  given.transfers[1].start = 1;
  expect_only(given, "transfer 0 changes chunk 0 at NPU 1 at 110 ps, while NPU 1 is sending it");
}

TEST(Verify, RejectsACopyThatMeetsAnotherArrival) {
  Case broken = rooted_all_reduce(1);
  broken.transfers[0].op = Op::kCopy;
  expect_among(broken,
               "transfer 0 copies chunk 0 to NPU 1 at 110 ps, just when something else arrives");
  broken.transfers[1].op = Op::kCopy;
  expect_among(broken, "just when something else arrives");
}

TEST(Verify, RejectsParticipantsOutsideTheNetwork) {
  Case broken = ring_all_gather(3);
  broken.collective =
      Collective::make(kAllGather, Bytes{300}, 1, {NodeId(0), NodeId(1), NodeId(3)}).value();
  expect_only(broken, "participant 3 is no NPU of the network, which has NPUs 0 to 2");
  Case at_switch = switched_all_gather();
  at_switch.collective =
      Collective::make(kAllGather, Bytes{300}, 1, {NodeId(0), NodeId(1), NodeId(3)}).value();
  expect_only(at_switch, "participant 3 is no NPU");
}

TEST(Verify, CountsMoreViolationsThanItDescribes) {
  Case broken = ring_all_gather(4);
  broken.transfers.clear();
  broken.options.max_violations = 3;
  const VerifyReport report = broken.report();
  EXPECT_EQ(report.violations.size(), 3U);
  EXPECT_EQ(report.num_violations, 12U);
  EXPECT_FALSE(report.valid());
}

TEST(Verify, ShortensLongLists) {
  Case broken{line(2), make_collective(kAllReduce, 20, 2), {{0, Op::kReduce, {0}, {}}}};
  for (std::uint32_t chunk = 0; chunk < 20; ++chunk) {
    broken.transfers[0].chunks.push_back(19 - chunk);
  }
  broken.transfers[0].chunks.push_back(3);
  expect_among(broken, "chunks 19, 18, 17, 16, 15, 14, 13, 12 and 13 more): lists a chunk twice");
}

}  // namespace
}  // namespace tacos::test
