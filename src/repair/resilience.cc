// SPDX-License-Identifier: MIT
// Cables are shuffled once for each draw, and a share of them fails from the front, so that what
// fails at 1% has failed at 10% too. A draw that cuts participants off is repeated with another
// shuffle, a few times.
//
// O(shares x draws) syntheses, verifications and bounds.
#include "tacos/resilience.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "tacos/bound.h"
#include "tacos/verify.h"

#include "base/numbers/hash.h"
#include "base/numbers/rng.h"
#include "base/numbers/wide.h"
#include "base/parallel/cancel.h"
#include "base/parallel/jobs.h"
#include "base/parallel/progress.h"
#include "topology/unreachable.h"

namespace tacos {
namespace {

constexpr std::array<std::uint32_t, 5> kShares{0, 1, 2, 5, 10};
/// With a tenth of the cables gone, 7% of all draws cut somebody off on mesh 8x8, 16% on 16x32, 57%
/// on 64x64, where that happens 20 times in a row once in 100,000 draws.
constexpr std::uint32_t kMostAttempts = 20;

/// What one draw has led to; nothing where participants were cut off.
struct Measured {
  Ticks time;
  Ticks bound;
};
using Draw = Result<std::optional<Measured>>;

std::vector<std::string> cables_of(const Topology& topology) {
  std::vector<std::pair<NodeId, NodeId>> pairs;
  pairs.reserve(topology.num_links());
  for (const Link& link : topology.links()) {
    pairs.emplace_back(std::min(link.src, link.dst), std::max(link.src, link.dst));
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::vector<std::string> cables;
  cables.reserve(pairs.size());
  for (const auto& [a, b] : pairs) {
    cables.push_back(fmt::format("link:{}-{}", a.value(), b.value()));
  }
  return cables;
}

void shuffle(std::vector<std::string>& cables, std::uint64_t seed) {
  Rng rng(seed);
  for (std::size_t i = cables.size(); i > 1; --i) {
    std::swap(cables[i - 1], cables[rng.below(static_cast<std::uint32_t>(i))]);
  }
}

/// At least one where any shall fail and there is one.
std::uint32_t num_failed(std::size_t cables, std::uint32_t percent) {
  const std::size_t share = (cables * percent + 50) / 100;
  const std::size_t least = percent == 0 || cables == 0 ? 0 : 1;
  return static_cast<std::uint32_t>(std::max(least, share));
}

Draw measure(const Topology& topology, const Problem& problem, const ResilienceOptions& options) {
  const Result<Synthesis> made = synthesize(
      topology,
      problem,
      {.link_model = options.link_model, .seed = options.seed, .effort = options.effort});
  if (!made) {
    return made.error();
  }
  if (made->status == SynthesisStatus::kInfeasible) {
    return std::optional<Measured>();
  }
  const Result<VerifyReport> report =
      verify(topology, *made->collective, *made->schedule, {.link_model = options.link_model});
  const Result<BoundReport> bound = compute_bounds(
      topology,
      *made->collective,
      {.effort = effort_beside_schedule(topology), .link_model = options.link_model});
  if (!report || !bound) {
    return report ? bound.error() : report.error();
  }
  if (!report->valid()) {
    return Error{.code = ErrorCode::kInternal,
                 .message = fmt::format("the schedule is wrong: {}", report->violations.front()),
                 .where = topology.name()};
  }
  return std::optional(
      Measured{.time = made->schedule->collective_time(), .bound = bound->best.time});
}

Draw draw(const Topology& topology,
          const Problem& problem,
          const ResilienceOptions& options,
          std::uint32_t percent,
          std::uint64_t number) {
  const std::vector<std::string> all = cables_of(topology);
  for (std::uint32_t attempt = 0; attempt < kMostAttempts; ++attempt) {
    std::vector<std::string> cables = all;
    shuffle(cables, mix64(mix64(options.seed, number), attempt));
    cables.resize(num_failed(cables.size(), percent));
    const Result<DegradedTopology> left = apply_failures(topology, cables);
    if (!left) {
      return left.error();
    }
    Draw made = measure(left->topology, problem, options);
    if (!made || *made) {
      return made;
    }
  }
  return std::optional<Measured>();
}

ResilienceRow row_of(std::span<const Draw> draws) {
  ResilienceRow row;
  Int128 time = 0;
  Int128 bound = 0;
  for (const Draw& one : draws) {
    if (!*one) {
      ++row.cut_off;
      continue;
    }
    ++row.connected;
    time += (*one)->time.ps;
    bound += (*one)->bound.ps;
    row.worst_time = std::max(row.worst_time, (*one)->time);
  }
  const Int128 some = std::max<std::uint32_t>(1, row.connected);
  row.mean_time = {static_cast<std::int64_t>(time / some)};
  row.mean_bound = {static_cast<std::int64_t>(bound / some)};
  return row;
}

Result<std::vector<ResilienceRow>> measure_all(const Topology& topology,
                                               const Problem& problem,
                                               const ResilienceOptions& options) {
  const std::size_t cables = cables_of(topology).size();
  // Of the whole network there is one draw.
  const std::size_t num_draws = 1 + (kShares.size() - 1) * options.draws;
  std::vector<Draw> draws(num_draws, std::optional<Measured>());
  ThreadPool pool(options.threads);
  JointProgress progress(options.progress, num_draws);
  for_each_job(pool, num_draws, [&](std::size_t job) {
    draws[job] = job == 0 ? measure(topology, problem, options)
                          : draw(topology,
                                 problem,
                                 options,
                                 kShares[1 + (job - 1) / options.draws],
                                 (job - 1) % options.draws);
    if (const auto done = progress.part(job)) {
      done(1);
    }
  });
  const auto wrong = std::find_if(draws.begin(), draws.end(), [](const Draw& one) { return !one; });
  if (wrong != draws.end()) {
    return wrong->error();
  }
  if (!*draws.front()) {
    // It has the words for who is cut off.
    const Result<Synthesis> made = synthesize(topology, problem, {.effort = kLeastEffort});
    return made ? unreachable_error(topology, *made->unreachable) : made.error();
  }
  std::vector<ResilienceRow> rows;
  rows.reserve(kShares.size());
  for (std::size_t i = 0; i < kShares.size(); ++i) {
    rows.push_back(i == 0 ? row_of({draws.data(), 1})
                          : row_of({draws.data() + 1 + (i - 1) * options.draws, options.draws}));
    rows.back().failed_percent = kShares[i];
    rows.back().failed_cables = num_failed(cables, kShares[i]);
  }
  return rows;
}

}  // namespace

Result<std::vector<ResilienceRow>> measure_resilience(const Topology& topology,
                                                      const Problem& problem,
                                                      const ResilienceOptions& options) {
  return cancellable(options.cancel, [&] { return measure_all(topology, problem, options); });
}

}  // namespace tacos
