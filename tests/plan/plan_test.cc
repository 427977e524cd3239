// SPDX-License-Identifier: MIT
#include "tacos/plan.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <gmock/gmock.h>

#include "tacos/bundle.h"
#include "tacos/verify.h"

#include "plan/index.h"
#include "support/temporary_folder.h"

namespace tacos {
namespace {

namespace fs = std::filesystem;

PlanOptions small_plan() {
  return {.collectives = {{CollectiveKind::kAllReduce, {}}, {CollectiveKind::kAllGather, {}}},
          .least = {1024},
          .most = {1 << 20},
          .effort = 1};
}

std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.is_regular_file()) {
      std::ostringstream bytes;
      bytes << std::ifstream(file.path(), std::ios::binary).rdbuf();
      all[file.path().filename().string()] = bytes.str();
    }
  }
  return all;
}

class PlanTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string folder(const char* name = "plan") const {
    return temporary_.path(name);
  }
  Topology ring_ = *parse_topology_spec("ring:4");
  TemporaryFolder temporary_;
};

TEST_F(PlanTest, CoversTheRangeWithoutGapOrOverlap) {
  const Result<Plan> plan = make_plan(ring_, small_plan(), folder());
  ASSERT_TRUE(plan) << plan.error().to_string();
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather}) {
    std::int64_t next = 1024;
    std::size_t points = 0;
    for (const PlanEntry& entry : plan->entries) {
      if (entry.kind == kind) {
        EXPECT_EQ(entry.least.count, next);
        next = entry.most.count + 1;
        points += entry.points.size();
        for (const PlanPoint& point : entry.points) {
          EXPECT_THAT(
              point.size.count,
              ::testing::AllOf(::testing::Ge(entry.least.count), ::testing::Le(entry.most.count)));
          EXPECT_LE(point.bound, point.time);
        }
      }
    }
    EXPECT_EQ(next, (1 << 20) + 1);
    EXPECT_EQ(points, 11U);
  }
}

TEST_F(PlanTest, FilesAreSchedulesThatVerify) {
  const Result<Plan> plan = make_plan(ring_, small_plan(), folder());
  ASSERT_TRUE(plan);
  for (const PlanEntry& entry : plan->entries) {
    const Result<Bundle> bundle = read_bundle(folder() + "/" + entry.file);
    ASSERT_TRUE(bundle);
    EXPECT_EQ(bundle->collective.kind(), entry.kind);
    const Result<VerifyReport> report = verify(
        bundle->topology, bundle->collective, bundle->schedule, {.link_model = bundle->link_model});
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->valid());
  }
}

TEST_F(PlanTest, NearTheBestAtEveryPowerOfTwo) {
  const Result<Plan> plan = make_plan(ring_, small_plan(), folder());
  ASSERT_TRUE(plan);
  for (const PlanEntry& entry : plan->entries) {
    for (const PlanPoint& point : entry.points) {
      const Result<Synthesis> best =
          synthesize(ring_,
                     {.kind = entry.kind, .size = point.size, .participants = entry.participants},
                     {.effort = 1});
      ASSERT_TRUE(best);
      EXPECT_LE(point.time.ps * 100, best->schedule->collective_time().ps * 103);
    }
  }
}

TEST_F(PlanTest, SameBytesOnAnyNumberOfThreads) {
  PlanOptions options = small_plan();
  ASSERT_TRUE(make_plan(ring_, options, folder("one")));
  options.threads = 3;
  ASSERT_TRUE(make_plan(ring_, options, folder("three")));
  EXPECT_EQ(contents(folder("one")), contents(folder("three")));
}

TEST_F(PlanTest, AnswersToAnotherQuestionAreThrownAway) {
  ASSERT_TRUE(make_plan(ring_, small_plan(), folder("whole")));
  fs::create_directory(folder() + ".partial");
  std::ofstream(folder() + ".partial/request.json") << "another question\n";
  std::ofstream(folder() + ".partial/all-reduce-1024.tacos") << "damaged";
  ASSERT_TRUE(make_plan(ring_, small_plan(), folder()));
  EXPECT_EQ(contents(folder("whole")), contents(folder()));
  EXPECT_FALSE(fs::exists(folder() + ".partial"));
}

/// Stops as soon as a given share is done.
struct Interruption {};

TEST_F(PlanTest, GoesOnWhereItStopped) {
  ASSERT_TRUE(make_plan(ring_, small_plan(), folder("whole")));
  PlanOptions options = small_plan();
  options.progress = [](double share) {
    if (share > 0.5) {
      throw Interruption();
    }
  };
  EXPECT_THROW((void)make_plan(ring_, options, folder()), Interruption);
  EXPECT_FALSE(fs::exists(folder()));
  const auto kept = contents(folder() + ".partial");
  EXPECT_GT(kept.size(), 5U);
  // What was damaged meanwhile is made again.
  std::ofstream(folder() + ".partial/all-reduce-1024.tacos") << "damaged";
  ASSERT_TRUE(make_plan(ring_, small_plan(), folder()));
  EXPECT_EQ(contents(folder("whole")), contents(folder()));
}

TEST_F(PlanTest, IndexIsReadAsItWasWritten) {
  const Result<Plan> plan = make_plan(ring_, small_plan(), folder());
  ASSERT_TRUE(plan);
  const Result<Plan> read = read_plan(folder());
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(*plan, *read);
}

TEST_F(PlanTest, SaysWhatIsMissing) {
  const Result<Plan> plan = make_plan(ring_, small_plan(), folder());
  ASSERT_TRUE(plan);
  fs::remove(folder() + "/" + plan->entries.front().file);
  EXPECT_THAT(read_plan(folder()).error().message, ::testing::HasSubstr("is missing"));
}

TEST_F(PlanTest, LeavesFoldersOfOthersAlone) {
  fs::create_directory(folder());
  std::ofstream(folder() + "/thesis.tex") << "chapter 1";
  const Result<Plan> plan = make_plan(ring_, small_plan(), folder());
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, ::testing::HasSubstr("is no plan"));
  EXPECT_TRUE(fs::exists(folder() + "/thesis.tex"));
}

TEST_F(PlanTest, ReadersOfOtherThingsAreTold) {
  for (const char* text : {"",
                           "[]",
                           "{}",
                           R"({"entries": 1})",
                           R"({"entries": [1]})",
                           R"({"format": "tacos-plan", "version": 9, "entries": []})"}) {
    EXPECT_FALSE(planning::parse_index(text, "plan.json")) << text;
  }
}

TEST(GroupTextTest, IsWhatGroupsAreReadFrom) {
  for (const char* text : {"0", "0-3", "0-3,5,8-9"}) {
    std::string again = planning::group_text(*parse_group(text, 16));
    EXPECT_EQ(*parse_group(again, 16), *parse_group(text, 16));
  }
}

}  // namespace
}  // namespace tacos
