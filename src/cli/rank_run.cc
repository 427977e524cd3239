// SPDX-License-Identifier: MIT
// Ours and the library's take turns, so that both meet the same machine; each begins together,
// after a barrier, and takes as long as the slowest rank.
#include "cli/rank_run.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tacos/lower.h"

#include "base/assert.h"
#include "base/parallel/agree.h"
#include "cli/report.h"
#include "cli/run_data.h"
#include "execute/mapping.h"
#include "execute/reduce.h"

namespace tacos::cli {
namespace {

/// Iterations before those that count.
constexpr int kWarmUp = 2;

/// Of every iteration that of the slowest, and of these the least.
double least_of_slowest(Team& team, const std::vector<double>& mine) {
  Packet packet;
  put_all(packet, std::span<const double>(mine));
  std::vector<double> slowest(mine.size(), 0);
  for (const Packet& one : all_gather(team, packet)) {
    std::vector<double> theirs(mine.size());
    PacketReader(one).get_all(std::span(theirs));
    std::transform(
        slowest.begin(), slowest.end(), theirs.begin(), slowest.begin(), [](double a, double b) {
          return std::max(a, b);
        });
  }
  return *std::min_element(slowest.begin(), slowest.end());
}

}  // namespace

Result<RankRun> RankRun::load(const Bundle& bundle, Ranks& ranks, const RunOptions& options) {
  Team& team = ranks.team();
  RankRun made(ranks, options, bundle.collective);
  // A broadcast of MPI is in place; others get buffers of their own.
  const bool in_place = bundle.collective.kind() == CollectiveKind::kBroadcast;
  const Result<Runnable> runnable =
      lower_to_run(bundle.topology,
                   bundle.collective,
                   bundle.schedule,
                   {.in_place = in_place, .credits = options.credits});
  if (Status lowered = agree(team, runnable); !lowered) {
    return lowered.error();
  }
  const Program& program = runnable->program;
  std::vector<NodeId> npus = execution::acting_npus(program);
  if (static_cast<std::size_t>(team.size()) == program.npus.size()) {
    npus = all_npus(bundle.topology);
  }
  const Result<std::vector<NodeId>> order =
      options.map.empty() ? std::vector<NodeId>{} : execution::map_members(team, npus, options.map);
  Result<execution::Placement> placement =
      order ? execution::place(program, static_cast<std::uint32_t>(team.size()), *order)
            : Result<execution::Placement>(order.error());
  if (Status placed = agree(team, placement); !placed) {
    return placed.error();
  }
  made.placement_ = *std::move(placement);
  made.npu_ = made.placement_.npus[static_cast<std::size_t>(team.member())];
  const auto participants = bundle.collective.participants();
  made.takes_part_ = std::binary_search(participants.begin(), participants.end(), made.npu_);
  made.is_root_ = made.npu_ == bundle.collective.root();
  ranks.choose(made.takes_part_);
  Result<Executor> executor = made.load_executor(*runnable);
  if (Status loaded = agree(team, executor); !loaded) {
    return loaded.error();
  }
  made.executor_ = *std::move(executor);
  return made;
}

Result<Executor> RankRun::load_executor(const Runnable& runnable) const {
  const Result<Transport*> transport = ranks_->transport(options_.transport);
  if (!transport) {
    return transport.error();
  }
  ExecuteOptions options = placement_.options();
  options.limit = options_.limit;
  return runnable.loop ? Executor::load(*runnable.loop, npu_, **transport, options)
                       : Executor::load(runnable.program, npu_, **transport, options);
}

std::size_t RankRun::count_for(Bytes size) const {
  const std::size_t elements = static_cast<std::size_t>(size.count) / element_bytes(options_.type);
  const bool parts = traits(collective_.kind()).chunks_per != ChunksPer::kBuffer;
  return parts ? elements / collective_.num_participants() : elements;
}

std::size_t RankRun::elements(const BufferExtent& extent, std::size_t count) const {
  const bool parts = traits(collective_.kind()).chunks_per != ChunksPer::kBuffer;
  if (!takes_part_ || (extent.root_only && !is_root_)) {
    return 0;
  }
  return extent.whole && parts ? count * collective_.num_participants() : count;
}

void RankRun::meet() {
  if (!ranks_->barrier(options_.limit)) {
    throw InternalError(
        fmt::format("rank {} (NPU {}): somebody did not come to the barrier for {} s",
                    ranks_->team().member(),
                    npu_.value(),
                    static_cast<double>(options_.limit.count()) / 1e3));
  }
}

RankRun::Buffers RankRun::make_buffers(std::size_t count) const {
  const CollectiveTraits& kind = traits(collective_.kind());
  const std::size_t bytes = element_bytes(options_.type);
  Buffers buffers{.input = std::vector<std::byte>(elements(kind.input, count) * bytes),
                  .ours = std::vector<std::byte>(elements(kind.output, count) * bytes),
                  .theirs = std::vector<std::byte>(elements(kind.output, count) * bytes)};
  fill_input(options_.type,
             options_.op,
             static_cast<std::uint32_t>(ranks_->team().member()),
             buffers.input);
  spoil(buffers);
  return buffers;
}

void RankRun::spoil(Buffers& buffers) const {
  if (collective_.kind() == CollectiveKind::kBroadcast && is_root_) {
    buffers.ours = buffers.input;
    buffers.theirs = buffers.input;
    return;
  }
  std::fill(buffers.ours.begin(), buffers.ours.end(), std::byte{0x5a});
  std::fill(buffers.theirs.begin(), buffers.theirs.end(), std::byte{0xa5});
}

void RankRun::run_ours(Buffers& buffers) {
  if (const Status ran = executor_->run(buffers.input.data(), buffers.ours.data()); !ran) {
    throw InternalError(fmt::format(
        "rank {} (NPU {}): {}", ranks_->team().member(), npu_.value(), ran.error().to_string()));
  }
}

void RankRun::run_library(Buffers& buffers, std::size_t count) {
  if (!takes_part_) {
    return;
  }
  ranks_->call_library({.kind = collective_.kind(),
                        .type = options_.type,
                        .op = options_.op,
                        .count = count,
                        .root = static_cast<int>(placement_.root),
                        .input = buffers.input.data(),
                        .output = buffers.theirs.data()});
  const auto finish = execution::reduction(options_.type, options_.op).finish;
  if (traits(collective_.kind()).reduces && finish != nullptr && !buffers.theirs.empty()) {
    finish(buffers.theirs.data(),
           buffers.theirs.size() / element_bytes(options_.type),
           collective_.num_participants());
  }
}

Result<Measurement> RankRun::measure(Bytes size) {
  Team& team = ranks_->team();
  const std::size_t count = count_for(size);
  const bool too_long = count > static_cast<std::size_t>(std::numeric_limits<int>::max());
  const Status bound =
      too_long ? Status(input_error(fmt::format("{} elements are more than MPI counts", count)))
               : executor_->bind(count, options_.type, options_.op);
  if (Status agreed = agree(team, bound); !agreed) {
    return agreed.error();
  }
  const bool compares = ranks_->has(collective_.kind());
  const bool parts = traits(collective_.kind()).chunks_per != ChunksPer::kBuffer;
  Measurement made{.size = size,
                   .elements = count * (parts ? collective_.num_participants() : 1),
                   .checked = options_.check && compares};
  Buffers buffers = make_buffers(count);
  std::vector<double> our_times;
  std::vector<double> library_times;
  std::uint64_t wrong = 0;
  for (int i = -kWarmUp; i < options_.iterations; ++i) {
    if (made.checked) {
      spoil(buffers);
    }
    const auto timed = [&](std::vector<double>& times, const auto& run) {
      meet();
      const Stopwatch watch;
      run();
      if (i >= 0) {
        times.push_back(watch.seconds());
      }
    };
    timed(our_times, [&] { run_ours(buffers); });
    if (compares) {
      timed(library_times, [&] { run_library(buffers, count); });
    }
    if (made.checked) {
      wrong = std::max(wrong, count_different(options_.type, buffers.ours, buffers.theirs));
    }
  }
  made.seconds = least_of_slowest(team, our_times);
  if (compares) {
    made.library_seconds = least_of_slowest(team, library_times);
  }
  const std::vector<std::uint64_t> all = all_gather(team, wrong);
  made.wrong = std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  return made;
}

}  // namespace tacos::cli
