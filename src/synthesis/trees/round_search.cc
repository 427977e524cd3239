// SPDX-License-Identifier: MIT
// With K trees, a period P for one chunk on each, R rounds and a round that takes L, the time is
// (R - 1) P + L. More trees lose less to whole numbers (the period bound says how much), but their
// longer period makes every wait longer: L was seen to be the depth of the trees and about three
// periods. More rounds make chunks smaller, which shortens both, until latency takes over.
//
// So: the number of chunks from what the bound promises at two sizes, the numbers of trees by what
// it promises there, and for the best of those trees are packed, a round is planned, the number of
// rounds is chosen anew now that L is known, and the round is planned for chunks of that size.
//
// A fast link that carries several chunks in a round pays its latency for each, unless they share
// transfers, which makes the round longer and periods shorter: whichever promises more is planned.
//
// Cost: a packing and a few plans for each number of trees that is tried.
#include "synthesis/trees/round_search.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tacos/chunk_table.h"
#include "tacos/synthesize.h"

#include "base/assert.h"

namespace tacos::trees {
namespace {

/// What waiting for slots adds to the depth of trees, in periods; seen were 1 to 4.
constexpr std::int64_t kWaits = 3;
/// Twice as many chunks must make the collective faster by this part where they cost nothing else.
constexpr std::int64_t kWorthDoubling = 128;
/// Where the number of chunks is given, trees that it can be dealt to evenly may promise so much
/// less than others, as a part of that.
constexpr std::int64_t kTolerable = 6;

/// The rules that plans are made by, in the order of trying.
constexpr std::array kRules{PlanRule{.ahead = 4, .trades = true},
                            PlanRule{.ahead = 4, .trades = false},
                            PlanRule{.ahead = 3, .trades = true},
                            PlanRule{.ahead = 6, .trades = true},
                            PlanRule{.ahead = 3, .trades = false},
                            PlanRule{.ahead = 6, .trades = false}};

PlanRule rule_with(std::size_t number, std::uint32_t sharing) {
  PlanRule rule = kRules[number];
  rule.sharing = sharing;
  return rule;
}

/// So many plans of a round are enough, and one in so many tries another rule.
constexpr std::uint32_t kMostPlans = 24;
constexpr std::uint32_t kPlansPerRule = 4;

/// What an effort amounts to. A cell is a tree at an NPU.
struct Budget {
  std::uint32_t most_trees;
  /// How many numbers of trees are tried, and for how many cells in all after the first.
  std::uint32_t most_options;
  std::uint64_t most_cells;
  /// Cells that are planned of one packing: so often its round is planned.
  std::uint64_t planned;
  /// Whether it is enough if trees share links as evenly as can be.
  bool first_good;
};

Budget budget_of(int effort, std::uint32_t nodes) {
  constexpr std::uint32_t kLargeNetwork = 16'384;
  constexpr std::uint32_t kSteps = 9;
  constexpr std::array<std::uint32_t, kSteps> kTrees{16, 16, 24, 24, 32, 32, 64, 64, 128};
  const auto step = static_cast<std::uint32_t>(effort - 1);
  return {.most_trees = kTrees[step] / (nodes > kLargeNetwork ? 2 : 1),
          .most_options = effort < kDefaultEffort ? 3U : static_cast<std::uint32_t>(effort - 1),
          .most_cells = std::uint64_t{1} << (14 + step),
          .planned = std::uint64_t{1} << std::max(15U, 14 + step),
          .first_good = effort < kDefaultEffort};
}

/// Numbers to look at: about twelve to the octave.
std::uint32_t next_number(std::uint32_t number) {
  return number + std::max(1U, number / 16);
}

/// Keeps the number that takes least time. Where a message costs a link nothing but its bytes, more
/// of them are always better, and must be worth it.
class RoundChoice {
 public:
  explicit RoundChoice(LinkModel model) : model_(model) {}

  /// Numbers that grow.
  void offer(std::uint32_t number, Int128 time) {
    const Int128 margin = model_ == LinkModel::kPipelined && best_ > 0
                              ? time * (number - best_) / (kWorthDoubling * Int128{best_})
                              : 0;
    if (best_ == 0 || time + margin < time_) {
      best_ = number;
      time_ = time;
    }
  }
  [[nodiscard]] std::uint32_t best() const { return best_; }

 private:
  LinkModel model_;
  std::uint32_t best_ = 0;
  Int128 time_ = 0;
};

/// Of so many rounds.
Int128 time_of(const RoundPlan& plan, std::uint32_t rounds) {
  return Int128{rounds - 1} * plan.period + plan.span;
}

/// Makes of a plan that is made of equal steps one of other steps; false when it is not.
bool rescale(RoundPlan& plan, const HopCosts& from, const HopCosts& to) {
  const std::int64_t step = from.busy(0);
  const std::int64_t other = to.busy(0);
  const auto fits = [step](std::int64_t time) { return time % step == 0; };
  const auto all_fit = [&](const std::vector<std::int64_t>& starts) {
    return std::all_of(starts.begin(), starts.end(), fits);
  };
  if (step != from.arrival(0) || other != to.arrival(0) || !fits(plan.period) ||
      !all_fit(plan.up) || !all_fit(plan.down)) {
    return false;
  }
  for (std::int64_t* const time : {&plan.period, &plan.span}) {
    *time = *time / step * other;
  }
  for (std::vector<std::int64_t>* const starts : {&plan.up, &plan.down}) {
    for (std::int64_t& start : *starts) {
      start = start / step * other;
    }
  }
  return true;
}

}  // namespace

RoundSearch::RoundSearch(const PipelineTask& task, Packer& packer, int effort)
    : topology_(task.topology),
      fabric_(task.fabric),
      job_(task.job),
      size_(task.size),
      model_(task.model),
      packer_(packer),
      effort_(effort) {}

HopCosts RoundSearch::costs(std::uint32_t chunks) const {
  return {topology_, fabric_, ChunkTable(size_, chunks).max_bytes(), model_};
}

/// Into so many the buffer can be cut, with at least a byte in each; never more than a million.
std::uint32_t RoundSearch::most_chunks() const {
  const auto unit = static_cast<std::int64_t>(job_.unit());
  return static_cast<std::uint32_t>(
      std::max(unit, std::min(size_.count, std::int64_t{1} << 20U) / unit * unit));
}

/// Where the time that bandwidth takes, which latency makes longer with every chunk, and the time
/// to fill the trees, which is shorter the smaller the chunks are, add up to least.
std::uint32_t RoundSearch::guess_chunks() const {
  const std::uint32_t unit = job_.unit();
  const std::uint32_t trees = 8 * unit;
  const std::uint32_t few = std::min(64 * unit, most_chunks());
  const std::uint32_t many = std::min(4096 * unit, most_chunks());
  if (few == many) {
    return few;
  }
  // Period and depth are a constant and a part that is proportional to the size of a chunk.
  struct Cost {
    Int128 constant = 0;
    Int128 proportional = 0;
    [[nodiscard]] Int128 at(Int128 chunks) const { return constant + proportional / chunks; }
  };
  const auto fit = [&](std::int64_t at_few, std::int64_t at_many) {
    const Int128 part = Int128{at_few - at_many} * few * many / (many - few);
    return Cost{.constant = std::max(Int128{0}, at_many - part / many), .proportional = part};
  };
  const HopCosts large = costs(few);
  const HopCosts small = costs(many);
  const Cost period =
      fit(PeriodBound(topology_, job_, large)(trees), PeriodBound(topology_, job_, small)(trees));
  const Centre& centre = packer_.centre();
  const auto depth_of = [&](const HopCosts& some) {
    return static_cast<std::int64_t>(Int128{centre.radius} * some.arrival(0) / centre.arrival);
  };
  const Cost depth = fit(depth_of(large), depth_of(small));
  RoundChoice choice(model_);
  for (std::uint32_t chunks = unit; chunks <= most_chunks(); chunks = next_number(chunks)) {
    choice.offer(chunks, period.at(chunks) * chunks / trees + depth.at(chunks));
  }
  return choice.best();
}

std::vector<RoundSearch::Option> RoundSearch::options(std::uint32_t chunks, bool fixed) const {
  const std::uint32_t unit = job_.unit();
  const Budget budget = budget_of(effort_, fabric_.num_nodes());
  const HopCosts some = costs(chunks);
  const PeriodBound bound(topology_, job_, some);
  std::vector<Option> result;
  for (std::uint32_t trees = unit;
       trees <= std::max(unit, std::min(budget.most_trees, 2 * chunks)) && trees <= most_chunks();
       trees += unit) {
    const std::uint32_t rounds = std::max(1U, (chunks + trees / 2) / trees);
    const std::int64_t period = bound(trees);
    // Those that are too few or too many for the chunks are judged as if these were of that size.
    result.push_back({.time = Int128{period} * chunks / trees + (kWaits - 1) * Int128{period},
                      .trees = trees,
                      .rounds = std::min(rounds, most_chunks() / trees)});
  }
  std::sort(result.begin(), result.end(), [](const Option& a, const Option& b) {
    return std::pair(a.time, a.trees) < std::pair(b.time, b.trees);
  });
  if (fixed) {
    const Int128 tolerable = result.front().time + result.front().time / kTolerable;
    std::erase_if(result, [&](const Option& option) {
      return chunks % option.trees != 0 || option.time > tolerable;
    });
  }
  return result;
}

/// How often the round of a packing is planned.
std::uint32_t RoundSearch::plans_of(const Packing& packing) const {
  const std::uint64_t cells = std::uint64_t{packing.num_nodes} * packing.num_trees();
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      budget_of(effort_, fabric_.num_nodes()).planned / cells, 1, kMostPlans));
}

/// By one rule after the other, then again and again by the best of them.
RoundPlan RoundSearch::plan(const HopCosts& costs,
                            const Packing& packing,
                            std::uint32_t sharing,
                            std::uint32_t made) {
  const std::uint32_t plans = std::max(plans_of(packing), made + 1) - made;
  const std::uint32_t rules = std::clamp<std::uint32_t>(
      plans / kPlansPerRule, 1, static_cast<std::uint32_t>(kRules.size()));
  if (rules == 1) {
    return plan_round(fabric_, costs, job_, packing, rule_with(0, sharing), plans - 1);
  }
  std::int64_t best_span = plan_round(fabric_, costs, job_, packing, rule_with(0, sharing)).span;
  std::uint32_t best_rule = 0;
  for (std::uint32_t rule = 1; rule < rules; ++rule) {
    const std::int64_t span =
        plan_round(fabric_, costs, job_, packing, rule_with(rule, sharing)).span;
    if (span < best_span) {
      best_span = span;
      best_rule = rule;
    }
  }
  return plan_round(fabric_, costs, job_, packing, rule_with(best_rule, sharing), plans - rules);
}

/// Chunks that share a transfer pay its latency once, and wait for each other. On links that are
/// all alike that was never worth it (mesh 16x16, 16x32, 64x64: 0.5 to 3% slower); where some are
/// faster, and carry more in a round, it was (ADR 114). Where a message costs its link only its
/// bytes there is nothing to share.
std::vector<std::uint32_t> RoundSearch::sharings(const std::vector<LinkKind>& kinds) const {
  const bool costs_messages = std::any_of(kinds.begin(), kinds.end(), [&](const LinkKind& kind) {
    return (model_ == LinkModel::kHold ? kind.link.latency : kind.link.gap).ps > 0;
  });
  if (!costs_messages || all_alike(kinds)) {
    return {1};
  }
  std::uint32_t most = 1;
  for (const LinkKind& kind : kinds) {
    most = std::max({most, kind.load.down, kind.load.up});
  }
  std::vector<std::uint32_t> some{1};
  if (most > 2 && effort_ > kDefaultEffort) {
    some.push_back(2);
  }
  if (most > 1) {
    some.push_back(most);
  }
  return some;
}

/// By what a round took with chunks of another size: its span is taken to change as the average
/// transfer does.
std::uint32_t RoundSearch::choose_rounds(const RoundCosts& round,
                                         std::uint32_t trees,
                                         std::uint32_t chunks,
                                         std::int64_t span) const {
  const auto bytes = [this](std::uint32_t number) { return ChunkTable(size_, number).max_bytes(); };
  const Int128 arrivals = round.arrivals(bytes(chunks));
  RoundChoice choice(model_);
  for (std::uint32_t rounds = 1; rounds <= most_chunks() / trees; rounds = next_number(rounds)) {
    const Bytes there = bytes(rounds * trees);
    choice.offer(rounds,
                 Int128{round.period(there)} * (rounds - 1) +
                     Int128{span} * round.arrivals(there) / arrivals);
  }
  return choice.best();
}

std::optional<Draft> RoundSearch::draft(const Option& option, bool fixed) {
  Draft draft;
  draft.chunks = option.trees * option.rounds;
  const HopCosts some = costs(draft.chunks);
  const auto arrivals = some.arrivals();
  if (*std::max_element(arrivals.begin(), arrivals.end()) > kMaxCrossing.ps / fabric_.num_nodes()) {
    return std::nullopt;
  }
  const PeriodBound bound(topology_, job_, some);
  draft.packing = packer_.pack(option.trees, some, bound, option.rounds, Top::kRoot);
  TACOS_ASSERT(draft.packing.period >= bound(option.trees), "a bound holds for every packing");
  if (good_trees_ == 0 && draft.packing.period == bound(option.trees)) {
    good_trees_ = option.trees;
  }
  const std::vector<LinkKind> kinds = link_kinds(topology_, fabric_, draft.packing);
  if (all_alike(kinds)) {
    plan_alike(draft, kinds, some, fixed);
  } else {
    plan_unequal(draft, kinds, some, fixed);
  }
  const Int128 time = time_of(*draft.plan, draft.chunks / option.trees);
  draft.time = static_cast<std::int64_t>(std::min<Int128>(time, kMaxTime.ps));
  return draft;
}

/// A plan serves chunks of any size.
void RoundSearch::plan_alike(Draft& draft,
                             const std::vector<LinkKind>& kinds,
                             const HopCosts& some,
                             bool fixed) {
  const std::uint32_t trees = draft.packing.num_trees();
  const std::uint32_t chunks = draft.chunks;
  draft.plan = plan(some, draft.packing, 1, 0);
  if (!fixed) {
    const RoundCosts round(kinds, model_, 1, some.bytes());
    draft.chunks = trees * choose_rounds(round, trees, chunks, draft.plan->span);
  }
  if (draft.chunks != chunks) {
    const HopCosts exact = costs(draft.chunks);
    draft.packing.period = period_of(fabric_, draft.packing, exact);
    if (!rescale(*draft.plan, some, exact)) {
      draft.plan = plan(exact, draft.packing, 1, 0);
    }
  }
}

/// Whether a plan cannot be made so much better by making it again as to beat what there is: a
/// round becomes 4 or 5% shorter (round_plan.cc), and a collective has many.
bool RoundSearch::is_far_behind(Int128 time) const {
  constexpr std::int64_t kMostGained = 32;
  return time - time / kMostGained > best_time_;
}

/// The first plan is for the number of rounds only. Where chunks may share transfers, another one
/// tells by that number whether they should.
void RoundSearch::plan_unequal(Draft& draft,
                               const std::vector<LinkKind>& kinds,
                               const HopCosts& some,
                               bool fixed) {
  const std::uint32_t trees = draft.packing.num_trees();
  const std::uint32_t chunks = draft.chunks;
  const std::vector<std::uint32_t> sharings = this->sharings(kinds);
  const auto plan_once = [&](const HopCosts& costs, std::uint32_t sharing) {
    return plan_round(fabric_, costs, job_, draft.packing, rule_with(0, sharing));
  };
  std::uint32_t best_sharing = sharings.front();
  std::uint32_t best_chunks = 0;
  for (const std::uint32_t sharing : sharings) {
    std::uint32_t number = chunks;
    if (!fixed) {
      const RoundCosts round(kinds, model_, sharing, some.bytes());
      number = trees * choose_rounds(round, trees, chunks, plan_once(some, sharing).span);
    }
    if (sharings.size() == 1) {
      best_chunks = number;
      break;
    }
    RoundPlan plan = plan_once(costs(number), sharing);
    if (best_chunks == 0 ||
        time_of(plan, number / trees) < time_of(*draft.plan, best_chunks / trees)) {
      best_sharing = sharing;
      best_chunks = number;
      draft.plan = std::move(plan);
    }
  }
  draft.chunks = best_chunks;
  const HopCosts exact = costs(draft.chunks);
  draft.packing.period = period_of(fabric_, draft.packing, exact);
  // Without a choice there would have been the first of these plans only.
  const auto made = static_cast<std::uint32_t>(draft.plan ? 2 * sharings.size() - 1 : 0);
  if (draft.plan && (plans_of(draft.packing) <= made + 1 ||
                     is_far_behind(time_of(*draft.plan, best_chunks / trees)))) {
    return;
  }
  RoundPlan again = plan(exact, draft.packing, best_sharing, made);
  if (!draft.plan || again.span < draft.plan->span) {
    draft.plan = std::move(again);
  }
}

/// Whether so many trees are a multiple of what was good: on large networks these only had a longer
/// period to wait for, on 15 of 15 with 156 to 4096 NPUs, and took 0.1 to 2.4% longer. One tree is
/// good where a single link leads to somebody, and says nothing of others; on small networks more
/// roots may gain (16 NPUs fully connected: 16 trees 4.5% over 8).
bool RoundSearch::repeats_good(std::uint32_t trees) const {
  constexpr std::uint32_t kSmallNetwork = 128;
  return fabric_.num_nodes() > kSmallNetwork && !job_.everyones_own && good_trees_ > 1 &&
         trees % good_trees_ == 0;
}

std::optional<Draft> RoundSearch::best(std::optional<std::uint32_t> chunks) {
  const Budget budget = budget_of(effort_, fabric_.num_nodes());
  std::uint64_t cells = 0;
  std::uint32_t tried = 0;
  std::optional<Draft> best;
  for (const Option& option : options(chunks ? *chunks : guess_chunks(), chunks.has_value())) {
    cells += std::uint64_t{option.trees} * fabric_.num_nodes();
    if (tried++ == budget.most_options || (tried > 1 && cells > budget.most_cells) ||
        (good_trees_ > 0 && budget.first_good)) {
      break;
    }
    if (repeats_good(option.trees)) {
      continue;
    }
    std::optional<Draft> made = draft(option, chunks.has_value());
    if (made && (!best || made->time < best->time)) {
      best = std::move(made);
      best_time_ = best->time;
    }
  }
  return best;
}

}  // namespace tacos::trees
