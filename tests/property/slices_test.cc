// SPDX-License-Identifier: MIT
// Whatever an engine made of a random problem, and whatever was then done to it: threads say of it
// what one says.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/numbers/rng.h"
#include "support/listed_schedule.h"
#include "support/random_task.h"
#include "verify/cuttings.h"

namespace tacos {
namespace {

using test::ListedTransfer;

/// Changes one thing. Routes and shared transfers stay what they are, but may no longer make sense.
void damage(std::vector<ListedTransfer>& transfers,
            const Topology& topology,
            const Collective& collective,
            Rng& rng) {
  const auto size = static_cast<std::uint32_t>(transfers.size());
  const std::uint32_t i = rng.below(size);
  ListedTransfer& one = transfers[i];
  const auto any_of = [&](std::vector<std::uint32_t>& ids) -> std::uint32_t& {
    return ids[rng.below(static_cast<std::uint32_t>(ids.size()))];
  };
  switch (rng.below(8)) {
    case 0:
      one.start += std::int64_t{rng.below(2001)} - 1000;
      break;
    case 1:
      any_of(one.links) = rng.below(topology.num_links() + 1);
      break;
    case 2:
      any_of(one.chunks) = rng.below(collective.num_chunks() + 1);
      break;
    case 3:
      one.chunks.push_back(rng.below(collective.num_chunks()));
      break;
    case 4:
      one.links.pop_back();
      break;
    case 5:
      transfers.erase(transfers.begin() + i);
      break;
    case 6:
      one.op = one.op == Op::kCopy ? Op::kReduce : Op::kCopy;
      break;
    default:
      std::swap(one, transfers[rng.below(size)]);
  }
  if (rng.below(2) == 0) {
    std::stable_sort(transfers.begin(), transfers.end(), [](const auto& a, const auto& b) {
      return a.start < b.start;
    });
  }
}

RC_GTEST_PROP(VerifySlices, SayTheSameOfWhateverIsDoneToASchedule, ()) {
  const testing::Task task = testing::any_task();
  Rng rng(task.seed);
  const LinkModel model = rng.below(2) == 0 ? LinkModel::kHold : LinkModel::kPipelined;
  const Synthesis made =
      testing::synthesize_verified(task.topology, task.problem, {.link_model = model});
  const Collective& collective = *made.collective;
  // With no memory sums are replayed one chunk at a time.
  constexpr std::uint64_t kFew = 1000;
  const bool one_by_one = rng.below(2) == 0 && made.schedule->num_transfers() <= kFew;
  const VerifyOptions options{.link_model = model, .memory_bytes = one_by_one ? 0U : 1U << 20U};
  test::expect_same_verdict(task.topology, collective, *made.schedule, options);
  const std::vector<ListedTransfer> right = test::listed(*made.schedule);
  for (int round = 0; round < 4 && !right.empty(); ++round) {
    std::vector<ListedTransfer> wrong = right;
    damage(wrong, task.topology, collective, rng);
    const Schedule schedule = test::listed_schedule(
        wrong, test::totals_of(wrong, task.topology, collective.chunks()), 1 + rng.below(9));
    test::expect_same_verdict(task.topology, collective, schedule, options);
    test::expect_same_on_threads(task.topology, collective, schedule, options);
  }
}

}  // namespace
}  // namespace tacos
