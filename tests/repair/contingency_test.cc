// SPDX-License-Identifier: MIT
// Answers to all single failures: right wherever a symmetry takes them.
#include "tacos/contingency.h"

#include <string>

#include <gtest/gtest.h>

#include "tacos/verify.h"

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

}  // namespace
}  // namespace tacos
