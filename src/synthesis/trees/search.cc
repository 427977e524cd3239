// SPDX-License-Identifier: MIT
#include "synthesis/trees/search.h"

#include <algorithm>
#include <utility>

#include "base/numbers/wide.h"
#include "synthesis/common/attempts.h"
#include "synthesis/common/work.h"
#include "synthesis/trees/packing/arborescences.h"
#include "synthesis/trees/timing/pipeline.h"

namespace tacos::trees {
namespace {

/// Simulated transfers per search; about 0.1 us each. Whatever the effort, one number of chunks is
/// tried.
constexpr std::int64_t kSearchBudget = 3'000'000;
/// More transfers than this, on more NPUs than that, are simulated backwards and forwards once
/// only, and written down then. Forwards before that would gain 0.2%.
constexpr std::uint64_t kMostTwice = 500'000;
constexpr std::uint32_t kSmallNetwork = 128;
/// Through switches an All-Reduce of more than this is, too: none of the 321 slowest cases of
/// docs/adr/0116 was slower for it by half a percent. From one root it cost up to 13%: there
/// forwards alone is best. Where all hops go through switches, going back and forth again was
/// slower in 35 of 35 cases (docs/adr/0117).
constexpr std::uint64_t kMostTwiceThroughSwitches = 250'000;
/// What the way ahead counts for then, where trees share roots and where each has its own. Four
/// gained 0 to 1.3% on seven tori; on four meshes, whose roots are few, it lost 1.0 to 2.7%. Three:
/// mostly between the two. The rule was made from these eleven.
constexpr std::int64_t kTailWeight = 2;
constexpr std::int64_t kTailWeightIfSpread = 4;
/// Who takes half as long again as the best so far when simulated forwards by formula is not
/// followed backwards and forwards again: of 9,474 drafts on 16 networks none was ahead in the end
/// that had been behind by more than 34% (docs/adr/0115).
constexpr std::int64_t kMostJustified = 3;
/// Through switches who is a tenth behind another engine then never won, in 504 cases; on few nodes
/// a third, and on fewer all is tried.
constexpr std::int64_t kMostBehind = 10;
constexpr std::uint32_t kFewNodes = 16;
constexpr std::uint32_t kFewestNodes = 14;
/// Of so few bytes as well: by how many of them a chunk is larger than others, no formula says. Of
/// 33 bytes the first draft was 31% behind, and the last a quarter ahead.
constexpr std::int64_t kFewBytes = 128;
/// More transfers than this are simulated once only, to write them down.
constexpr std::uint64_t kMostSimulated = 1'200'000;
/// More NPUs than this are packed once, into fewer trees.
constexpr std::uint32_t kLargeNetwork = 1024;
/// Never more transfers than this, unless the caller says how many chunks.
constexpr std::uint64_t kMostTransfers = 160'000'000;
/// More chunks must make the collective faster by this part.
constexpr std::int64_t kWorthwhile = 128;
constexpr std::int64_t kWorthwhileIfLarge = 40;

/// Numbers of chunks to look at: two to the octave.
std::uint32_t grid(std::uint32_t index) {
  const std::uint32_t whole = 1U << index / 2;
  return index % 2 == 0 ? whole : whole + whole / 2 - (whole >= 16 ? whole / 12 : 0);
}

bool each_has_its_own_root(const Packing& packing) {
  std::vector<std::uint32_t> roots = packing.roots;
  std::sort(roots.begin(), roots.end());
  return std::adjacent_find(roots.begin(), roots.end()) == roots.end();
}

/// When time runs backwards, what ended last comes first.
LegTable mirrored(const Legs& legs, const LegTable& ends, std::uint32_t num_chunks) {
  LegTable urgency(legs, num_chunks);
  for (std::uint32_t leg = 0; leg < legs.num_legs(); ++leg) {
    const std::uint32_t rounds = rounds_of(legs.tree(leg), legs.num_trees(), num_chunks);
    for (std::uint32_t round = 0; round < rounds; ++round) {
      urgency.at(leg, rounds - 1 - round) = -ends.at(leg, round);
    }
  }
  return urgency;
}

}  // namespace

Search::Search(const PipelineTask& task, Packer& packer, const EngineOptions& options)
    : topology_(task.topology),
      fabric_(task.fabric),
      job_(task.job),
      size_(task.size),
      model_(task.model),
      effort_(options.effort),
      beat_(task.size.count > kFewBytes ? options.beat : std::nullopt),
      suffices_(options.suffices.ps),
      packer_(packer),
      budget_(at_effort(kSearchBudget / (task.fabric.direct() ? 1 : 3), effort_)) {}

Bytes Search::chunk_bytes(std::uint32_t chunks) const {
  return ChunkTable(size_, chunks).max_bytes();
}

HopCosts Search::costs(std::uint32_t chunks) const {
  return {topology_, fabric_, chunk_bytes(chunks), model_};
}

bool Search::is_large(std::uint32_t chunks) const {
  return transfers(chunks) > kMostSimulated;
}

/// Whether a chunk could take longer than kMaxCrossing down a tree, which may be as deep as there
/// are NPUs.
bool Search::may_be_too_deep(const HopCosts& costs) const {
  const auto arrivals = costs.arrivals();
  return *std::max_element(arrivals.begin(), arrivals.end()) >
         kMaxCrossing.ps / fabric_.num_nodes();
}

/// Numbers of trees worth trying, best first by what the bound promises.
std::vector<std::uint32_t> Search::tree_counts(const PeriodBound& bound,
                                               std::uint32_t chunks) const {
  constexpr std::uint32_t kMostTrees = 128;
  constexpr std::uint32_t kMostTreesLarge = 32;
  const std::uint32_t unit = job_.unit();
  const std::uint32_t roots = std::min(packer_.centre().central, 64U);
  const std::uint32_t least = job_.everyones_own ? unit : std::max(24U, roots);
  const std::uint32_t limit = job_.everyones_own ? std::max(unit, kMostTrees)
                              : fabric_.num_nodes() > kLargeNetwork
                                  ? kMostTreesLarge
                                  : std::clamp(2 * roots, 48U, kMostTrees);
  const std::uint32_t most = std::min(chunks, limit);
  std::vector<std::pair<Int128, std::uint32_t>> promises;
  for (std::uint32_t trees = std::min(least, most); trees <= most; trees += unit) {
    // Where the number of chunks is given, owners share theirs evenly among their trees.
    if (fixed_ && job_.everyones_own && chunks % trees != 0) {
      continue;
    }
    const std::int64_t period = bound(trees);
    // Rounds are whole when the number of chunks is not ours to choose. A longer period makes the
    // first and the last round longer, whence the quarter.
    const Int128 rounds = fixed_ ? Int128{(chunks + trees - 1) / trees} * trees : Int128{chunks};
    promises.emplace_back(period * rounds * 64 / trees + Int128{period} * 16, trees);
  }
  std::sort(promises.begin(), promises.end());
  std::vector<std::uint32_t> counts;
  counts.reserve(promises.size());
  for (const auto& [promise, trees] : promises) {
    counts.push_back(trees);
  }
  return counts;
}

/// What `chunks` chunks would take over a packing, in sixty-fourths of a picosecond.
Int128 Search::promise(const Packing& packing, std::uint32_t chunks) const {
  const std::uint32_t trees = packing.num_trees();
  const Int128 rounds = fixed_ ? Int128{(chunks + trees - 1) / trees} * trees : Int128{chunks};
  return packing.period * rounds * 64 / trees + (Int128{packing.depth} * 4 + packing.period) * 16;
}

Packing Search::pack_with(std::uint32_t trees,
                          const HopCosts& costs,
                          const PeriodBound& bound,
                          std::uint32_t chunks,
                          Top top) {
  return packer_.pack(trees, costs, bound, (chunks + trees - 1) / trees, top);
}

Packing Search::pack(const HopCosts& costs, std::uint32_t chunks, Top top) {
  Packing& kept = kept_[top == Top::kRoot ? 0 : 1];
  const PeriodBound bound(topology_, job_, costs);
  if (!kept.roots.empty() && kept.num_trees() <= chunks && !fixed_) {
    // The same trees serve any chunk size where all hops are alike; where packing takes long,
    // they must do.
    const bool alike =
        bound.uniform() || kept_arborescences_ || fabric_.num_nodes() > kLargeNetwork;
    return alike ? kept : pack_with(kept.num_trees(), costs, bound, chunks, top);
  }
  Packing best;
  std::int64_t effort = 100'000;
  for (const std::uint32_t trees : tree_counts(bound, chunks)) {
    Packing packing = pack_with(trees, costs, bound, chunks, top);
    const bool perfect = packing.period == bound(trees);
    if (best.roots.empty() || promise(packing, chunks) < promise(best, chunks)) {
      best = std::move(packing);
    }
    effort -= std::int64_t{trees} * fabric_.num_nodes() * (packer_.grows() ? 8 : 1);
    if (perfect || effort < 0) {
      break;
    }
  }
  if (auto exact = fixed_ ? std::nullopt : pack_arborescences(fabric_, costs, job_);
      exact && promise(*exact, chunks) < promise(best, chunks)) {
    kept_arborescences_ = true;
    best = *std::move(exact);
  }
  if (kept.roots.empty()) {
    kept = best;
  }
  return best;
}

/// Who takes longer at first is too far behind, and need not be followed to the end.
std::int64_t Search::worth_justifying(std::int64_t goal) const {
  const auto before = [](std::int64_t time, std::int64_t part) { return time + time / (part - 1); };
  std::int64_t limit = goal < kGivenUp ? before(goal, kMostJustified) : kMaxTime.ps;
  if (beat_ && !fabric_.direct() && fabric_.num_nodes() > kFewestNodes) {
    const std::int64_t part = fabric_.num_nodes() > kFewNodes ? kMostBehind : kMostJustified;
    limit = std::min(limit, before(beat_->ps, part));
  }
  return std::min(limit, kMaxTime.ps);
}

/// Many transfers are written down as they are simulated, not simulated once more for that.
std::int64_t Search::simulate(const LegProblem& problem,
                              const Urgency& urgency,
                              LegTable* ends,
                              std::int64_t limit,
                              std::optional<Schedule>& written) const {
  if (!many(problem.num_chunks)) {
    return schedule_legs(problem, urgency, {.ends = ends, .record = nullptr}, limit);
  }
  Listing listing{.ends = ends, .limit = limit};
  written = list_legs({topology_, fabric_, job_, size_, model_}, problem, urgency, listing);
  return listing.time;
}

bool Search::many(std::uint32_t chunks) const {
  return transfers(chunks) > (fabric_.direct() ? kMostTwice : kMostTwiceThroughSwitches);
}

void Search::improve_by_lists(const HopCosts& costs, std::int64_t goal, Draft& draft) const {
  const Legs legs(fabric_, draft.packing, draft.shape.top, false);
  const Legs backwards(fabric_, draft.packing, draft.shape.top, true);
  const TransferSharing together = sharing_of(fabric_, costs, draft.shape.sharing);
  const LegProblem forward{fabric_, legs, costs, together, draft.chunks, job_.unit()};
  const LegProblem reverse{fabric_, backwards, costs, together, draft.chunks, job_.unit()};
  // Forward and backward in turn: each pass pulls its transfers to one side, and what it leaves
  // open at the other side is used by the next (double justification, Valls et al. 2005).
  LegTable ends(legs, draft.chunks);
  const bool are_many = many(draft.chunks);
  const bool once = are_many && (fabric_.direct() ? fabric_.num_nodes() > kSmallNetwork
                                                  : job_.flow == Flow::kUpAndDown);
  if (once) {
    const std::int64_t weight =
        each_has_its_own_root(draft.packing) && fabric_.direct() && job_.flow == Flow::kUpAndDown
            ? kTailWeightIfSpread
            : kTailWeight;
    (void)schedule_legs(reverse,
                        by_formula(backwards, costs, draft.packing, weight),
                        {.ends = &ends, .record = nullptr});
    const LegTable table = mirrored(backwards, ends, draft.chunks);
    Listing listing;
    draft.written = list_legs({topology_, fabric_, job_, size_, model_},
                              forward,
                              {.base = {}, .step = 0, .table = &table},
                              listing);
    draft.time = listing.time;
    return;
  }
  const std::int64_t limit = worth_justifying(goal);
  draft.time =
      simulate(forward, by_formula(legs, costs, draft.packing), &ends, limit, draft.written);
  if (draft.time > limit) {
    draft.time = kGivenUp;
    draft.written.reset();
    return;
  }
  const bool best_forwards = job_.root != kNone && fabric_.switched() && effort_ <= kDefaultEffort;
  if (are_many && (best_forwards || draft.time <= suffices_)) {
    return;
  }
  LegTable table = mirrored(legs, ends, draft.chunks);
  (void)schedule_legs(
      reverse, {.base = {}, .step = 0, .table = &table}, {.ends = &ends, .record = nullptr});
  table = mirrored(backwards, ends, draft.chunks);
  const std::int64_t most = std::min(draft.time, goal);
  std::optional<Schedule> written;
  const std::int64_t time =
      simulate(forward, {.base = {}, .step = 0, .table = &table}, nullptr, most, written);
  if (time <= most && time < draft.time) {
    draft.time = time;
    draft.urgency = std::move(table);
    draft.written = std::move(written);
  }
}

/// Whether the bytes alone take too long on some link. Other numbers of trees may share links more
/// evenly than another engine has to be beaten by, which on small networks is tried out.
bool Search::is_hopeless(const Draft& draft, std::int64_t goal) const {
  constexpr std::int64_t kMoreEvenly = 16;
  const bool told = beat_ && fabric_.num_nodes() > kFewNodes;
  const Int128 most = told ? std::min(goal, beat_->ps + beat_->ps / kMoreEvenly) : goal;
  std::vector<std::int64_t> load(fabric_.num_links(), 0);
  for (const std::vector<std::uint32_t>* hops : {&draft.packing.up, &draft.packing.down}) {
    for (const std::uint32_t hop : *hops) {
      for (const LinkId link : hop == kNone ? std::span<const LinkId>() : fabric_.links(hop)) {
        ++load[link.index()];
      }
    }
  }
  const Int128 rounds = draft.chunks / draft.packing.num_trees();
  // Some chunks are a byte smaller.
  const Bytes least{std::max<std::int64_t>(0, chunk_bytes(draft.chunks).count - 1)};
  for (std::uint32_t link = 0; link < fabric_.num_links(); ++link) {
    const Ticks each = serialization_time(least, topology_.link(LinkId(link)).bandwidth);
    if (load[link] > 0 && rounds * load[link] * each.ps >= most) {
      return true;
    }
  }
  return false;
}

Draft Search::evaluate(std::uint32_t chunks, Shape shape, std::int64_t goal) {
  const HopCosts at_first = costs(chunks);
  Draft draft;
  draft.shape = shape;
  if (may_be_too_deep(at_first)) {
    draft.chunks = chunks;
    return draft;
  }
  draft.packing = pack(at_first, chunks, shape.top);
  const std::uint32_t trees = draft.packing.num_trees();
  draft.chunks = fixed_ ? chunks : std::max(1U, (chunks + trees / 2) / trees) * trees;
  if (draft.chunks > most_chunks()) {
    // Where everybody has chunks of their own, each must have as many on each of their trees.
    draft.chunks =
        job_.everyones_own ? static_cast<std::uint32_t>(most_chunks() / trees) * trees : chunks;
  }
  const HopCosts exact = costs(draft.chunks);
  draft.packing.period = period_of(fabric_, draft.packing, exact);
  const std::int64_t rounds = (draft.chunks + trees - 1) / trees;
  if (is_hopeless(draft, goal)) {
    draft.time = kGivenUp;
  } else if (is_large(draft.chunks)) {
    // Too many to simulate more than once, which is when they are recorded.
    draft.time = rounds * draft.packing.period + draft.packing.depth;
  } else {
    improve_by_lists(exact, goal, draft);
    budget_ -= 3 * static_cast<std::int64_t>(transfers(draft.chunks));
  }
  return draft;
}

/// So many chunks stand for many.
std::uint32_t Search::reference_chunks() const {
  const std::uint32_t unit = job_.unit();
  return std::max(
      unit, static_cast<std::uint32_t>(std::min<std::int64_t>(512, most_chunks())) / unit * unit);
}

/// By the packing for many chunks: rounds of a period each, then the depth once, both for chunks of
/// that size.
std::uint32_t Search::guess_chunks(const Packing& packing) const {
  const auto most =
      static_cast<std::uint32_t>(std::min<std::int64_t>(most_chunks(), std::int64_t{1} << 20U));
  const std::uint32_t unit = job_.unit();
  std::uint32_t best = unit;
  Int128 best_time = -1;
  for (std::uint32_t i = 0; i < 40; ++i) {
    const std::uint32_t chunks = grid(i) * unit;
    // Where there is little time, what could not be simulated is not worth a thought.
    const bool too_many =
        effort_ < kDefaultEffort ? !affordable(chunks) : transfers(chunks) > kMostTransfers;
    if (chunks > most || (i > 0 && too_many)) {
      break;
    }
    const HopCosts at = costs(chunks);
    const Int128 time = Int128{period_of(fabric_, packing, at)} * chunks / packing.num_trees() +
                        depth_of(fabric_, packing, at);
    const Int128 margin = time / (is_large(chunks) ? kWorthwhileIfLarge : kWorthwhile);
    if (best_time < 0 || time + margin < best_time) {
      best_time = time;
      best = chunks;
    }
  }
  return best;
}

bool Search::affordable(std::uint32_t chunks) const {
  return chunks <= most_chunks() && 3 * static_cast<std::int64_t>(transfers(chunks)) <= budget_;
}

/// Keeps the draft if it is better.
bool Search::try_draft(std::uint32_t chunks, Shape shape, Draft& best) {
  Draft draft = evaluate(chunks, shape, best.chunks != 0 ? best.time : kMaxTime.ps);
  // Under `hold` latency limits the number of chunks; else they must be worth their memory.
  const bool more = draft.chunks > best.chunks && model_ == LinkModel::kPipelined && !fixed_;
  const std::int64_t margin = more ? draft.time / (2 * kWorthwhile) : 0;
  if (best.chunks != 0 && draft.time + margin >= best.time) {
    return false;
  }
  best = std::move(draft);
  return true;
}

/// Goes from one number of chunks to the next for as long as that helps.
void Search::climb(std::uint32_t from, Shape shape, Draft& best) {
  const auto chunks = [&](std::uint32_t index) { return grid(index) * job_.unit(); };
  std::uint32_t index = 0;
  while (chunks(index + 1) <= from) {
    ++index;
  }
  if (best.chunks == 0 || affordable(chunks(index))) {
    (void)try_draft(chunks(index), shape, best);
  }
  if (best.time == kGivenUp && !fabric_.direct() && fabric_.num_nodes() > kFewNodes &&
      !sharing_pays(topology_, model_)) {
    // Without latencies to weigh against others do no better.
    return;
  }
  // As long as all are given up, none is known to be better than the next.
  for (std::uint32_t at = index; at > 0 && affordable(chunks(at - 1)); --at) {
    if (!try_draft(chunks(at - 1), shape, best) && best.time != kGivenUp) {
      break;
    }
  }
  for (std::uint32_t at = index; affordable(chunks(at + 1)); ++at) {
    if (!try_draft(chunks(at + 1), shape, best)) {
      break;
    }
  }
}

/// Through switches packing takes long. Where no latency is to be weighed against bytes, the first
/// trees, sent off in turn, tell enough of those that are far behind another engine.
bool Search::is_far_behind(const HopCosts& some) {
  constexpr std::uint64_t kMostScouted = 150'000;
  // Sent off in turn, those of switch-2d are 25% behind at 256 KiB, and win by 8%.
  constexpr std::int64_t kFar = 3;
  if (!beat_ || fabric_.direct() || fabric_.num_nodes() <= kFewNodes || fixed_ ||
      sharing_pays(topology_, model_)) {
    return false;
  }
  const std::uint32_t reference = reference_chunks();
  const PeriodBound bound(topology_, job_, some);
  const Packing packing =
      pack_with(tree_counts(bound, reference).front(), some, bound, reference, Top::kRoot);
  const std::uint32_t chunks = guess_chunks(packing);
  if (transfers(chunks) > kMostScouted) {
    return false;
  }
  const HopCosts exact = costs(chunks);
  const Legs legs(fabric_, packing, Top::kRoot, false);
  const TransferSharing alone = sharing_of(fabric_, exact, 1);
  const std::int64_t limit = std::min(beat_->ps + beat_->ps / kFar, kMaxTime.ps);
  return schedule_legs({fabric_, legs, exact, alone, chunks, job_.unit()},
                       by_formula(legs, exact, packing),
                       {},
                       limit) > limit;
}

Draft Search::best() {
  Draft best;
  const std::uint32_t reference = reference_chunks();
  const HopCosts some = costs(reference);
  if (may_be_too_deep(some)) {
    climb(reference, {}, best);
  } else if (is_far_behind(some)) {
    best.time = kGivenUp;
    return best;
  } else {
    climb(guess_chunks(pack(some, reference, Top::kRoot)), {}, best);
  }
  if (is_large(best.chunks) || best.time == kGivenUp) {
    return best;
  }
  for (const Shape shape : shapes(best)) {
    if (best.time <= suffices_) {
      return best;
    }
    // Smaller chunks where they share transfers.
    const bool smaller = shape.sharing != 1 && best.shape.sharing == 1;
    climb(smaller ? 2 * best.chunks : best.chunks, shape, best);
  }
  if (may_pay_to_refine(best)) {
    refine(best);
  }
  return best;
}

Draft Search::best_with(std::uint32_t chunks) {
  fixed_ = true;
  Draft best = evaluate(chunks, {}, kMaxTime.ps);
  if (!is_large(chunks) && best.time != kGivenUp) {
    for (const Shape shape : shapes(best)) {
      (void)try_draft(chunks, shape, best);
    }
  }
  return best;
}

}  // namespace tacos::trees
