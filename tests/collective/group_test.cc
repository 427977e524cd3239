// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tacos/collective.h"

namespace tacos {
namespace {

using ::testing::HasSubstr;

std::vector<std::uint32_t> group(const std::string& text) {
  const std::vector<NodeId> npus = parse_group(text, 10).value();
  std::vector<std::uint32_t> ids;
  ids.reserve(npus.size());
  for (const NodeId npu : npus) {
    ids.push_back(npu.value());
  }
  return ids;
}

std::string group_error(const std::string& text) {
  const Result<std::vector<NodeId>> parsed = parse_group(text, 10);
  EXPECT_FALSE(parsed) << text;
  return parsed ? "" : parsed.error().to_string();
}

TEST(Group, ListsNpusAndRangesInAnyOrder) {
  EXPECT_EQ(group("0-3,8,9"), (std::vector<std::uint32_t>{0, 1, 2, 3, 8, 9}));
  EXPECT_EQ(group("9,0-1,5-5"), (std::vector<std::uint32_t>{0, 1, 5, 9}));
  EXPECT_EQ(group("7"), std::vector<std::uint32_t>{7});
}

TEST(Group, RefusesWhatIsNoList) {
  EXPECT_THAT(group_error(""), HasSubstr("the group is empty"));
  EXPECT_THAT(group_error("1,,2"), HasSubstr("neither an NPU nor a range"));
  EXPECT_THAT(group_error("1,2,"), HasSubstr("neither an NPU nor a range"));
  EXPECT_THAT(group_error("a"), HasSubstr("'a' is neither an NPU nor a range"));
  EXPECT_THAT(group_error("-3"), HasSubstr("neither an NPU nor a range"));
  EXPECT_THAT(group_error("1-2-3"), HasSubstr("neither an NPU nor a range"));
  EXPECT_THAT(group_error("3-1"), HasSubstr("range 3-1 is backwards; write 1-3"));
}

TEST(Group, RefusesUnknownAndRepeatedNpus) {
  EXPECT_THAT(group_error("0,10"), HasSubstr("NPU 10 does not exist; NPUs are 0 to 9"));
  EXPECT_THAT(group_error("0-99999999999"), HasSubstr("does not exist"));
  EXPECT_THAT(group_error("1,2,1"), HasSubstr("NPU 1 is listed twice"));
  EXPECT_THAT(group_error("0-9,0-9,0-9"), HasSubstr("listed twice"));
  EXPECT_THAT(group_error("0-3,2-5"), HasSubstr("NPU 2 is listed twice"));
}

}  // namespace
}  // namespace tacos
