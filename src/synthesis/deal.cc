// SPDX-License-Identifier: MIT
#include "synthesis/deal.h"

#include <utility>

#include "base/assert.h"
#include "schedule/packed_schedule.h"

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

std::vector<Deal::Reached> Deal::share(std::vector<Reached> reached) const {
  if (team_ == nullptr) {
    return reached;
  }
  Message message;
  for (std::size_t job = 0; job < reached.size(); ++job) {
    if (mine(job)) {
      put(message, reached[job].failure.has_value());
      if (reached[job].failure) {
        put_error(message, *reached[job].failure);
      } else {
        put(message, reached[job].time);
      }
    }
  }
  const std::vector<Message> messages = all_gather(*team_, message);
  std::vector<MessageReader> readers;
  readers.reserve(messages.size());
  for (const Message& one : messages) {
    readers.emplace_back(one);
  }
  for (std::size_t job = 0; job < reached.size(); ++job) {
    MessageReader& reader = readers[static_cast<std::size_t>(owner(job))];
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
  Message message;
  if (mine) {
    put(message, *mine);
  }
  std::optional<Bid> best;
  for (const Message& one : all_gather(*team_, message)) {
    if (one.empty()) {
      continue;
    }
    const Bid bid = MessageReader(one).get<Bid>();
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
  const Message packed =
      broadcast(*team_, from, sends ? pack_schedule(*made, topology.num_links()) : Message{});
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
  Message about;
  if (here(from)) {
    put(about, made->collective.chunk_argument());
    put(about, made->trials);
    put(about, made->schedule.totals());
  }
  about = broadcast(*team_, from, about);
  MessageReader reader(about);
  Result<Collective> collective = decided(problem, reader.get<std::int64_t>());
  TACOS_ASSERT(collective.has_value(), "what one member made another can make");
  const auto trials = reader.get<std::int64_t>();
  const auto totals = reader.get<Schedule::Totals>();
  if (from == 0) {
    // Whoever has a share of it keeps it.
    return made ? *std::move(made)
                : Candidate{*std::move(collective), absent_schedule(totals), trials};
  }
  std::vector<Message> messages(members());
  if (made) {
    made->schedule.read_together([&] {
      if (here(from)) {
        messages.front() = pack_schedule(made->schedule, topology.num_links());
      }
    });
  }
  messages = team_->exchange(std::move(messages));
  const auto& packed = messages[static_cast<std::size_t>(from)];
  Schedule schedule = here(0)
                          ? unpack_schedule(packed, limits_of(topology, collective->num_chunks()))
                          : absent_schedule(totals);
  return Candidate{*std::move(collective), std::move(schedule), trials};
}

}  // namespace tacos
