// SPDX-License-Identifier: MIT
#include "serve/schedule_folder.h"

#include <vector>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace tacos {
namespace {

const std::vector<NodeId> kFour{NodeId(0), NodeId(1), NodeId(2), NodeId(3)};

ScheduleFile file(CollectiveKind kind, std::int64_t least, std::int64_t most, bool others_too) {
  return {.path = "",
          .kind = kind,
          .root = NodeId(0),
          .participants = kFour,
          .least = least,
          .most = most,
          .others_too = others_too};
}

std::optional<std::size_t> find(const std::vector<ScheduleFile>& files,
                                CollectiveKind kind,
                                std::int64_t bytes,
                                NodeId root = NodeId(0)) {
  return best_file(files, {.kind = kind, .root = root, .participants = kFour, .bytes = bytes});
}

TEST(ScheduleFolder, FindsTheRangeOfAPlanAndNothingBeyond) {
  const std::vector<ScheduleFile> files{file(CollectiveKind::kAllReduce, 1, 1024, false),
                                        file(CollectiveKind::kAllReduce, 1025, 4096, false),
                                        file(CollectiveKind::kBroadcast, 1, 4096, false)};
  EXPECT_EQ(find(files, CollectiveKind::kAllReduce, 1024), 0U);
  EXPECT_EQ(find(files, CollectiveKind::kAllReduce, 1025), 1U);
  EXPECT_EQ(find(files, CollectiveKind::kAllReduce, 5000), std::nullopt);
  EXPECT_EQ(find(files, CollectiveKind::kBroadcast, 7), 2U);
  EXPECT_EQ(find(files, CollectiveKind::kBroadcast, 7, NodeId(1)), std::nullopt);
  EXPECT_EQ(find(files, CollectiveKind::kReduce, 7), std::nullopt);
}

TEST(ScheduleFolder, TakesTheNearestOfLooseSchedules) {
  const std::vector<ScheduleFile> files{file(CollectiveKind::kAllReduce, 1 << 10, 1 << 10, true),
                                        file(CollectiveKind::kAllReduce, 1 << 20, 1 << 20, true)};
  EXPECT_EQ(find(files, CollectiveKind::kAllReduce, 4), 0U);
  EXPECT_EQ(find(files, CollectiveKind::kAllReduce, 1 << 14), 0U);
  EXPECT_EQ(find(files, CollectiveKind::kAllReduce, 1 << 17), 1U);
}

TEST(ScheduleFolder, SaysWhatCannotBeUsed) {
  EXPECT_EQ(read_schedule_folder("/nonexistent").problems.size(), 1U);
  const TemporaryFolder folder;
  EXPECT_EQ(read_schedule_folder(folder.path("")).problems.size(), 1U);
}

TEST(ScheduleFolder, CountsPartsOfEveryRank) {
  const LoadedSchedule::Call call{.count = 10, .type = ElementType::kFloat32};
  EXPECT_EQ(whole_bytes(CollectiveKind::kAllReduce, call, 4), 40);
  EXPECT_EQ(whole_bytes(CollectiveKind::kAllGather, call, 4), 160);
}

}  // namespace
}  // namespace tacos
