// SPDX-License-Identifier: MIT
#include "synthesis/common/deal.h"

#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/text/quantity.h"
#include "schedule/packed_schedule.h"
#include "schedule/source.h"

namespace tacos {
namespace {

PatternLimits limits_of(const Topology& topology, std::uint32_t num_chunks) {
  return {.npus = topology.num_npus(), .links = topology.num_links(), .chunks = num_chunks};
}

}  // namespace

Result<Collective> decided(const Problem& problem, std::int64_t chunk_argument) {
  return problem.custom
             ? Result(*problem.custom)
             : Collective::make(
                   problem.kind, problem.size, chunk_argument, problem.participants, problem.root);
}

Result<Collective> decided_by_phases(const Problem& problem, std::int64_t chunks_per_participant) {
  if (!traits(problem.kind).has_two_phases()) {
    return decided(problem, chunks_per_participant);
  }
  const auto participants = static_cast<std::int64_t>(problem.participants.size());
  if (problem.size.count < participants) {
    return input_error(fmt::format(
        "this engine cuts the buffer of an all-reduce into a chunk for each of {} participants, "
        "and {} is too small for that; use {} B or more, or another engine",
        participants,
        format_size(problem.size),
        participants));
  }
  return decided(problem, chunks_per_participant * participants);
}

std::vector<Deal::Reached> Deal::share(std::vector<Reached> reached) const {
  if (team_ == nullptr) {
    return reached;
  }
  Packet packet;
  for (std::size_t job = 0; job < reached.size(); ++job) {
    if (mine(job)) {
      put(packet, reached[job].failure.has_value());
      if (reached[job].failure) {
        put_error(packet, *reached[job].failure);
      } else {
        put(packet, reached[job].time);
      }
    }
  }
  const std::vector<Packet> packets = all_gather(*team_, packet);
  std::vector<PacketReader> readers;
  readers.reserve(packets.size());
  for (const Packet& one : packets) {
    readers.emplace_back(one);
  }
  for (std::size_t job = 0; job < reached.size(); ++job) {
    PacketReader& reader = readers[static_cast<std::size_t>(owner(job))];
    if (reader.get<bool>()) {
      reached[job].failure = get_error(reader);
    } else {
      reached[job].time = reader.get<Ticks>();
    }
  }
  return reached;
}

std::optional<Bid> Deal::best(const std::optional<Bid>& mine) const {
  if (team_ == nullptr) {
    return mine;
  }
  Packet packet;
  if (mine) {
    put(packet, *mine);
  }
  std::optional<Bid> best;
  for (const Packet& one : all_gather(*team_, packet)) {
    if (one.empty()) {
      continue;
    }
    const Bid bid = PacketReader(one).get<Bid>();
    if (!best || bid < *best) {
      best = bid;
    }
  }
  return best;
}

Schedule Deal::to_all(int from,
                      std::optional<Schedule> made,
                      const Topology& topology,
                      std::uint32_t num_chunks) const {
  if (team_ == nullptr) {
    return *std::move(made);
  }
  const bool sends = team_->member() == from;
  const Packet packed =
      broadcast(*team_, from, sends ? pack_schedule(*made, topology.num_links()) : Packet{});
  return sends ? *std::move(made) : unpack_schedule(packed, limits_of(topology, num_chunks));
}

Candidate Deal::to_leader(int from,
                          std::optional<Candidate> made,
                          const Topology& topology,
                          const Problem& problem) const {
  if (team_ == nullptr) {
    return *std::move(made);
  }
  const auto here = [&](int member) { return team_->member() == member; };
  Packet about;
  if (here(from)) {
    put(about, made->collective.chunk_argument());
    put(about, made->trials);
    put(about, made->schedule.totals());
  }
  about = broadcast(*team_, from, about);
  PacketReader reader(about);
  Result<Collective> collective = decided(problem, reader.get<std::int64_t>());
  TACOS_ASSERT(collective.has_value(), "what one member made another can make");
  const auto trials = reader.get<std::int64_t>();
  const auto totals = reader.get<Schedule::Totals>();
  if (from == 0) {
    // Whoever has a share of it keeps it.
    return made ? *std::move(made)
                : Candidate{*std::move(collective), absent_schedule(totals), trials};
  }
  std::vector<Packet> packets(members());
  if (made) {
    source_of(made->schedule).read_together([&] {
      if (here(from)) {
        packets.front() = pack_schedule(made->schedule, topology.num_links());
      }
    });
  }
  packets = team_->exchange(std::move(packets));
  const auto& packed = packets[static_cast<std::size_t>(from)];
  Schedule schedule = here(0)
                          ? unpack_schedule(packed, limits_of(topology, collective->num_chunks()))
                          : absent_schedule(totals);
  return Candidate{*std::move(collective), std::move(schedule), trials};
}

}  // namespace tacos
