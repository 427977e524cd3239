// SPDX-License-Identifier: MIT
// The machine against the naive one, on everything that engines make.
#include "replay/machine.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "replay/retime.h"
#include "support/random_task.h"
#include "support/reference_replay.h"

namespace tacos {
namespace {

using testing::any_task;
using testing::Task;

struct Interval {
  LinkId link;
  Ticks from;
  Ticks to;
};

/// By number.
std::vector<replay::Made> run(const replay::Setting& planned,
                              const replay::Setting& actual,
                              LinkModel model,
                              const TransferBatch& transfers) {
  std::vector<replay::Made> made(transfers.size());
  replay::MachineOptions options{.link_model = model, .with_causes = true};
  options.take = [&](const Transfer&, const replay::Made& one) { made[one.number] = one; };
  replay::Machine machine(planned, actual, std::move(options));
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    machine.add(transfers[i]);
  }
  Ticks last;
  const Ticks end = machine.finish();
  for (const replay::Made& one : made) {
    last = std::max(last, one.end);
  }
  EXPECT_EQ(end, last);
  return made;
}

/// No link carries two transfers at once.
void expect_no_overlap(const replay::Setting& actual,
                       LinkModel model,
                       const TransferBatch& transfers,
                       const std::vector<replay::Made>& made) {
  std::vector<Interval> taken;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    Ticks head = made[i].start;
    for (const LinkId id : transfers[i].links) {
      const Link& link = actual.topology.link(id);
      const Ticks busy = link_cost(link, actual.chunks.bytes(transfers[i].chunks), model).busy;
      taken.push_back({id, head, head + busy});
      head += link.latency;
    }
  }
  std::sort(taken.begin(), taken.end(), [](const Interval& a, const Interval& b) {
    return std::pair(a.link, a.from) < std::pair(b.link, b.from);
  });
  for (std::size_t i = 1; i < taken.size(); ++i) {
    RC_ASSERT(taken[i - 1].link != taken[i].link || taken[i - 1].to <= taken[i].from);
  }
}

/// Nothing is sent before what was planned to be there is.
void expect_data_in_time(const replay::Setting& planned,
                         const TransferBatch& transfers,
                         const std::vector<replay::Made>& made) {
  const auto end = [&](std::size_t i) {
    return transfers[i].start + route_time(planned.topology,
                                           transfers[i].links,
                                           planned.chunks.bytes(transfers[i].chunks));
  };
  for (std::size_t a = 0; a < transfers.size(); ++a) {
    for (std::size_t b = 0; b < transfers.size(); ++b) {
      const bool meets = planned.topology.link(transfers[a].links.back()).dst ==
                         planned.topology.link(transfers[b].links.front()).src;
      const auto chunks = transfers[b].chunks;
      const bool shared =
          std::any_of(transfers[a].chunks.begin(), transfers[a].chunks.end(), [&](ChunkId chunk) {
            return std::find(chunks.begin(), chunks.end(), chunk) != chunks.end();
          });
      if (meets && shared && end(a) <= transfers[b].start) {
        RC_ASSERT(made[a].end <= made[b].start);
      }
    }
  }
}

bool has_long_routes(const TransferBatch& transfers) {
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    if (transfers[i].links.size() > 1) {
      return true;
    }
  }
  return false;
}

void expect_runs(const replay::Setting& planned,
                 const replay::Setting& actual,
                 LinkModel model,
                 const TransferBatch& transfers,
                 bool as_planned) {
  const std::vector<replay::Made> made = run(planned, actual, model, transfers);
  expect_no_overlap(actual, model, transfers, made);
  expect_data_in_time(planned, transfers, made);
  const auto reference = testing::reference_starts(planned, actual, model, transfers);
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (as_planned) {
      RC_ASSERT(made[i].start <= transfers[i].start);
    }
    if (reference) {
      RC_ASSERT(made[i].start >= (*reference)[i]);
    }
    if (reference && !has_long_routes(transfers)) {
      RC_ASSERT(made[i].start == (*reference)[i]);
    }
  }
}

/// The same network with some links faster and some slower.
Topology other_speeds(const Topology& topology, std::uint64_t seed) {
  Rng rng(seed);
  TopologyBuilder builder("other", topology.num_npus(), topology.num_switches());
  for (const Link& link : topology.all_links()) {
    Link other = link;
    other.bandwidth.bytes_per_second =
        std::max<std::int64_t>(1, other.bandwidth.bytes_per_second * (1 + rng.below(8)) / 4);
    builder.add_link(other);
  }
  return std::move(builder).build().value();
}

constexpr std::size_t kMostTransfers = 300;

RC_GTEST_PROP(Machine, IsNeverLaterThanPlannedAndKeepsOrder, ()) {
  const Task task = any_task();
  const LinkModel model = *rc::gen::element(LinkModel::kHold, LinkModel::kPipelined);
  for (const std::string_view name : engine_names()) {
    const Result<Synthesis> made =
        synthesize(task.topology,
                   task.problem,
                   {.engine = std::string(name), .link_model = model, .seed = task.seed});
    if (!made || made->schedule->num_transfers() > kMostTransfers) {
      continue;
    }
    const TransferBatch transfers = replay::all_transfers(*made->schedule);
    const replay::Setting planned{task.topology, made->collective->chunks()};
    expect_runs(planned, planned, model, transfers, true);
    // What is right under `hold` is so under `pipelined`.
    expect_runs(planned, planned, LinkModel::kPipelined, transfers, true);
    expect_runs(planned, planned, LinkModel::kHold, transfers, model == LinkModel::kHold);
    const Topology other = other_speeds(task.topology, task.seed);
    expect_runs(planned, {other, planned.chunks}, model, transfers, false);
    const ChunkTable larger(Bytes{planned.chunks.size().count * 7 / 3 + 5}, planned.chunks.count());
    expect_runs(planned, {other, larger}, model, transfers, false);
  }
}

}  // namespace
}  // namespace tacos
