// SPDX-License-Identifier: MIT
// Which NPUs a runtime sees in one box, and what it is told of sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tacos/bundle.h"
#include "tacos/export.h"

#include "export/runtimes/boxes.h"
#include "export/runtimes/one_sided.h"
#include "support/problems.h"

namespace tacos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::network;
using testing::problem;
using testing::synthesize_verified;

Topology named(std::vector<std::string> names) {
  TopologyBuilder builder("some name", static_cast<std::uint32_t>(names.size()));
  for (std::uint32_t npu = 1; npu < names.size(); ++npu) {
    builder.add_both(
        {.src = NodeId(0), .dst = NodeId(npu), .bandwidth = {1'000'000'000}, .latency = {1'000}});
  }
  builder.set_node_names(std::move(names));
  return *std::move(builder).build();
}

TEST(Boxes, AreToldByNames) {
  EXPECT_THAT(exporting::boxes_of(named({"b/0", "a/0", "b/1"})), ElementsAre(1, 0, 1));
  EXPECT_THAT(exporting::boxes_of(named({"b/0", "a", "b/1"})), ElementsAre(0, 0, 0));
}

TEST(Boxes, AreThoseOfAMachine) {
  const std::vector<std::uint32_t> boxes = exporting::boxes_of(network("a100:2"));
  EXPECT_EQ(boxes[7], 0U);
  EXPECT_EQ(boxes[8], 1U);
  EXPECT_EQ(exporting::boxes_of(network("ring:16"))[15], 0U);
}

Bundle all_reduce(const std::string& spec, std::int64_t chunks) {
  Topology topology = network(spec);
  Synthesis made =
      synthesize_verified(topology, problem(topology, CollectiveKind::kAllReduce, 1 << 20, chunks));
  return {.topology = std::move(topology),
          .collective = *std::move(made.collective),
          .link_model = LinkModel::kHold,
          .schedule = *std::move(made.schedule),
          .engine = {},
          .seed = 0};
}

std::string text(const Bundle& bundle, std::string_view format, const ExportOptions& options) {
  const Result<std::string> made = (*find_export_format(format))->text(bundle, options);
  return made ? *made : made.error().message;
}

TEST(Runtimes, AreToldTheSizes) {
  const Bundle bundle = all_reduce("ring:4", 8);
  const ExportOptions options{
      .in_place = false, .protocol = "Simple", .min_bytes = 4096, .max_bytes = 65536};
  EXPECT_THAT(text(bundle, "rccl", options), HasSubstr("minBytes=\"4096\" maxBytes=\"65536\""));
  EXPECT_THAT(text(bundle, "mscclpp", options),
              HasSubstr("\"min_message_size\":4096,\"max_message_size\":65536"));
}

TEST(Mscclpp, CutsChunksIntoNoMoreSlicesThanTheSmallestSizeHas) {
  const Bundle bundle = all_reduce("ring:4", 8);
  EXPECT_THAT(text(bundle, "mscclpp", {}), HasSubstr("\"tbg_size\":8"));
  // Two slices of 16 bytes in each chunk.
  ExportOptions options;
  options.min_bytes = 8 * 2 * 16;
  EXPECT_THAT(text(bundle, "mscclpp", options), HasSubstr("\"tbg_size\":2"));
  options.min_bytes = 16;
  EXPECT_THAT(text(bundle, "mscclpp", options), ::testing::Not(HasSubstr("tbg_size")));
}

/// NPU 1 sends what it has to NPU 2; then NPU 0, which knows nothing of that, overwrites it.
Program overwriting() {
  const Topology ring = network("ring:3");
  const Synthesis made = synthesize_verified(ring, problem(ring, CollectiveKind::kAllReduce, 12));
  Program program{.collective = *made.collective, .in_place = true, .npus = {}};
  program.npus.resize(3);
  const Slot slot{Buffer::kOutput, 0};
  const Step send{.kind = StepKind::kSend, .from = slot, .to = {}};
  Step receive{.kind = StepKind::kReceive, .from = {}, .to = slot};
  program.npus[0].lanes = {{LaneRole::kSend, NodeId(1), 0, {send}}};
  program.npus[2].lanes = {{LaneRole::kReceive, NodeId(1), 0, {receive}}};
  receive.num_dependencies = 1;
  program.npus[1].lanes = {{LaneRole::kSend, NodeId(2), 0, {send}},
                           {LaneRole::kReceive, NodeId(0), 0, {receive}}};
  program.npus[1].dependencies = {{.lane = 0, .step = 0}};
  return program;
}

std::vector<exporting::GpuOpKind> kinds_of(const exporting::GpuOps& gpu) {
  std::vector<exporting::GpuOpKind> kinds;
  for (const exporting::GpuOp& op : gpu.ops) {
    kinds.push_back(op.kind);
  }
  return kinds;
}

TEST(Mscclpp, DoesNotOverwriteWhatMayStillBeRead) {
  using enum exporting::GpuOpKind;
  const Program program = overwriting();
  const std::vector<std::uint32_t> together{0, 0, 0};
  const auto inside = exporting::one_sided(program, together, 1);
  EXPECT_EQ(inside[0].ops[1].to.front().first, (Slot{Buffer::kScratch, 0}));
  EXPECT_THAT(kinds_of(inside[1]), ElementsAre(kBegun, kAwaitPeer, kPut, kSignal, kWait, kCopy));
  EXPECT_THAT(kinds_of(inside[2]), ElementsAre(kBegun, kWait));
  // A port reads later: what it reads is not overwritten before it was flushed.
  const std::vector<std::uint32_t> apart{0, 1, 2};
  EXPECT_THAT(kinds_of(exporting::one_sided(program, apart, 1)[1]),
              ElementsAre(kBegun, kAwaitPeer, kPut, kSignal, kWait, kFlush, kCopy));
}

TEST(Mscclpp, RefusesSizesThatItsOffsetsDoNotReach) {
  ExportOptions options;
  options.min_bytes = std::uint64_t{1} << 33U;
  EXPECT_THAT(text(all_reduce("ring:4", 8), "mscclpp", options), HasSubstr("another number"));
}

}  // namespace
}  // namespace tacos
