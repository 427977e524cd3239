// SPDX-License-Identifier: MIT
// Answers to all single failures: right wherever a symmetry takes them.
#include "tacos/contingency.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "tacos/verify.h"

#include "support/failures.h"
#include "support/problems.h"
#include "support/temporary_folder.h"

namespace tacos {
namespace {

using testing::network;
using testing::problem;

TEST(Contingency, AnswersEveryFailureOfEveryCollective) {
  const TemporaryFolder folder;
  for (const std::string spec : {"torus:3x3", "mesh:2x3", "switch:4", "dgx1"}) {
    const Topology topology = network(spec);
    for (const CollectiveKind kind : collective_kinds()) {
      // Not a multiple of the chunks, so that some answers cannot be taken along.
      for (const std::int64_t size : {720720, 100003}) {
        const std::string place = folder.path("plans");
        const Result<ContingencyPlan> plan =
            make_contingency(topology, problem(topology, kind, size), {.effort = 1}, place);
        ASSERT_TRUE(plan) << plan.error().to_string();
        EXPECT_EQ(*read_contingency(place), *plan);
        const Result<Bundle> base = read_bundle(place + "/base.tacos");
        ASSERT_TRUE(base);
        for (const Contingency& row : plan->rows) {
          const Result<std::optional<Repair>> found =
              find_contingency(place, *base, {.failures = {row.failure}});
          ASSERT_TRUE(found) << found.error().to_string();
          if (!*found) {
            EXPECT_TRUE(!row.possible() || row.failure != row.like);
            continue;
          }
          const Bundle& answer = (*found)->bundle;
          const Result<VerifyReport> report =
              verify(answer.topology, answer.collective, answer.schedule);
          ASSERT_TRUE(report);
          ASSERT_TRUE(report->valid()) << spec << ' ' << to_string(kind) << ' ' << row.failure
                                       << ": " << report->violations.front();
          EXPECT_EQ(report->collective_time, row.time);
          EXPECT_LE(row.bound, row.time);
          const Result<DegradedTopology> now =
              apply_failures(topology, std::vector<std::string>{row.failure});
          EXPECT_EQ(answer.topology, now->topology);
        }
      }
    }
  }
}

TEST(Contingency, StoresWhatDiffersAndMakesTheSameOfIt) {
  const TemporaryFolder folder;
  const std::string place = folder.path("plans");
  std::size_t differences = 0;
  for (const CollectiveKind kind : collective_kinds()) {
    for (const std::string spec : {"mesh:2x3", "switch:4"}) {
      const Topology topology = network(spec);
      const Result<ContingencyPlan> plan =
          make_contingency(topology, problem(topology, kind, 720720), {.effort = 1}, place);
      ASSERT_TRUE(plan) << plan.error().to_string();
      const Result<Bundle> base = read_bundle(place + "/base.tacos");
      ASSERT_TRUE(base);
      const Result<Repairer> repairer = Repairer::make(*base);
      for (const Contingency& row : plan->rows) {
        if (!row.possible() || row.failure != row.like) {
          continue;
        }
        differences += row.file.ends_with(".json") ? 1 : 0;
        const Result<Repair> made = repairer->repair({.failures = {row.failure}});
        const Result<std::optional<Repair>> found =
            find_contingency(place, *base, {.failures = {row.failure}});
        ASSERT_TRUE(made && found && *found);
        EXPECT_EQ((*found)->bundle.schedule.hash(), made->bundle.schedule.hash());
        EXPECT_EQ((*found)->bundle.collective, made->bundle.collective);
        EXPECT_EQ((*found)->kept_transfers, made->kept_transfers);
        EXPECT_EQ((*found)->new_transfers, made->new_transfers);
      }
    }
  }
  EXPECT_GT(differences, 0U);
}

TEST(Contingency, RefusesADifferenceFromSomethingElse) {
  const Topology topology = network("mesh:3x3");
  const Repairer exchange = testing::repairer_of(
      testing::bundle_of(topology, problem(topology, CollectiveKind::kAllToAll, 720720)));
  const Repairer scatter = testing::repairer_of(
      testing::bundle_of(topology, problem(topology, CollectiveKind::kScatter, 720720)));
  const NetworkChange change{.failures = {"link:7-8"}};
  const Result<Repair> repair =
      exchange.repair(change, {.way = RepairWay::kKeep, .with_difference = true});
  ASSERT_TRUE(repair && !repair->difference.empty());
  EXPECT_TRUE(exchange.rebuild(change, repair->difference, "x"));
  EXPECT_FALSE(scatter.rebuild(change, repair->difference, "x"));
  EXPECT_FALSE(exchange.rebuild({.failures = {"link:0-3"}}, repair->difference, "x"));
  EXPECT_FALSE(exchange.rebuild(change, "{}", "x"));
  std::string damaged = repair->difference;
  damaged.insert(damaged.find("\"schedule_hash\":") + 16, "1");
  EXPECT_FALSE(exchange.rebuild(change, damaged, "x"));
}

TEST(Contingency, GoesOnWhereItStopped) {
  const TemporaryFolder folder;
  const std::string place = folder.path("plans");
  const Topology topology = network("mesh:3x4");
  const Problem asked = problem(topology, CollectiveKind::kGather, 720720);
  ContingencyOptions options{.effort = 1};
  // Every answer has its row and its file by the time it is told of.
  std::map<std::string, std::filesystem::file_time_type> times;
  options.progress = [&, copied = false](double share) mutable {
    if (share > 0.5 && !copied) {
      copied = true;
      std::filesystem::copy(place + ".partial", folder.path("left"));
    }
  };
  const Result<ContingencyPlan> whole = make_contingency(topology, asked, options, place);
  ASSERT_TRUE(whole);
  const std::string again = folder.path("again");
  std::filesystem::rename(folder.path("left"), again + ".partial");
  // One that was damaged is made again, the others are not.
  std::string damaged;
  for (const auto& entry : std::filesystem::directory_iterator(again + ".partial")) {
    if (entry.path().extension() == ".row") {
      const std::string answer = entry.path().stem().string() + ".json";
      if (!std::filesystem::exists(again + ".partial/" + answer)) {
        continue;
      }
      if (damaged.empty()) {
        damaged = answer;
        std::ofstream(again + ".partial/" + answer) << "rubbish";
      } else {
        times[answer] = std::filesystem::last_write_time(again + ".partial/" + answer);
      }
    }
  }
  EXPECT_FALSE(damaged.empty());
  EXPECT_FALSE(times.empty());
  options.progress = {};
  const Result<ContingencyPlan> resumed = make_contingency(topology, asked, options, again);
  ASSERT_TRUE(resumed) << resumed.error().to_string();
  EXPECT_EQ(*resumed, *whole);
  for (const auto& entry : std::filesystem::directory_iterator(place)) {
    const std::string name = entry.path().filename().string();
    const auto bytes = [](const std::string& path) {
      std::ifstream file(path, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(file), {});
    };
    EXPECT_EQ(bytes(entry.path().string()), bytes(again + "/" + name)) << name;
  }
  for (const auto& [name, time] : times) {
    EXPECT_EQ(std::filesystem::last_write_time(again + "/" + name), time) << name;
  }
}

}  // namespace
}  // namespace tacos
