// SPDX-License-Identifier: MIT
// Failures while a schedule runs, against a naive account of what was where.
#include <algorithm>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tacos/repair.h"

#include "base/numbers/rng.h"
#include "schedule/read_ahead.h"
#include "support/failures.h"
#include "support/problems.h"
#include "support/random_task.h"

namespace tacos {
namespace {

using testing::bundle_of;
using testing::expect_right;
using testing::network;
using testing::problem;
using testing::repairer_of;

/// What every NPU has of a chunk: the numbers of those whose shares are in it. Of copied chunks
/// those who have it at first.
using Shares = std::map<NodeId, std::set<std::uint32_t>>;

struct Event {
  Ticks start;
  Ticks end;
  Op op = Op::kCopy;
  std::vector<LinkId> links;
  std::vector<ChunkId> chunks;
};

std::vector<Event> events_of(const Bundle& bundle) {
  std::vector<Event> events;
  const Status read = read_transfers(bundle.schedule, 1, [&](const Transfer& transfer) {
    events.push_back(
        {.start = transfer.start,
         .end = transfer.start + route_time(bundle.topology,
                                            transfer.links,
                                            bundle.collective.chunks().bytes(transfer.chunks)),
         .op = transfer.op,
         .links = {transfer.links.begin(), transfer.links.end()},
         .chunks = {transfer.chunks.begin(), transfer.chunks.end()}});
  });
  EXPECT_TRUE(read);
  return events;
}

/// Everything that arrives until `at`, one moment after the other.
Shares shares_at(const Bundle& bundle, const std::vector<Event>& events, ChunkId chunk, Ticks at) {
  Shares shares;
  for (std::uint32_t i = 0; i < bundle.collective.num_participants(); ++i) {
    if (bundle.collective.starts_with(chunk, i)) {
      shares[bundle.collective.participants()[i]] = {i};
    }
  }
  std::map<Ticks, std::vector<const Event*>> moments;
  for (const Event& event : events) {
    if (event.end <= at &&
        std::find(event.chunks.begin(), event.chunks.end(), chunk) != event.chunks.end()) {
      moments[event.end].push_back(&event);
    }
  }
  for (const auto& [time, arrivals] : moments) {
    const Shares before = shares;
    for (const Event* event : arrivals) {
      const auto& sent = before.at(bundle.topology.link(event->links.front()).src);
      auto& value = shares[bundle.topology.link(event->links.back()).dst];
      if (event->op == Op::kCopy) {
        value.clear();
      }
      value.insert(sent.begin(), sent.end());
    }
  }
  return shares;
}

/// The chunk of the rest is what the account says: nobody has what he does not have, and of a sum
/// no share is there twice or missing.
void expect_honest(const Bundle& before,
                   const Shares& shares,
                   const std::set<NodeId>& left,
                   const Collective& rest,
                   ChunkId chunk,
                   bool may_restart) {
  std::set<std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < before.collective.num_participants(); ++i) {
    if (left.contains(before.collective.participants()[i])) {
      wanted.insert(i);
    }
  }
  std::set<std::uint32_t> found;
  for (const std::uint32_t number : rest.sources(chunk)) {
    const NodeId npu = rest.participants()[number];
    const auto has = shares.find(npu);
    ASSERT_TRUE(has != shares.end() && !has->second.empty());
    const bool whole =
        std::includes(wanted.begin(), wanted.end(), has->second.begin(), has->second.end());
    if (!rest.reduces(chunk)) {
      EXPECT_TRUE(whole);
      found = has->second;
      continue;
    }
    const bool intact = whole && std::none_of(has->second.begin(),
                                              has->second.end(),
                                              [&](std::uint32_t i) { return found.contains(i); });
    ASSERT_TRUE(intact || may_restart);
    if (intact) {
      found.insert(has->second.begin(), has->second.end());
    } else {
      const auto all = before.collective.participants();
      found.insert(
          static_cast<std::uint32_t>(std::lower_bound(all.begin(), all.end(), npu) - all.begin()));
    }
  }
  if (rest.reduces(chunk)) {
    EXPECT_EQ(found, wanted);
  }
}

/// Before the failure only transfers run that ran, no faster than they did.
void expect_no_head_start(const Bundle& before, const ResumedSchedule& resumed, Ticks at) {
  const std::vector<Event> were = events_of(before);
  for (const Event& event : events_of(resumed.repair.bundle)) {
    if (resumed.begins + event.start >= at) {
      continue;
    }
    EXPECT_TRUE(std::any_of(were.begin(), were.end(), [&](const Event& was) {
      return was.links == event.links && was.start <= resumed.begins + event.start &&
             was.start < at && was.end > at && was.end <= resumed.begins + event.end;
    }));
  }
}

RC_GTEST_PROP(Interrupted, GoesOnFromWhatHasArrived, ()) {
  const testing::Task task = testing::any_task();
  RC_PRE(!task.problem.participants.empty() && task.topology.num_links() > 0);
  Rng rng(task.seed ^ task.topology.num_links());
  const Bundle before =
      bundle_of(task.topology,
                task.problem,
                {.link_model = rng.below(2) == 0 ? LinkModel::kHold : LinkModel::kPipelined,
                 .seed = task.seed});
  const Ticks end = before.schedule.collective_time();
  RC_PRE(end > Ticks{});
  const Ticks at{end.ps / 100 * rng.below(100)};
  const Repairer repairer = repairer_of(before);
  const std::vector<std::string> failures = testing::any_failures(task.topology, rng);
  const Result<DegradedTopology> now = apply_failures(task.topology, failures);
  RC_PRE(now.has_value());
  const Result<ResumedSchedule> resumed = repairer.repair_at(at, {.failures = failures});
  if (!resumed) {
    RC_ASSERT(resumed.error().code == ErrorCode::kInfeasible ||
              resumed.error().code == ErrorCode::kInput);
    RC_ASSERT(!repairer.repair({.failures = failures}));
    return;
  }
  const Bundle& bundle = resumed->repair.bundle;
  RC_ASSERT(bundle.topology == now->topology);
  RC_ASSERT(resumed->begins <= at);
  expect_right(bundle);
  expect_no_head_start(before, *resumed, at);
  if (resumed->resumption != Resumption::kRestarted) {
    std::set<NodeId> left(task.problem.participants.begin(), task.problem.participants.end());
    for (const NodeId npu : now->failed_npus) {
      left.erase(npu);
    }
    const std::vector<Event> events = events_of(before);
    std::uint32_t next = 0;
    for (std::uint32_t chunk = 0; chunk < before.collective.num_chunks(); ++chunk) {
      const ChunkId was(chunk);
      const Collective& collective = before.collective;
      bool needed = false;
      bool had = false;
      for (std::uint32_t i = 0; i < collective.num_participants(); ++i) {
        const bool lives = left.contains(collective.participants()[i]);
        needed |= lives && collective.ends_with(was, i);
        had |= lives && collective.starts_with(was, i);
      }
      if (needed && had) {
        expect_honest(before,
                      shares_at(before, events, was, at),
                      left,
                      bundle.collective,
                      ChunkId(next++),
                      resumed->restarted_sums > 0);
      }
    }
    RC_ASSERT(next == bundle.collective.num_chunks());
  }
  RC_ASSERT(!::testing::Test::HasFailure());
  const Result<ResumedSchedule> again =
      repairer.repair_at(at, {.failures = failures}, {.threads = 3});
  RC_ASSERT(again->repair.bundle.schedule.hash() == bundle.schedule.hash());
}

TEST(Interrupted, LosesWhatIsOnTheDeadLinkAndNothingElse) {
  // Two chunks from NPU 0, one to each neighbour first, 10 us a hop.
  const Topology topology = network("ring:4,bw=1GBps,lat=0");
  const Bundle before =
      bundle_of(topology, problem(topology, CollectiveKind::kBroadcast, 20'000, 2));
  const Result<ResumedSchedule> resumed = repairer_of(before).repair_at(
      {5'000'000}, {.failures = {"link:0-1"}}, {.way = RepairWay::kKeep});
  ASSERT_TRUE(resumed) << resumed.error().to_string();
  EXPECT_EQ(resumed->arrived_moves, 0U);
  EXPECT_EQ(resumed->under_way_moves, 1U);
  EXPECT_EQ(resumed->lost_moves, 1U);
  EXPECT_EQ(resumed->begins, Ticks{});
  // The other chunk goes after the first: 20 us to NPU 3, two hops more to NPU 1.
  EXPECT_NE(resumed->resumption, Resumption::kRestarted);
  EXPECT_EQ(resumed->end(), Ticks{40'000'000});
  expect_right(resumed->repair.bundle);
}

TEST(Interrupted, GoesOnWithSumsAsTheyAre) {
  const Topology topology = network("mesh:4x4");
  for (const CollectiveKind kind :
       {CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce, CollectiveKind::kReduce}) {
    const Bundle before = bundle_of(topology, problem(topology, kind, 16 << 20));
    const Ticks half{before.schedule.collective_time().ps / 2};
    const Result<ResumedSchedule> link =
        repairer_of(before).repair_at(half, {.failures = {"link:5-6"}});
    ASSERT_TRUE(link);
    EXPECT_NE(link->resumption, Resumption::kRestarted);
    EXPECT_EQ(link->restarted_sums, 0U);
    expect_right(link->repair.bundle);
    // What an NPU has added to the sums of others cannot be taken out of them.
    const Result<ResumedSchedule> npu =
        repairer_of(before).repair_at(half, {.failures = {"npu:5"}});
    ASSERT_TRUE(npu);
    EXPECT_GT(npu->restarted_sums, 0U);
    expect_right(npu->repair.bundle);
  }
}

TEST(Interrupted, IsNotAfterTheEnd) {
  const Topology topology = network("ring:4");
  const Repairer repairer =
      repairer_of(bundle_of(topology, problem(topology, CollectiveKind::kAllGather, 1 << 20)));
  const Ticks end = repairer.bundle().schedule.collective_time();
  const Result<ResumedSchedule> late = repairer.repair_at(end, {.failures = {"link:0-1"}});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kInput);
  EXPECT_TRUE(repairer.repair_at(end - Ticks{1}, {.failures = {"link:0-1"}}));
  EXPECT_FALSE(repairer.repair_at({}, {.restored = {"link:0-1"}}));
}

TEST(Interrupted, StopsWhenNobodyWantsIt) {
  const Topology topology = network("mesh:4x4");
  const Repairer repairer =
      repairer_of(bundle_of(topology, problem(topology, CollectiveKind::kAllGather, 1 << 20)));
  std::stop_source source;
  source.request_stop();
  const Result<ResumedSchedule> stopped =
      repairer.repair_at({1'000'000}, {.failures = {"link:0-1"}}, {.cancel = source.get_token()});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace tacos
