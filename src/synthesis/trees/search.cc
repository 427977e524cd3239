// SPDX-License-Identifier: MIT
#include "synthesis/trees/search.h"

#include <algorithm>
#include <utility>

#include "base/wide.h"

namespace tacos::trees {
namespace {

/// Simulated transfers per search; about 0.1 us each.
constexpr std::int64_t kSearchBudget = 3'000'000;
/// More transfers than this are simulated once only, to record them.
constexpr std::uint64_t kMostSimulated = 1'200'000;
/// Up to this many, each number of chunks is a case of its own.
constexpr std::uint32_t kFewChunks = 128;
/// More NPUs than this are packed once, into fewer trees.
constexpr std::uint32_t kLargeNetwork = 1024;
/// Never more transfers than this, unless the caller says how many chunks.
constexpr std::uint64_t kMostTransfers = 160'000'000;
/// More chunks must make the collective faster by this part.
constexpr std::int64_t kWorthwhile = 128;
constexpr std::int64_t kWorthwhileIfLarge = 40;
/// Longest remaining way counts this many times against the order of chunks.
constexpr std::int64_t kTailWeight = 2;

/// Numbers of chunks to look at: two to the octave.
std::uint32_t grid(std::uint32_t index) {
  const std::uint32_t whole = 1U << index / 2;
  return index % 2 == 0 ? whole : whole + whole / 2 - (whole >= 16 ? whole / 12 : 0);
}

Urgency by_formula(const Lanes& lanes, const ChannelCosts& costs, const Packing& packing) {
  Urgency urgency{.base = lanes.tails(costs), .step = packing.period, .table = nullptr};
  for (std::uint32_t lane = 0; lane < lanes.num_lanes(); ++lane) {
    const std::int64_t begin = packing.period * lanes.tree(lane) / lanes.num_trees();
    urgency.base[lane] = begin - kTailWeight * urgency.base[lane];
  }
  return urgency;
}

/// When time runs backwards, what ended last comes first.
LaneTable mirrored(const Lanes& lanes, const LaneTable& ends, std::uint32_t num_chunks) {
  LaneTable urgency(lanes, num_chunks);
  for (std::uint32_t lane = 0; lane < lanes.num_lanes(); ++lane) {
    const std::uint32_t rounds = rounds_of(lanes.tree(lane), lanes.num_trees(), num_chunks);
    for (std::uint32_t round = 0; round < rounds; ++round) {
      urgency.at(lane, rounds - 1 - round) = -ends.at(lane, round);
    }
  }
  return urgency;
}

}  // namespace

Search::Search(
    const Topology& topology, const Fabric& fabric, Bytes size, LinkModel model, std::uint64_t seed)
    : topology_(topology),
      fabric_(fabric),
      size_(size),
      model_(model),
      seed_(seed),
      centre_(find_centre(
          fabric,
          costs(static_cast<std::uint32_t>(std::min<std::int64_t>(64, size.count))).arrivals())),
      budget_(kSearchBudget) {}

Bytes Search::chunk_bytes(std::uint32_t chunks) const {
  return ChunkTable(size_, chunks).max_bytes();
}

ChannelCosts Search::costs(std::uint32_t chunks) const {
  return {topology_, fabric_, chunk_bytes(chunks), model_};
}

Grouping Search::grouping(const ChannelCosts& costs, std::uint32_t group) const {
  constexpr std::int64_t kMostTogether = 8;
  if (group == 1) {
    return {};
  }
  // Group 0 lets faster channels carry as many as they can in the time of the slowest.
  std::int64_t slowest = costs.bandwidth(0);
  for (std::uint32_t channel = 0; channel < fabric_.num_channels(); ++channel) {
    slowest = std::min(slowest, costs.bandwidth(channel));
  }
  Grouping result;
  for (std::uint32_t channel = 0; channel < fabric_.num_channels(); ++channel) {
    const std::int64_t limit = group == 0 ? costs.bandwidth(channel) / slowest : group;
    result.limit.push_back(static_cast<std::uint32_t>(std::min(kMostTogether, limit)));
  }
  return result;
}

bool Search::is_large(std::uint32_t chunks) const {
  return transfers(chunks) > kMostSimulated;
}

/// Numbers of trees worth trying, best first by what the bound promises.
std::vector<std::uint32_t> Search::tree_counts(const PeriodBound& bound,
                                               std::uint32_t chunks) const {
  constexpr std::uint32_t kMostTrees = 128;
  constexpr std::uint32_t kMostTreesLarge = 32;
  const std::uint32_t roots = std::min(centre_.central, 64U);
  const std::uint32_t least = std::min(chunks, std::max(24U, roots));
  const std::uint32_t most =
      std::min(chunks,
               fabric_.num_nodes() > kLargeNetwork ? kMostTreesLarge
                                                   : std::clamp(2 * roots, 48U, kMostTrees));
  std::vector<std::pair<Int128, std::uint32_t>> promises;
  for (std::uint32_t trees = std::min(least, most); trees <= most; ++trees) {
    const std::int64_t period = bound(trees);
    // Rounds are whole when the number of chunks is not ours to choose. A longer period makes the
    // first and the last round longer, whence the quarter.
    const Int128 rounds = fixed_ ? Int128{(chunks + trees - 1) / trees} * trees : Int128{chunks};
    promises.emplace_back(period * rounds * 64 / trees + period * 16, trees);
  }
  std::sort(promises.begin(), promises.end());
  std::vector<std::uint32_t> counts;
  for (const auto& [promise, trees] : promises) {
    counts.push_back(trees);
  }
  return counts;
}

Packing Search::pack(const ChannelCosts& costs, std::uint32_t chunks) {
  const PeriodBound bound(fabric_, costs);
  const auto pack_with = [&](std::uint32_t trees) {
    const std::vector<std::uint32_t> roots = spread_roots(centre_, trees);
    return pack_trees({.fabric = fabric_,
                       .costs = costs,
                       .roots = roots,
                       .rounds = (chunks + trees - 1) / trees,
                       .least_period = bound(trees),
                       .seed = seed_});
  };
  if (!kept_.roots.empty() && kept_.num_trees() <= chunks && !fixed_) {
    // The same trees serve any chunk size where all channels are alike; where packing takes long,
    // they must do.
    const bool alike = bound.uniform() || fabric_.num_nodes() > kLargeNetwork;
    return alike ? kept_ : pack_with(kept_.num_trees());
  }
  Packing best;
  Int128 best_time = 0;
  std::int64_t effort = 100'000;
  for (const std::uint32_t trees : tree_counts(bound, chunks)) {
    Packing packing = pack_with(trees);
    const Int128 rounds = fixed_ ? Int128{(chunks + trees - 1) / trees} * trees : Int128{chunks};
    const Int128 time =
        packing.period * rounds * 64 / trees + (packing.depth * 4 + packing.period) * 16;
    const bool perfect = packing.period == bound(trees);
    if (best.roots.empty() || time < best_time) {
      best_time = time;
      best = std::move(packing);
    }
    effort -= std::int64_t{trees} * fabric_.num_nodes();
    if (perfect || effort < 0) {
      break;
    }
  }
  if (kept_.roots.empty()) {
    kept_ = best;
  }
  return best;
}

void Search::improve_by_lists(const ChannelCosts& costs, Plan& plan) const {
  const Lanes lanes(fabric_, plan.packing, false);
  const Lanes backwards(fabric_, plan.packing, true);
  const Grouping together = grouping(costs, plan.group);
  const ListProblem forward{fabric_, lanes, costs, together, plan.chunks};
  const ListProblem reverse{fabric_, backwards, costs, together, plan.chunks};
  LaneTable ends(lanes, plan.chunks);
  plan.time = list_schedule(forward, by_formula(lanes, costs, plan.packing), {.ends = &ends});
  // Forward and backward in turn: each pass pulls its transfers to one side, and what it leaves
  // open at the other side is used by the next (double justification, Valls et al. 2005).
  LaneTable table = mirrored(lanes, ends, plan.chunks);
  (void)list_schedule(reverse, {.base = {}, .step = 0, .table = &table}, {.ends = &ends});
  table = mirrored(backwards, ends, plan.chunks);
  const std::int64_t time = list_schedule(forward, {.base = {}, .step = 0, .table = &table}, {});
  if (time < plan.time) {
    plan.time = time;
    plan.urgency = std::move(table);
  }
}

Plan Search::evaluate(std::uint32_t chunks, std::uint32_t group) {
  const ChannelCosts at_first = costs(chunks);
  Plan plan;
  plan.group = group;
  plan.packing = pack(at_first, chunks);
  const std::uint32_t trees = plan.packing.num_trees();
  plan.chunks = fixed_ ? chunks : std::max(1U, (chunks + trees / 2) / trees) * trees;
  if (plan.chunks > size_.count) {
    plan.chunks = chunks;
  }
  const ChannelCosts exact = costs(plan.chunks);
  plan.packing.period = period_of(plan.packing, exact);
  const std::int64_t rounds = (plan.chunks + trees - 1) / trees;
  if (is_large(plan.chunks)) {
    // Too many to simulate more than once, which is when they are recorded.
    plan.time = rounds * plan.packing.period + plan.packing.depth;
  } else {
    improve_by_lists(exact, plan);
    budget_ -= 3 * static_cast<std::int64_t>(transfers(plan.chunks));
  }
  return plan;
}

/// By the packing for many chunks: rounds of a period each, then the depth once.
std::uint32_t Search::guess_chunks() {
  const auto most =
      static_cast<std::uint32_t>(std::min<std::int64_t>(size_.count, std::int64_t{1} << 20U));
  const std::uint32_t reference = std::min(512U, most);
  const ChannelCosts some = costs(reference);
  const Packing packing = pack(some, reference);
  std::uint32_t best = 1;
  Int128 best_time = -1;
  for (std::uint32_t i = 0; i < 40; ++i) {
    const std::uint32_t chunks = grid(i);
    if (chunks > most || (i > 0 && transfers(chunks) > kMostTransfers)) {
      break;
    }
    const ChannelCosts at = costs(chunks);
    // One channel stands for all in what a smaller chunk does to the depth.
    const Int128 depth = Int128{packing.depth} * at.arrival(0) / some.arrival(0);
    const Int128 time = Int128{period_of(packing, at)} * chunks / packing.num_trees() + depth;
    const Int128 margin = time / (is_large(chunks) ? kWorthwhileIfLarge : kWorthwhile);
    if (best_time < 0 || time + margin < best_time) {
      best_time = time;
      best = chunks;
    }
  }
  return best;
}

/// Goes from one number of chunks to the next for as long as that helps.
void Search::climb(std::uint32_t from, std::uint32_t group, Plan& best) {
  std::uint32_t index = 0;
  while (grid(index + 1) <= from) {
    ++index;
  }
  const auto affordable = [&](std::uint32_t at) {
    const std::uint32_t chunks = grid(at);
    return chunks <= size_.count && 3 * static_cast<std::int64_t>(transfers(chunks)) <= budget_;
  };
  const auto try_at = [&](std::uint32_t at) {
    Plan plan = evaluate(grid(at), group);
    // Under `hold` latency limits the number of chunks; else they must be worth their memory.
    const bool more = plan.chunks > best.chunks && model_ == LinkModel::kPipelined;
    const std::int64_t margin = more ? plan.time / (2 * kWorthwhile) : 0;
    if (best.chunks == 0 || plan.time + margin < best.time) {
      best = std::move(plan);
      return true;
    }
    return false;
  };
  bool helped = best.chunks == 0 || affordable(index) ? try_at(index) : false;
  if (!helped && best.chunks == 0) {
    return;
  }
  for (const bool upwards : {false, true}) {
    std::uint32_t at = index;
    while ((upwards || at > 0) && affordable(upwards ? at + 1 : at - 1)) {
      at = upwards ? at + 1 : at - 1;
      if (!try_at(at)) {
        break;
      }
    }
  }
}

/// Looks at every number of chunks near the best: what whole rounds and transfers make of a few
/// chunks, no formula says.
void Search::refine(Plan& best) {
  fixed_ = true;
  const std::uint32_t centre = best.chunks;
  const std::uint32_t step = std::max(1U, centre / 24);
  for (std::uint32_t distance = 0; distance < 16; ++distance) {
    for (const std::uint32_t group : {1U, 2U, 3U, 4U}) {
      for (const bool upwards : {false, true}) {
        const std::uint32_t by = distance * step;
        const std::uint32_t chunks = upwards ? centre + by : centre - by;
        if (by >= centre || chunks > size_.count || (upwards && distance == 0)) {
          continue;
        }
        if (3 * static_cast<std::int64_t>(transfers(chunks)) > budget_) {
          return;
        }
        if (Plan plan = evaluate(chunks, group); plan.time < best.time) {
          best = std::move(plan);
        }
      }
    }
  }
}

Plan Search::best() {
  Plan best;
  const std::uint32_t guess = guess_chunks();
  climb(guess, 1, best);
  if (model_ == LinkModel::kHold && !is_large(best.chunks)) {
    for (const std::uint32_t group : {0U, 2U, 4U}) {
      // Smaller chunks, but the same bytes in a transfer.
      climb(best.group == 1 ? 2 * best.chunks : best.chunks, group, best);
    }
    if (best.chunks <= kFewChunks) {
      refine(best);
    }
  }
  return best;
}

Plan Search::best_with(std::uint32_t chunks) {
  fixed_ = true;
  Plan best = evaluate(chunks, 1);
  if (model_ == LinkModel::kHold && !is_large(best.chunks)) {
    for (const std::uint32_t group : {0U, 2U, 4U}) {
      if (Plan plan = evaluate(chunks, group); plan.time < best.time) {
        best = std::move(plan);
      }
    }
  }
  return best;
}

Schedule Search::record(const Plan& plan) const {
  const ChannelCosts exact = costs(plan.chunks);
  const ChunkTable chunks(size_, plan.chunks);
  const Lanes lanes(fabric_, plan.packing, false);
  ScheduleBuilder builder(topology_.num_links());
  const Grouping together = grouping(exact, plan.group);
  const Urgency urgency = plan.urgency ? Urgency{.base = {}, .step = 0, .table = &*plan.urgency}
                                       : by_formula(lanes, exact, plan.packing);
  (void)list_schedule(
      {fabric_, lanes, exact, together, plan.chunks},
      urgency,
      {.ends = nullptr, .builder = &builder, .topology = &topology_, .chunks = &chunks});
  return std::move(builder).build();
}

}  // namespace tacos::trees
