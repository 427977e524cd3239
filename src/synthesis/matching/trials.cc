// SPDX-License-Identifier: MIT
#include "synthesis/matching/trials.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/parallel/threads.h"

namespace tacos::matching {
namespace {

/// Retiming was never seen to make a schedule faster by more than this part: 7% where routes go
/// through several switches.
constexpr std::int64_t kRetimingGains = 8;

}  // namespace

std::optional<Ticks> Trials::time_of(const Recipe& recipe) const {
  const auto found = find(recipe);
  return found == known_.end() ? std::nullopt : found->second;
}

bool Trials::gave_up(const Recipe& recipe) const {
  const auto found = find(recipe);
  return found != known_.end() && !found->second;
}

Status Trials::attempt(std::span<const Recipe> recipes, std::optional<Ticks> best) {
  const Ticks limit =
      best ? std::min(kMaxTime, *best + Ticks{best->ps / kRetimingGains}) : kMaxTime;
  std::vector<Recipe> fresh;
  for (const Recipe& recipe : recipes) {
    if (find(recipe) == known_.end() &&
        std::find(fresh.begin(), fresh.end(), recipe) == fresh.end()) {
      fresh.push_back(recipe);
    }
  }
  for (Tried& tried : run(fresh, limit)) {
    if (tried.reached.failure) {
      return *tried.reached.failure;
    }
    keep(std::move(tried));
  }
  return ok();
}

std::vector<Trials::Tried> Trials::run(std::span<const Recipe> recipes, Ticks limit) const {
  const bool together =
      !deal_.alone() && recipes.size() == 1 && RecipeMaker::shares_work(recipes.front());
  const bool dealt = !deal_.alone() && !together;
  EngineOptions options = options_;
  options.team = together ? options_.team : nullptr;
  std::vector<Tried> tried(recipes.size());
  std::vector<Deal::Reached> reached(recipes.size());
  ThreadPool pool(recipes.size() > 1 ? options_.threads : 1);
  pool.for_ranges(recipes.size(), 1, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (dealt && !deal_.mine(i)) {
        continue;
      }
      Result<std::optional<Candidate>> made = maker_.make(recipes[i], options, limit);
      if (!made) {
        reached[i].failure = made.error();
      } else {
        tried[i].made = *std::move(made);
        reached[i].time = tried[i].made ? tried[i].made->schedule.collective_time() : kGivenUp;
      }
    }
  });
  if (dealt) {
    reached = deal_.share(std::move(reached));
  }
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    tried[i].recipe = recipes[i];
    tried[i].reached = reached[i];
    tried[i].owner = dealt ? std::optional(deal_.owner(i)) : std::nullopt;
  }
  return tried;
}

void Trials::keep(Tried tried) {
  known_.emplace_back(tried.recipe, tried.time());
  if (tried.time() && (!best_ || *tried.time() < best_->reached.time)) {
    best_ = std::move(tried);
  }
}

Result<Candidate> Trials::take_best() {
  TACOS_ASSERT(best_.has_value(), "at least one recipe was tried");
  return best_->owner ? deal_.to_leader(*best_->owner, std::move(best_->made), topology_, problem_)
                      : *std::move(best_->made);
}

}  // namespace tacos::matching
