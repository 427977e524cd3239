// SPDX-License-Identifier: MIT
// Independent jobs (engines, trials, chunk counts) dealt over a team, the best kept: the one with
// the lowest time, among equals the first, which is what one process would keep.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "base/parallel/team.h"
#include "synthesis/common/engine.h"

namespace tacos {

/// What a job reached.
struct Bid {
  Ticks time;
  std::uint64_t job = 0;

  friend auto operator<=>(const Bid&, const Bid&) = default;
};

class Deal {
 public:
  /// Without a team one process has all the jobs.
  explicit Deal(Team* team) : team_(team) {}

  [[nodiscard]] std::size_t members() const {
    return team_ == nullptr ? 1 : static_cast<std::size_t>(team_->size());
  }
  [[nodiscard]] bool alone() const { return team_ == nullptr; }
  [[nodiscard]] bool mine(std::size_t job) const {
    return team_ == nullptr || owner(job) == team_->member();
  }
  [[nodiscard]] int owner(std::size_t job) const { return static_cast<int>(job % members()); }

  /// What each job reached, given by the member whose job it was.
  struct Reached {
    std::optional<Error> failure;
    Ticks time;
  };
  [[nodiscard]] std::vector<Reached> share(std::vector<Reached> reached) const;

  /// The best bid of all members.
  [[nodiscard]] std::optional<Bid> best(const std::optional<Bid>& mine) const;

  /// The schedule that member `from` made, at every member.
  [[nodiscard]] Schedule to_all(int from,
                                std::optional<Schedule> made,
                                const Topology& topology,
                                std::uint32_t num_chunks) const;
  /// The candidate that member `from` made, or the team that it leads, for the leader; the others
  /// have only its totals. `made` is what each of those has.
  [[nodiscard]] Candidate to_leader(int from,
                                    std::optional<Candidate> made,
                                    const Topology& topology,
                                    const Problem& problem) const;

 private:
  Team* team_;
};

/// The collective of a problem, with its number of chunks decided.
[[nodiscard]] Result<Collective> decided(const Problem& problem, std::int64_t chunk_argument);
/// The same for engines that make an All-Reduce by Reduce-Scatter and All-Gather: with so many
/// chunks for each participant.
[[nodiscard]] Result<Collective> decided_by_phases(const Problem& problem,
                                                   std::int64_t chunks_per_participant);

}  // namespace tacos
