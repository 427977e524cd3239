// SPDX-License-Identifier: MIT
#include "export/runtimes/blocks.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tacos/lower.h"

#include "support/problems.h"
#include "support/random_task.h"
#include "support/run_blocks.h"

namespace tacos {
namespace {

using exporting::BlockOp;
using exporting::BlockProgram;
using testing::network;
using testing::problem;
using testing::synthesize_verified;

std::size_t count(const BlockProgram& blocks, BlockOp op) {
  std::size_t sum = 0;
  for (const auto& gpu : blocks.gpus) {
    for (const exporting::Block& block : gpu) {
      sum += static_cast<std::size_t>(std::count_if(
          block.steps.begin(), block.steps.end(), [&](const auto& step) { return step.op == op; }));
    }
  }
  return sum;
}

RC_GTEST_PROP(Blocks, DoWhatTheProgramDoesWithFifosOfTwo, ()) {
  testing::Task task = testing::any_task();
  task.problem = problem(task.topology, task.problem.kind, 1 << 16, 1 + task.seed % 5);
  if (traits(task.problem.kind).gathered && *rc::gen::arbitrary<bool>()) {
    task.problem.form = CollectiveForm::kGathered;
  }
  const Synthesis made = synthesize_verified(task.topology, task.problem, {.seed = task.seed});
  const bool in_place = can_be_in_place(*made.collective) && *rc::gen::arbitrary<bool>();
  const Result<Program> program =
      lower(task.topology, *made.collective, *made.schedule, {.in_place = in_place});
  RC_ASSERT(program.has_value());
  const auto steps = static_cast<std::uint32_t>(8 + 8 * (task.seed % 4));
  const exporting::BlockLimits limits{.runtime = "test", .steps = steps};
  const Result<BlockProgram> blocks = exporting::to_blocks(*program, limits);
  RC_PRE(blocks.has_value());
  for (const std::uint64_t seed : {task.seed, task.seed + 1}) {
    RC_ASSERT(test::run_blocks(*program, *blocks, seed, 2) == "");
  }
}

/// A ring in one direction, so that everything is sent on.
BlockProgram blocks_on_a_ring(CollectiveKind kind) {
  TopologyBuilder builder("one way", 4);
  for (std::uint32_t npu = 0; npu < 4; ++npu) {
    builder.add_link({.src = NodeId(npu),
                      .dst = NodeId((npu + 1) % 4),
                      .bandwidth = {1'000'000'000},
                      .latency = {1'000}});
  }
  const Topology ring = *std::move(builder).build();
  const Synthesis made = synthesize_verified(ring, problem(ring, kind, 4096, 1));
  const Program program = *lower(ring, *made.collective, *made.schedule, {.in_place = true});
  BlockProgram blocks = *exporting::to_blocks(program, {.runtime = "test"});
  EXPECT_EQ(test::run_blocks(program, blocks, 1, 2), "");
  return blocks;
}

TEST(Blocks, ReceiveAndSendAtOnce) {
  // One block for each GPU: send the own part, send on two parts, receive the last.
  const BlockProgram gather = blocks_on_a_ring(CollectiveKind::kAllGather);
  EXPECT_EQ(gather.gpus[0].size(), 1U);
  EXPECT_EQ(gather.gpus[0][0].steps.size(), 4U);
  EXPECT_EQ(count(gather, BlockOp::kReceiveCopySend), 8U);
  // Sums on their way are not kept.
  const BlockProgram scatter = blocks_on_a_ring(CollectiveKind::kReduceScatter);
  EXPECT_EQ(scatter.gpus[0].size(), 1U);
  EXPECT_EQ(count(scatter, BlockOp::kReceiveReduceSend), 8U);
  EXPECT_EQ(count(scatter, BlockOp::kReceiveReduce), 4U);
}

}  // namespace
}  // namespace tacos
