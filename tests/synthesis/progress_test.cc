// SPDX-License-Identifier: MIT
#include "base/parallel/progress.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "support/problems.h"

namespace tacos::testing {
namespace {

TEST(JointProgress, SaysTheShareOfAllPartsAndNeverLess) {
  std::vector<double> told;
  JointProgress progress([&](double share) { told.push_back(share); }, 2);
  progress.part(1)(0.5);
  progress.part(0)(1);
  progress.part(1)(0.25);
  progress.part(1)(1);
  EXPECT_EQ(told, (std::vector<double>{0.25, 0.75, 1}));
}

TEST(JointProgress, IsEmptyWhenNobodyListens) {
  JointProgress progress({}, 1);
  EXPECT_FALSE(progress.part(0));
}

TEST(Synthesis, TellsProgressToOneThreadAtATimeAndNeverLess) {
  const Topology topology = network("mesh:2x3,bw=50GBps/70GBps");
  const auto listen_to = [&](const char* engine, CollectiveKind kind) {
    std::atomic<int> inside = 0;
    std::atomic<bool> crowded = false;
    double last = 0;
    std::size_t calls = 0;
    const auto listen = [&](double share) {
      crowded = crowded || inside.fetch_add(1) != 0;
      EXPECT_GE(share, last);
      EXPECT_LE(share, 1);
      last = share;
      ++calls;
      inside.fetch_sub(1);
    };
    (void)synthesize_verified(topology,
                              problem(topology, kind, 1 << 16),
                              {.engine = engine, .trials = 4, .threads = 4, .progress = listen});
    EXPECT_FALSE(crowded) << engine;
    EXPECT_GT(calls, 0U) << engine;
  };
  listen_to("auto", CollectiveKind::kAllReduce);
  listen_to("matching", CollectiveKind::kAllReduce);
  listen_to("matching", CollectiveKind::kAllGather);
  listen_to("routing", CollectiveKind::kAllToAll);
}

}  // namespace
}  // namespace tacos::testing
