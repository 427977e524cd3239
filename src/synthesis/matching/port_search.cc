// SPDX-License-Identifier: MIT
// A recipe is a number of chunks and a variant: how rarity is counted, whether duplicates are
// excused, what makes a link slow, how many chunks share a transfer. No variant is best everywhere
// (ADR 6, ADR 88), and to try all of them with as many chunks as pay takes minutes. But which
// variants are good shows with few chunks, and recipes cost in proportion to their chunks. So:
//
//   1. The variants that mostly win race with 1, 2, 4, ... chunks, while that is cheap and helps.
//   2. The other variants with as many chunks as were best.
//   3. The best two of them race with more chunks, until doubling them gains too little; when it
//      becomes expensive, the best alone.
//   4. Chunks that share transfers, with as many chunks or more; if that helps, it races on.
//   5. The best recipe and its neighbours, all the more of them the cheaper they are.
//
// Every stage has its budget in deliveries. When another engine has reached a time that the trend
// of the first two stages does not promise, the search ends there; and whenever a bound is reached,
// or the matcher of direct links is ahead with as many chunks.
#include "synthesis/matching/port_search.h"

#include <algorithm>
#include <vector>

#include "synthesis/common/work.h"

namespace tacos::matching {
namespace {

// Deliveries up to which a recipe is tried, at the default effort: one takes about 1 us.
constexpr std::int64_t kTinyWork = std::int64_t{1} << 13U;
constexpr std::int64_t kCheapWork = std::int64_t{1} << 14U;
constexpr std::int64_t kFineWork = std::int64_t{1} << 15U;
constexpr std::int64_t kShareWork = std::int64_t{1} << 16U;
constexpr std::int64_t kMostWork = std::int64_t{1} << 18U;
/// Twice as many chunks must gain this part of the time: about as much is still to come then. In
/// one phase without a root, where others come close, half of it.
constexpr std::int64_t kWorthwhile = 256;
/// Who is slower by this part than the best with as many chunks is out of the race. From one root
/// whether to excuse duplicates is decided late: on 8x8 switches those who do are 3% behind with
/// 256 chunks and 14% ahead with 1024.
constexpr std::int64_t kNear = 32;
constexpr std::int64_t kNearFromRoot = 10;
constexpr std::int64_t kFar = 2;
/// Who is behind the matcher of direct links by this part stays behind, with 512 chunks from one
/// root: 1.2% and more never won, 0.6% and less mostly did (26 cases on a mesh of unequal links).
constexpr std::int64_t kNearDirect = 100;
/// What variants and shared transfers were ever seen to gain where there is no root.
constexpr std::int64_t kVariantsGain = 16;

class PortSearch {
 public:
  PortSearch(const Shape& shape, const Goal& goal, Trials& trials)
      : shape_(shape), goal_(goal), trials_(trials) {}

  Status run() {
    if (shape_.fixed) {
      return attempt(with_fixed_chunks());
    }
    if (Status tried = race(first(), {work(kCheapWork), 2, kAnyGain, kFar});
        !tried || is_enough()) {
      return tried;
    }
    std::vector<Recipe> variants = variants_of(best_->recipe);
    if (shape_.rooted && !shape_.small_message) {
      variants.push_back(in_step(1));
    }
    if (Status tried = attempt(variants); !tried || is_enough() || is_hopeless(kVariantsGain)) {
      return tried;
    }
    if (Status tried = race(rivals_of(variants), until_it_stops()); !tried || is_enough()) {
      return tried;
    }
    if (shape_.sharing_pays) {
      const Recipe alone = best_->recipe;
      if (Status tried = attempt(shares(), work(kShareWork)); !tried || is_enough()) {
        return tried;
      }
      if (best_->recipe != alone) {
        if (Status tried = race({doubled(best_->recipe)}, until_it_stops());
            !tried || is_enough()) {
          return tried;
        }
      }
    }
    if (Status tried = attempt(neighbours(), work(kFineWork)); !tried || is_enough()) {
      return tried;
    }
    return shape_.sharing_pays ? attempt(all_around(), work(kTinyWork)) : ok();
  }

 private:
  static constexpr std::int64_t kAnyGain = std::int64_t{1} << 40U;
  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  struct Best {
    Recipe recipe;
    Ticks time;
  };
  /// Doublings go on up to so much work, until so many in a row have not gained the part.
  struct Rules {
    std::uint64_t work;
    int patience;
    std::int64_t gain;
    std::int64_t near;
  };
  [[nodiscard]] Rules until_it_stops() const {
    const bool quick = shape_.phases == 1 && !shape_.rooted;
    return {work(kMostWork), 1, quick ? 2 * kWorthwhile : kWorthwhile, near()};
  }
  [[nodiscard]] std::int64_t near() const { return shape_.rooted ? kNearFromRoot : kNear; }

  /// From one root nothing should cross slow links twice, or little should; of small messages such
  /// care costs more than it saves.
  [[nodiscard]] std::vector<Recipe> first() const {
    Recipe recipe{.share = 1};
    if (shape_.small_message) {
      return {recipe};
    }
    recipe.pace = shape_.paces_differ ? Pace::kBusy : Pace::kArrival;
    std::vector<Recipe> recipes{recipe};
    if (shape_.rooted) {
      recipe.rarity = Rarity::kNeighbourhoods;
      recipe.duplicates = Duplicates::kAvoidAll;
      recipes.push_back(recipe);
    }
    return recipes;
  }

  /// A budget at the effort that was asked for.
  [[nodiscard]] std::uint64_t work(std::int64_t budget) const {
    return static_cast<std::uint64_t>(at_effort(budget, shape_.effort));
  }
  [[nodiscard]] std::uint64_t work_of(const Recipe& recipe) const {
    return shape_.per_chunk * static_cast<std::uint64_t>(recipe.chunks);
  }
  [[nodiscard]] bool affordable(const Recipe& recipe, std::uint64_t work) const {
    return recipe.chunks == 1 || (recipe.chunks <= 2 * shape_.most_chunks &&
                                  recipe.chunks <= shape_.part_bytes && work_of(recipe) <= work);
  }
  static Recipe doubled(Recipe recipe) {
    recipe.chunks *= 2;
    return recipe;
  }

  /// Transfers as long on fast links as on slow ones keep step, whatever the link model, with so
  /// many times the chunks that were best.
  [[nodiscard]] Recipe in_step(std::int64_t times) const {
    return {.chunks = times * best_->recipe.chunks,
            .share = 4,
            .sharing = Sharing::kFastLinks,
            .pace = best_->recipe.pace};
  }

  Status race(std::vector<Recipe> recipes, const Rules& rules) {
    int disappointments = 0;
    while (!recipes.empty() && !is_enough() && affordable(recipes.front(), rules.work)) {
      const std::uint64_t spent = work_of(recipes.front());
      if (spent > work(shape_.rooted ? kShareWork : kFineWork)) {
        recipes.resize(1);
      }
      const std::optional<Best> before = best_;
      if (Status tried = attempt(recipes); !tried) {
        return tried;
      }
      recipes = nearest_of(std::move(recipes), rules.near);
      const bool helped =
          !before || best_->time.ps < before->time.ps - before->time.ps / rules.gain;
      if (helped && before) {
        before_ = before->time;
      }
      disappointments = helped ? 0 : disappointments + 1;
      if (disappointments >= (spent <= work(kShareWork) ? 2 : rules.patience) ||
          (spent > work(kFineWork) && is_hopeless(0))) {
        break;
      }
      behind_direct_ = spent >= work(kFineWork) && are_behind_direct(recipes);
      if (4 * spent > work(kMostWork) && before && promises_little(*before, rules.gain)) {
        break;
      }
      std::transform(recipes.begin(), recipes.end(), recipes.begin(), doubled);
    }
    return ok();
  }

  /// Whether twice the chunks would gain less than is asked for, when they gain half as much as the
  /// doubling before. Only asked where they take as long as all before them.
  [[nodiscard]] bool promises_little(const Best& before, std::int64_t gain) const {
    return (before.time.ps - best_->time.ps) / 2 < best_->time.ps / gain;
  }

  /// Whether all of them are behind what the matcher of direct links made of as many chunks, by
  /// more than more of them were seen to make up for.
  [[nodiscard]] bool are_behind_direct(std::span<const Recipe> recipes) const {
    const auto is_behind = [&](const Recipe& recipe) {
      const std::optional<Ticks> direct = trials_.time_of({.chunks = recipe.chunks});
      return direct && trials_.time_of(recipe)->ps > direct->ps + direct->ps / kNearDirect;
    };
    return !recipes.empty() && std::all_of(recipes.begin(), recipes.end(), is_behind);
  }

  /// The fastest of the recipes, and those that are slower by less than the part, in this order.
  [[nodiscard]] std::vector<Recipe> nearest_of(std::vector<Recipe> recipes,
                                               std::int64_t part) const {
    std::erase_if(recipes, [&](const Recipe& recipe) { return !trials_.time_of(recipe); });
    std::stable_sort(recipes.begin(), recipes.end(), [&](const Recipe& a, const Recipe& b) {
      return trials_.time_of(a) < trials_.time_of(b);
    });
    std::erase_if(recipes,
                  [&, first = recipes.empty() ? Recipe{} : recipes.front()](const Recipe& recipe) {
                    const std::int64_t fastest = trials_.time_of(first)->ps;
                    return trials_.time_of(recipe)->ps > fastest + fastest / part;
                  });
    return recipes;
  }
  /// The best of the variants, and the next, or from one root the next that treats duplicates
  /// otherwise.
  [[nodiscard]] std::vector<Recipe> rivals_of(std::vector<Recipe> recipes) const {
    recipes = nearest_of(std::move(recipes), near());
    const Duplicates duplicates = recipes.front().duplicates;
    if (shape_.rooted) {
      recipes.erase(
          std::remove_if(recipes.begin() + 1,
                         recipes.end(),
                         [&](const Recipe& recipe) { return recipe.duplicates == duplicates; }),
          recipes.end());
    }
    recipes.resize(std::min<std::size_t>(2, recipes.size()));
    std::transform(recipes.begin(), recipes.end(), recipes.begin(), doubled);
    return recipes;
  }

  Status attempt(std::vector<Recipe> recipes, std::uint64_t work = kNoLimit) {
    std::erase_if(recipes, [&](const Recipe& recipe) {
      return work != kNoLimit && !affordable(recipe, work);
    });
    Status tried = trials_.attempt(recipes, best_ ? std::optional(best_->time) : std::nullopt);
    for (const Recipe& recipe : recipes) {
      const std::optional<Ticks> time = trials_.time_of(recipe);
      for (std::optional<Best>* best : {&best_, &best_alone_}) {
        if (time && (!*best || *time < (*best)->time) && (best == &best_ || recipe.share == 1)) {
          *best = Best{recipe, *time};
        }
      }
    }
    return tried;
  }

  /// Flips whatever makes a difference.
  [[nodiscard]] std::vector<Recipe> variants_of(Recipe recipe) const {
    std::vector<Pace> paces{recipe.pace};
    if (shape_.paces_differ && !trials_.maker().paces_agree(recipe)) {
      paces.push_back(recipe.pace == Pace::kArrival ? Pace::kBusy : Pace::kArrival);
    }
    std::vector<Recipe> variants;
    for (const Pace pace : paces) {
      recipe.pace = pace;
      if (trials_.maker().is_flat(recipe)) {
        // Without neighbourhoods the rest is all the same.
        variants.push_back(recipe);
        continue;
      }
      for (const Rarity rarity : {Rarity::kNpus, Rarity::kNeighbourhoods}) {
        for (const Duplicates duplicates : {Duplicates::kAvoid, Duplicates::kAvoidAll}) {
          variants.push_back(recipe);
          variants.back().rarity = rarity;
          variants.back().duplicates = duplicates;
        }
      }
    }
    return variants;
  }

  [[nodiscard]] std::vector<Recipe> shares_of(const Recipe& recipe) const {
    struct Share {
      std::int64_t times;
      std::uint32_t share;
      Sharing sharing;
    };
    constexpr auto kAll = Sharing::kAllLinks;
    constexpr auto kFast = Sharing::kFastLinks;
    const std::vector<Share> shares = shape_.small_message
                                          ? std::vector<Share>{{1, kShareAll, kAll},
                                                               {1, 4, kAll},
                                                               {2, 4, kAll},
                                                               {2, 2, kAll},
                                                               {4, 4, kAll}}
                                          : std::vector<Share>{{1, 4, kFast},
                                                               {2, 4, kFast},
                                                               {2, 16, kFast},
                                                               {4, 16, kFast},
                                                               {2, 2, kAll},
                                                               {4, 4, kAll},
                                                               {1, 2, kAll}};
    std::vector<Recipe> recipes;
    for (const Share& share : shares) {
      recipes.push_back(recipe);
      recipes.back().chunks *= share.times;
      recipes.back().share = share.share;
      recipes.back().sharing = share.sharing;
    }
    return recipes;
  }

  [[nodiscard]] std::vector<Recipe> shares() const {
    std::vector<Recipe> recipes = shares_of(best_->recipe);
    if (shape_.small_message) {
      for (const std::int64_t chunks : {1, 2, 4}) {
        recipes.push_back({.chunks = chunks, .share = kShareAll});
      }
      recipes.push_back({.chunks = 1, .share = 16});
    } else if (shape_.rooted) {
      recipes.push_back(in_step(2));
      recipes.push_back(in_step(4));
    }
    return recipes;
  }

  /// Whether a variant was behind the best with half as many chunks by more than twice as many ever
  /// made up for: 6%, of 205 that were behind, where chunks share no transfers (docs/adr/0115).
  [[nodiscard]] bool was_far_behind(Recipe recipe) const {
    Recipe best = best_->recipe;
    best.chunks /= 2;
    recipe.chunks /= 2;
    const std::optional<Ticks> fastest = trials_.time_of(best);
    if (!fastest || best.share != 1) {
      return false;
    }
    const std::optional<Ticks> time = trials_.time_of(recipe);
    return time ? time->ps > fastest->ps + fastest->ps / kNearFromRoot : trials_.gave_up(recipe);
  }

  [[nodiscard]] std::vector<Recipe> neighbours() const {
    std::vector<Recipe> recipes = variants_of(best_->recipe);
    std::erase_if(recipes, [&](const Recipe& recipe) { return was_far_behind(recipe); });
    recipes.push_back(doubled(best_->recipe));
    recipes.push_back(best_->recipe);
    recipes.back().chunks = std::max<std::int64_t>(1, best_->recipe.chunks / 2);
    return recipes;
  }

  /// Every way to share transfers with every variant.
  [[nodiscard]] std::vector<Recipe> all_around() const {
    std::vector<Recipe> recipes;
    for (const Recipe& variant : variants_of(best_alone_->recipe)) {
      const std::vector<Recipe> shared = shares_of(variant);
      recipes.push_back(variant);
      recipes.insert(recipes.end(), shared.begin(), shared.end());
    }
    return recipes;
  }

  /// Whether another engine is out of reach: what twice the chunks gained last is what more of them
  /// can still gain in all, when each doubling gains half as much as the one before; and beyond
  /// that a part of the time, if not 0. From one root, and of small messages where they gain most
  /// by sharing transfers, the trend says too little.
  [[nodiscard]] bool is_hopeless(std::int64_t part) const {
    if (!goal_.beat || !before_ || shape_.rooted || (shape_.small_message && shape_.sharing_pays)) {
      return false;
    }
    const std::int64_t least = 2 * best_->time.ps - std::max(*before_, best_->time).ps;
    return least - (part == 0 ? 0 : least / part) > goal_.beat->ps;
  }

  /// Whether hardly anything is left to gain, or was from the beginning.
  [[nodiscard]] bool is_enough() const {
    return best_ && (best_->time <= goal_.suffices || behind_direct_);
  }

  /// As many as are cheap.
  [[nodiscard]] std::vector<Recipe> with_fixed_chunks() const {
    std::vector<Recipe> recipes = first();
    std::for_each(
        recipes.begin(), recipes.end(), [&](Recipe& recipe) { recipe.chunks = *shape_.fixed; });
    const Recipe recipe = recipes.front();
    if (work_of(recipe) > work(kMostWork)) {
      recipes.resize(1);
    }
    if (work_of(recipe) > work(kFineWork)) {
      return recipes;
    }
    for (const Recipe& variant : variants_of(recipe)) {
      recipes.push_back(variant);
      for (Recipe shared : shape_.sharing_pays ? shares_of(variant) : std::vector<Recipe>()) {
        shared.chunks = recipe.chunks;
        recipes.push_back(shared);
      }
    }
    return recipes;
  }

  const Shape& shape_;
  const Goal& goal_;
  Trials& trials_;
  std::optional<Best> best_;
  /// Of those whose chunks share no transfers.
  std::optional<Best> best_alone_;
  /// What half as many chunks reached.
  std::optional<Ticks> before_;
  bool behind_direct_ = false;
};

}  // namespace

Status search_ports(const Shape& shape, const Goal& goal, Trials& trials) {
  return PortSearch(shape, goal, trials).run();
}

}  // namespace tacos::matching
