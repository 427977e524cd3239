// SPDX-License-Identifier: MIT
// Custom collectives: chunks of any size, copies and sums side by side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verify/cases.h"

namespace tacos::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// On a line of three: chunk 0 (100 bytes) is copied from either end to the middle, chunk 1 (300
/// bytes) is the sum of all at NPU 2, chunk 2 (50 bytes) goes from 0 to 2.
Case custom_case() {
  Collective collective =
      Collective::custom(
          "custom",
          {{.bytes = {100},
            .sources = {NodeId(0), NodeId(2)},
            .destinations = {NodeId(1)},
            .reduces = false},
           {.bytes = {300},
            .sources = {NodeId(0), NodeId(1), NodeId(2)},
            .destinations = {NodeId(2)},
            .reduces = true},
           {.bytes = {50}, .sources = {NodeId(0)}, .destinations = {NodeId(2)}, .reduces = false}})
          .value();
  return {line(3),
          std::move(collective),
          {{.start = 0, .op = Op::kReduce, .links = {0}, .chunks = {1}},
           {.start = 0, .op = Op::kCopy, .links = {3}, .chunks = {0}},
           {.start = 310, .op = Op::kCopy, .links = {0}, .chunks = {2}},
           {.start = 310, .op = Op::kReduce, .links = {2}, .chunks = {1}},
           {.start = 620, .op = Op::kCopy, .links = {2}, .chunks = {2}}}};
}

std::vector<std::string> violations(const Case& broken) {
  return broken.report().violations;
}

TEST(VerifyCustom, AcceptsCopiesAndSumsSideBySide) {
  const VerifyReport report = custom_case().report();
  EXPECT_TRUE(report.valid()) << report.violations.front();
  EXPECT_EQ(report.collective_time.ps, 620 + 60);
}

TEST(VerifyCustom, KnowsTheSizeOfEachChunk) {
  Case broken = custom_case();
  broken.transfers[2].start = 309;
  EXPECT_THAT(violations(broken), Contains(HasSubstr("link 0 is busy until 310 ps")));
}

TEST(VerifyCustom, MissesACopy) {
  Case broken = custom_case();
  broken.transfers.erase(broken.transfers.begin() + 1);
  EXPECT_THAT(violations(broken), Contains(HasSubstr("NPU 1 never gets chunk 0")));
}

TEST(VerifyCustom, MissesAContribution) {
  Case broken = custom_case();
  broken.transfers.erase(broken.transfers.begin());
  EXPECT_THAT(violations(broken), Contains(HasSubstr("the contribution of NPU 0 is missing")));
}

TEST(VerifyCustom, RefusesToAddWhatIsCopied) {
  Case broken = custom_case();
  broken.transfers[2].op = Op::kReduce;
  EXPECT_THAT(violations(broken), Contains(HasSubstr("chunk 2 is copied, not added")));
}

TEST(VerifyCustom, ChecksCollectivesThatOnlyCopy) {
  Collective collective = Collective::custom("copies",
                                             {{.bytes = {7},
                                               .sources = {NodeId(0)},
                                               .destinations = {NodeId(1), NodeId(2)},
                                               .reduces = false}})
                              .value();
  Case copies{line(3),
              std::move(collective),
              {{.start = 0, .op = Op::kCopy, .links = {0}, .chunks = {0}},
               {.start = 17, .op = Op::kCopy, .links = {2}, .chunks = {0}}}};
  EXPECT_TRUE(copies.report().valid());
  copies.transfers.pop_back();
  EXPECT_THAT(violations(copies), Contains(HasSubstr("NPU 2 never gets chunk 0")));
}

}  // namespace
}  // namespace tacos::test
