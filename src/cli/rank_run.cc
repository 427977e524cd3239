// SPDX-License-Identifier: MIT
// Ours and the library's take turns, so that both meet the same machine; each begins together,
// after a barrier, and takes as long as the slowest rank.
#include "cli/rank_run.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tacos/lower.h"

#include "base/files/file.h"
#include "cli/run_data.h"
#include "execute/reduce.h"

namespace tacos::cli {
namespace {

/// Iterations before those that count.
constexpr int kWarmUp = 2;

std::optional<Error> error_in(const Status& status) {
  return status ? std::nullopt : std::optional(status.error());
}

/// Ranks of one machine get NPUs that follow each other.
std::vector<NodeId> order_by_hosts(Team& team, const std::vector<NodeId>& npus) {
  const std::vector<int> machines = all_gather(team, team.machine());
  std::vector<std::size_t> ranks(machines.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::stable_sort(ranks.begin(), ranks.end(), [&](std::size_t a, std::size_t b) {
    return machines[a] < machines[b];
  });
  std::vector<NodeId> order(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    order[ranks[i]] = npus[i];
  }
  return order;
}

/// NPU ids, one for each rank.
Result<std::vector<NodeId>> read_map(const std::string& path, std::size_t ranks) {
  const Result<std::string> text = read_text_file(path);
  if (!text) {
    return text.error();
  }
  std::vector<NodeId> order;
  const char* at = text->data();
  const char* const end = at + text->size();
  while (true) {
    at = std::find_if(
        at, end, [](char c) { return c != ' ' && c != '\n' && c != '\t' && c != '\r'; });
    if (at == end) {
      break;
    }
    std::uint32_t npu = 0;
    const auto [stop, failure] = std::from_chars(at, end, npu);
    if (failure != std::errc()) {
      return input_error("a map has the number of an NPU for every rank, and nothing else", path);
    }
    order.emplace_back(npu);
    at = stop;
  }
  if (order.size() != ranks) {
    return input_error(fmt::format("has {} NPUs for {} ranks", order.size(), ranks), path);
  }
  return order;
}

Result<std::vector<NodeId>> order_of(Team& team, const Program& program, const std::string& map) {
  const auto ranks = static_cast<std::size_t>(team.size());
  if (map.empty()) {
    return std::vector<NodeId>{};
  }
  if (map != "hosts") {
    return read_map(map, ranks);
  }
  std::vector<NodeId> npus = execution::acting_npus(program);
  if (ranks == program.npus.size()) {
    npus.clear();
    for (std::uint32_t npu = 0; npu < ranks; ++npu) {
      npus.emplace_back(npu);
    }
  }
  return npus.size() == ranks ? order_by_hosts(team, npus) : std::vector<NodeId>{};
}

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

Status agree(Team& team, const Status& mine) {
  const std::optional<Error> first = first_error(team, error_in(mine));
  return first ? Status(*first) : ok();
}

Result<RankRun> RankRun::load(const Bundle& bundle, Ranks& ranks, const RunOptions& options) {
  Team& team = ranks.team();
  RankRun made(ranks, options, bundle.collective);
  // A broadcast of MPI is in place; others get buffers of their own.
  const bool in_place = bundle.collective.kind() == CollectiveKind::kBroadcast;
  const Result<Program> program =
      lower(bundle.topology, bundle.collective, bundle.schedule, {.in_place = in_place});
  if (Status lowered = agree(team, program ? ok() : Status(program.error())); !lowered) {
    return lowered.error();
  }
  const Result<std::vector<NodeId>> order = order_of(team, *program, options.map);
  Result<execution::Placement> placement =
      order ? execution::place(*program, static_cast<std::uint32_t>(team.size()), *order)
            : Result<execution::Placement>(order.error());
  if (Status placed = agree(team, placement ? ok() : Status(placement.error())); !placed) {
    return placed.error();
  }
  made.placement_ = *std::move(placement);
  made.npu_ = made.placement_.npus[static_cast<std::size_t>(team.member())];
  const auto participants = bundle.collective.participants();
  made.takes_part_ = std::binary_search(participants.begin(), participants.end(), made.npu_);
  made.is_root_ = made.npu_ == bundle.collective.root();
  ranks.choose(made.takes_part_);
  Result<Executor> executor = made.load_executor(*program);
  if (Status loaded = agree(team, executor ? ok() : Status(executor.error())); !loaded) {
    return loaded.error();
  }
  made.executor_ = *std::move(executor);
  return made;
}

Result<Executor> RankRun::load_executor(const Program& program) const {
  const Result<Transport*> transport = ranks_->transport(options_.transport);
  if (!transport) {
    return transport.error();
  }
  ExecuteOptions options = placement_.options();
  options.limit = options_.limit;
  return Executor::load(program, npu_, **transport, options);
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
    throw std::runtime_error(fmt::format(
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
      ranks_->barrier();
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
