// SPDX-License-Identifier: MIT
// All-Reduce and Reduce whose contributions travel as they are.
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/listed_schedule.h"
#include "support/problems.h"
#include "support/random_task.h"
#include "support/reference_verify.h"

namespace tacos {
namespace {

using testing::network;
using testing::problem;
using testing::synthesize_verified;

/// Runs the schedule on numbers: whoever needs the sum adds what it has, in the order of
/// participants. Every contribution is another power of two, so the sum tells them apart.
void expect_sums(const Topology& topology, const Synthesis& made) {
  const Collective& collective = *made.collective;
  const std::uint32_t n = collective.num_participants();
  const auto chunks = static_cast<std::uint32_t>(collective.chunk_argument());
  std::vector<std::vector<std::uint64_t>> has(
      topology.num_npus(), std::vector<std::uint64_t>(collective.num_chunks(), 0));
  for (std::uint32_t p = 0; p < n; ++p) {
    for (std::uint32_t c = 0; c < chunks; ++c) {
      has[collective.participants()[p].index()][p * chunks + c] = std::uint64_t{1} << p;
    }
  }
  for (const test::ListedTransfer& transfer : test::listed(*made.schedule)) {
    ASSERT_EQ(transfer.op, Op::kCopy);
    const NodeId src = topology.link(LinkId(transfer.links.front())).src;
    const NodeId dst = topology.link(LinkId(transfer.links.back())).dst;
    for (const std::uint32_t chunk : transfer.chunks) {
      has[dst.index()][chunk] = has[src.index()][chunk];
    }
  }
  for (const NodeId npu : collective.participants()) {
    if (is_rooted(collective.kind()) && npu != collective.root()) {
      continue;
    }
    for (std::uint32_t c = 0; c < chunks; ++c) {
      std::uint64_t sum = 0;
      for (std::uint32_t p = 0; p < n; ++p) {
        sum += has[npu.index()][p * chunks + c];
      }
      EXPECT_EQ(sum, (std::uint64_t{1} << n) - 1) << "NPU " << npu.value() << ", chunk " << c;
    }
  }
}

RC_GTEST_PROP(Gathering, BringsEveryContributionOnce, ()) {
  testing::Task task = testing::any_task();
  task.problem.kind = *rc::gen::element(CollectiveKind::kAllReduce, CollectiveKind::kReduce);
  task.problem.root =
      is_rooted(task.problem.kind) ? std::optional(task.problem.participants.back()) : std::nullopt;
  task.problem.form = CollectiveForm::kGathered;
  const LinkModel model = *rc::gen::element(LinkModel::kHold, LinkModel::kPipelined);
  const Synthesis made =
      synthesize_verified(task.topology, task.problem, {.link_model = model, .seed = task.seed});
  RC_ASSERT(made.collective->form() == CollectiveForm::kGathered);
  RC_ASSERT(made.collective->kind() == task.problem.kind);
  RC_ASSERT(made.collective->size() == task.problem.size);
  expect_sums(task.topology, made);
  RC_ASSERT(
      test::reference_valid(task.topology, *made.collective, test::listed(*made.schedule), model));
}

RC_GTEST_PROP(Gathering, IsTakenWhereItIsFaster, ()) {
  testing::Task task = testing::any_task();
  task.problem.kind = CollectiveKind::kAllReduce;
  task.problem.size.count = 64 + task.problem.size.count % (1 << 14U);
  SynthesisOptions options{.link_model = *rc::gen::element(LinkModel::kHold, LinkModel::kPipelined),
                           .seed = task.seed};
  const auto time = [&](std::optional<CollectiveForm> form) {
    task.problem.form = form;
    return synthesize_verified(task.topology, task.problem, options).schedule->collective_time();
  };
  const Ticks direct = time(CollectiveForm::kDirect);
  const Ticks gathered = time(CollectiveForm::kGathered);
  // Knowing what is to be beaten, engines look no further than that.
  const Ticks chosen = time(std::nullopt);
  RC_ASSERT(chosen <= direct);
  RC_ASSERT(chosen.ps <= gathered.ps * 101 / 100);
}

TEST(Gathering, CrossesTheNetworkOnce) {
  // By hand: 8 hops of 0.5 us; of 16 contributions of 1 KiB the last two cross the last link.
  const Topology ring = network("ring:16");
  const Synthesis small = synthesize_verified(
      ring, problem(ring, CollectiveKind::kAllReduce, 1024), {.link_model = LinkModel::kPipelined});
  EXPECT_EQ(small.collective->form(), CollectiveForm::kGathered);
  EXPECT_LT(small.schedule->collective_time(), Ticks{4'100'000});
  const Synthesis large = synthesize_verified(ring,
                                              problem(ring, CollectiveKind::kAllReduce, 1 << 24),
                                              {.link_model = LinkModel::kPipelined});
  EXPECT_EQ(large.collective->form(), CollectiveForm::kDirect);
}

TEST(Gathering, IsForSums) {
  const Topology ring = network("ring:4");
  Problem copies = problem(ring, CollectiveKind::kBroadcast, 1024);
  copies.form = CollectiveForm::kGathered;
  const Result<Synthesis> made = synthesize(ring, copies);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, ::testing::HasSubstr("broadcast has no gathered form"));
}

TEST(Gathering, LeavesNamedEnginesDirect) {
  const Topology ring = network("ring:16");
  const Synthesis made = synthesize_verified(
      ring, problem(ring, CollectiveKind::kAllReduce, 1024), {.engine = "trees"});
  EXPECT_EQ(made.collective->form(), CollectiveForm::kDirect);
}

}  // namespace
}  // namespace tacos
