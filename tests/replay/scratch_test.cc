// SPDX-License-Identifier: MIT
#include "replay/scratch.h"

#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/listed_schedule.h"
#include "support/problems.h"
#include "support/random_task.h"

namespace tacos {
namespace {

/// The same out of sets, straight from the words.
std::int64_t naive_scratch(const Topology& topology, const Synthesis& made) {
  const Collective& collective = *made.collective;
  if (collective.form() == CollectiveForm::kGathered) {
    return collective.size().count * collective.num_participants();
  }
  std::map<NodeId, std::set<std::uint32_t>> kept;
  for (const test::ListedTransfer& transfer : test::listed(*made.schedule)) {
    const NodeId npu = topology.link(LinkId(transfer.links.back())).dst;
    kept[npu].insert(transfer.chunks.begin(), transfer.chunks.end());
  }
  std::int64_t most = 0;
  for (auto& [npu, chunks] : kept) {
    std::int64_t bytes = 0;
    for (const std::uint32_t chunk : chunks) {
      bool own = false;
      for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
        own = own ||
              (collective.participants()[p] == npu && (collective.starts_with(ChunkId(chunk), p) ||
                                                       collective.ends_with(ChunkId(chunk), p)));
      }
      bytes += own ? 0 : collective.chunks().bytes(ChunkId(chunk)).count;
    }
    most = std::max(most, bytes);
  }
  return most;
}

RC_GTEST_PROP(Scratch, IsWhatSetsSay, ()) {
  const testing::Task task = testing::any_task();
  const Synthesis made =
      testing::synthesize_verified(task.topology, task.problem, {.seed = task.seed});
  const Result<Bytes> scratch =
      replay::scratch_of(task.topology, *made.collective, *made.schedule, 1);
  RC_ASSERT(bool(scratch));
  RC_ASSERT(scratch->count == naive_scratch(task.topology, made));
}

TEST(Scratch, IsOfThoseWhoPassOn) {
  // On a line of three the middle one passes on what its neighbours send each other.
  const Topology line = testing::network("mesh:3");
  const Problem all_to_all = testing::problem(line, CollectiveKind::kAllToAll, 300, 1);
  const Synthesis exchanged = testing::synthesize_verified(line, all_to_all);
  EXPECT_EQ(replay::scratch_of(line, *exchanged.collective, *exchanged.schedule, 1)->count, 200);

  const Problem all_gather = testing::problem(line, CollectiveKind::kAllGather, 300, 1);
  const Synthesis gathered = testing::synthesize_verified(line, all_gather);
  EXPECT_EQ(replay::scratch_of(line, *gathered.collective, *gathered.schedule, 1)->count, 0);
}

}  // namespace
}  // namespace tacos
