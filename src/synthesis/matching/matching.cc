// SPDX-License-Identifier: MIT
// All-Gather and Broadcast by matching; Reduce-Scatter and Reduce as their twins against the links,
// run backwards; All-Reduce as one after the other, each chunk going on as soon as it is complete.
//
// Two matchers: on direct links the one that decides at arrival (gather.h), and wherever there are
// switches, fast and slow links, or messages so small that chunks should share transfers, the one
// that knows ports (port_matcher.h). Chunk counts and variants are searched, which pays more than
// seeds (port_search.cc). Small problems are tried both ways unless ports suffice, large ones only
// the way that scales.
#include "synthesis/matching/matching.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "synthesis/common/attempts.h"
#include "synthesis/common/work.h"
#include "synthesis/matching/direct/gather.h"
#include "synthesis/matching/port_search.h"
#include "synthesis/matching/trials.h"

namespace tacos::matching {
namespace {

class Search {
 public:
  Search(const Topology& topology, const Problem& problem, const EngineOptions& options)
      : topology_(topology),
        problem_(problem),
        options_(options),
        trials_(topology, problem, options) {
    const bool rooted = is_rooted(problem.kind);
    const std::int64_t parts = rooted ? 1 : static_cast<std::int64_t>(problem.participants.size());
    per_chunk_ = topology.num_npus() * static_cast<std::uint64_t>(parts);
    const Bytes part{std::max<std::int64_t>(1, problem.size.count / parts)};
    shape_.rooted = rooted;
    shape_.effort = options.effort;
    shape_.part_bytes = part.count;
    shape_.phases = all_reduce() ? 2 : 1;
    shape_.per_chunk = per_chunk_ * shape_.phases;
    shape_.most_chunks = rooted ? 1024 : 64;
    if (problem.chunks) {
      // For All-Reduce rounded up to a multiple of the participants, since each reduces its part.
      shape_.fixed = all_reduce() ? (*problem.chunks + parts - 1) / parts : *problem.chunks;
    }
    const auto [least, most] = std::minmax_element(
        topology.links().begin(), topology.links().end(), [](const Link& a, const Link& b) {
          return a.bandwidth < b.bandwidth;
        });
    const Ticks shortest = serialization_time(part, most->bandwidth);
    const auto any_link = [&](const auto& is) {
      return std::any_of(topology.links().begin(), topology.links().end(), is);
    };
    shape_.small_message = any_link(
        [&](const Link& link) { return std::max(link.latency, link.gap).ps > shortest.ps / 8; });
    shape_.sharing_pays = sharing_pays(topology, options.link_model);
    layered_ = topology.num_switches() > 0 || least->bandwidth != most->bandwidth;
    shape_.paces_differ = layered_ && any_link([&](const Link& link) {
                            return overhead(link, options.link_model) != link.latency;
                          });
  }

  Result<Candidate> run() {
    const bool direct =
        topology_.num_switches() == 0 && problem_.participants.size() == topology_.num_npus();
    const bool ports =
        !direct || ((layered_ || shape_.small_message) && per_chunk_ <= kPortWork / 2);
    // Without a root, where links are alike and a message costs them nothing but its bytes,
    // deciding at arrival gained nothing over ports, for three quarters of the time
    // (docs/adr/0115). On few NPUs it is quick.
    const bool ports_suffice = direct && ports && !layered_ && !shape_.rooted &&
                               !shape_.sharing_pays && !shape_.fixed &&
                               topology_.num_npus() > kFewNpus;
    if (direct && !ports_suffice) {
      if (Status searched = search_direct(); !searched) {
        return searched.error();
      }
    }
    if (ports && !is_enough_) {
      if (Status searched = search_ports(shape_, {options_.beat, options_.suffices}, trials_);
          !searched) {
        return searched.error();
      }
    }
    if (direct && !ports && shape_.small_message && per_chunk_ <= kShareWork) {
      // With everything in few transfers the port matcher reaches further.
      const std::int64_t chunks = shape_.fixed.value_or(1);
      const std::array<Recipe, 2> recipes{Recipe{.chunks = chunks, .share = kShareAll},
                                          Recipe{.chunks = chunks, .share = 32}};
      if (Status tried = trials_.attempt(recipes); !tried) {
        return tried.error();
      }
    }
    return trials_.take_best();
  }

 private:
  /// Beyond this many deliveries the port matcher is not tried beside the others.
  static constexpr std::uint64_t kPortWork = std::uint64_t{1} << 18U;
  static constexpr std::uint64_t kShareWork = std::uint64_t{1} << 21U;
  static constexpr std::uint32_t kFewNpus = 16;

  [[nodiscard]] bool all_reduce() const { return traits(problem_.kind).has_two_phases(); }

  /// Powers of two chunks, until it gets worse twice.
  Status search_direct() {
    const auto most_work = static_cast<std::uint64_t>(
        at_effort(kSmallGather / 2, std::min(options_.effort, kDefaultEffort)));
    std::optional<Ticks> best;
    int worse = 0;
    for (Recipe recipe{.chunks = shape_.fixed.value_or(1)}; worse < 2; recipe.chunks *= 2) {
      if (best && (shape_.fixed || recipe.chunks > shape_.most_chunks ||
                   recipe.chunks > shape_.part_bytes ||
                   per_chunk_ * static_cast<std::uint64_t>(recipe.chunks) > most_work)) {
        break;
      }
      if (Status tried = trials_.attempt({&recipe, 1}); !tried) {
        return tried;
      }
      const std::optional<Ticks> time = trials_.time_of(recipe);
      worse = !best || time < best ? 0 : worse + 1;
      best = best ? std::min(best, time) : time;
      if (best <= options_.suffices) {
        is_enough_ = true;
        break;
      }
    }
    return ok();
  }

  const Topology& topology_;
  const Problem& problem_;
  const EngineOptions& options_;
  Trials trials_;
  Shape shape_;
  /// Deliveries for each chunk of every part, in one phase.
  std::uint64_t per_chunk_ = 0;
  /// Whether what was found leaves hardly anything to gain.
  bool is_enough_ = false;
  /// Switches, or links of unequal speed.
  bool layered_ = false;
};

}  // namespace

bool handles(const Topology& /*topology*/, const Problem& problem) {
  return traits(problem.kind).spreads();
}

Result<Candidate> synthesize(const Topology& topology,
                             const Problem& problem,
                             const EngineOptions& options) {
  return Search(topology, problem, options).run();
}

}  // namespace tacos::matching
