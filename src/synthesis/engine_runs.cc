// SPDX-License-Identifier: MIT
#include "synthesis/engine_runs.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/parallel/progress.h"
#include "base/parallel/team.h"
#include "base/parallel/threads.h"

namespace tacos {
namespace {

/// Algorithms from books take about as long as each other, and none of them another's place.
bool side_by_side(const EngineInfo& first, const EngineInfo& next) {
  return first.id == EngineId::kBaseline && next.id == EngineId::kBaseline;
}

}  // namespace

std::optional<Ticks> EngineRuns::run_first(const EngineInfo& engine) {
  EngineOptions alone = options_;
  alone.team = nullptr;
  made_.resize(1);
  const Deal::Reached reached = run_one(engine, alone, made_.front());
  has_first_ = made_.front().has_value();
  return has_first_ ? std::optional(reached.time) : std::nullopt;
}

Result<Synthesis> EngineRuns::run(const EngineList& engines) {
  std::size_t next = 0;
  made_.resize(engines.size());
  reached_.resize(engines.size());
  const StopRule enough(topology_, problem_, options_, engines.size());
  JointProgress progress(options_.progress, engines.size());
  if (has_first_) {
    reached_[0].time = made_[0]->schedule.collective_time();
    best_ = 0;
  }
  while (next < engines.size()) {
    const std::vector<std::size_t> together = take_together(engines, enough, next);
    run_together(engines, together, enough.suffices(), progress);
    keep_best(engines, enough, together);
  }
  return choose(engines, enough);
}

bool EngineRuns::is_enough(const EngineList& engines,
                           const StopRule& enough,
                           std::size_t next) const {
  return best_ && is_enough_after(engines, enough, *best_, next);
}

/// Exchanges that are faster than a pattern leave no more to others than the pattern did.
bool EngineRuns::is_enough_after(const EngineList& engines,
                                 const StopRule& enough,
                                 std::size_t best,
                                 std::size_t next) const {
  const auto by = [&](std::size_t one) {
    return enough(reached_[one].time, *engines[one], *engines[next]);
  };
  const bool faster_than_pattern = engines[best]->id == EngineId::kExchange &&
                                   engines.front()->id == EngineId::kSymmetric &&
                                   !reached_.front().failure;
  return by(best) || (faster_than_pattern && by(0));
}

std::vector<std::size_t> EngineRuns::take_together(const EngineList& engines,
                                                   const StopRule& enough,
                                                   std::size_t& next) const {
  std::vector<std::size_t> together;
  const std::size_t first = next;
  do {
    if (!is_enough(engines, enough, next) && !(next == 0 && has_first_)) {
      together.push_back(next);
    }
    ++next;
  } while (next < engines.size() && side_by_side(*engines[first], *engines[next]));
  return together;
}

void EngineRuns::run_together(const EngineList& engines,
                              std::span<const std::size_t> together,
                              Ticks suffices,
                              JointProgress& progress) {
  const int threads = together.size() > 1 ? options_.threads : 1;
  ThreadPool pool(threads);
  pool.for_ranges(together.size(), 1, [&](std::size_t from, std::size_t to) {
    for (const std::size_t engine : together.subspan(from, to - from)) {
      EngineOptions one = options_;
      one.threads = together.size() > 1 ? 1 : options_.threads;
      if (told_ && best_ && (!one.beat || reached_[*best_].time < *one.beat)) {
        one.beat = reached_[*best_].time;
      }
      one.suffices = suffices;
      one.progress = progress.part(engine);
      reached_[engine] = run_one(*engines[engine], one, made_[engine]);
    }
  });
}

void EngineRuns::keep_best(const EngineList& engines,
                           const StopRule& enough,
                           std::span<const std::size_t> together) {
  for (const std::size_t one : together) {
    const bool better = made_[one] && !is_enough(engines, enough, one) &&
                        (!best_ || reached_[one].time < reached_[*best_].time);
    if (best_) {
      made_[better ? *best_ : one].reset();
    }
    best_ = better ? one : best_;
  }
}

Deal::Reached EngineRuns::run_one(const EngineInfo& engine,
                                  const EngineOptions& options,
                                  std::optional<Candidate>& made) {
  EngineOptions freely = options;
  if (engine.id == EngineId::kExchange && options.link_model == LinkModel::kPipelined) {
    // It gives up early, and takes milliseconds; but what it makes under the other model may win.
    freely.beat = options_.beat;
  }
  Result<Candidate> candidate = engine.run(topology_, problem_, freely);
  if (!candidate) {
    return {.failure = candidate.error(), .time = {}};
  }
  if (candidate->schedule.collective_time() > kMaxTime) {
    return {.failure = takes_too_long(topology_.name()), .time = {}};
  }
  made = *std::move(candidate);
  other_model_.try_it(engine, options, *made);
  const Ticks time = made->schedule.collective_time();
  // Of a team only the leader knows the other model's.
  return {.failure = std::nullopt,
          .time = options.team == nullptr ? time : broadcast(*options.team, 0, time)};
}

Result<Synthesis> EngineRuns::choose(const EngineList& engines, const StopRule& enough) {
  const std::vector<Deal::Reached>& reached = reached_;
  Synthesis synthesis;
  std::optional<std::size_t> best;
  Error failure =
      input_error(fmt::format("no engine makes {} on this network yet", to_string(problem_.kind)),
                  topology_.name());
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const std::string name(engines[i]->name);
    // Of algorithms from books only the one that wins is worth a word.
    const bool mentioned = engines[i]->id != EngineId::kBaseline || engines.size() == 1;
    if (best && is_enough_after(engines, enough, *best, i)) {
      if (mentioned) {
        synthesis.compared.push_back({.engine = name, .collective_time = {}, .left_out = true});
      }
      continue;
    }
    if (reached[i].failure) {
      // Another engine may still do it.
      failure = mentioned ? *reached[i].failure : failure;
      continue;
    }
    if (mentioned) {
      synthesis.compared.push_back({.engine = name, .collective_time = reached[i].time});
    }
    if (!best || reached[i].time < reached[*best].time) {
      best = i;
    }
  }
  if (!best) {
    return failure;
  }
  if (engines[*best]->id == EngineId::kBaseline && engines.size() > 1) {
    synthesis.compared.push_back(
        {.engine = std::string(engines[*best]->name), .collective_time = reached[*best].time});
  }
  Candidate candidate = *std::move(made_[*best]);
  synthesis.engine = engines[*best]->name;
  synthesis.collective = std::move(candidate.collective);
  synthesis.schedule = std::move(candidate.schedule);
  synthesis.trials = candidate.trials;
  return synthesis;
}

}  // namespace tacos
