// SPDX-License-Identifier: MIT
// Under `hold` a message keeps the ports that it takes busy for their latency, however small it is.
// So whoever has something for everybody lets messages share: parts for different destinations
// travel together, past relays. Bruck's algorithm and exchanges along dimensions are two ways to do
// so; here it is searched for.
//
// All-Gather and All-to-All: participants are laid out as the elements of a group (layout.cc), and
// a routine says what all of them do, one move after the other (routine.h, search.cc): everybody
// sends to the one d further what it has for those beyond. All take their own ports for that, so a
// routine for one is a routine for all. Where NPUs differ, as where some only send to other boxes
// and some only receive, they have roles. Reduce-Scatter is an All-Gather on the reversed network,
// run backwards. Broadcast and Scatter, and backwards Reduce and Gather: a tree (rooted.cc).
// All-Reduce: rounds in which sums are exchanged, with the above around them (all_reduce.cc).
//
// Milliseconds whatever the size: searches are bounded by their work. Nothing is gained where
// messages cost links nothing but their bytes, and little where those rule: then every part goes
// its way in a message of its own, as it does in other engines.
//
// Known limits: participants alone relay. Every part is sent in one piece. Where links of one NPU
// have failed, so that others have hops that it has not, there may be no moves to everybody.
#include "synthesis/exchange/exchange.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "synthesis/common/deal.h"
#include "synthesis/exchange/all_reduce.h"
#include "synthesis/exchange/draft.h"

namespace tacos::exchange {
namespace {

/// With more the search takes long and finds little.
constexpr std::size_t kMostParticipants = 128;

/// Whether times stay far from the end of 64 bits.
bool is_short_enough(const Topology& topology, const Problem& problem) {
  const auto count = static_cast<std::int64_t>(problem.participants.size());
  const std::int64_t messages = count * count;
  if (problem.size.count > std::numeric_limits<std::int64_t>::max() / messages) {
    return false;
  }
  const auto links = topology.links();
  return std::all_of(links.begin(), links.end(), [&](const Link& link) {
    const Ticks bytes = serialization_time({problem.size.count * count}, link.bandwidth);
    return (bytes + link.latency + link.gap).ps < kLongest / messages;
  });
}

/// Of the collectives that are no All-Reduce.
std::optional<Candidate> exchanged(const Topology& topology,
                                   const Problem& problem,
                                   const EngineOptions& options,
                                   const Collective& collective,
                                   std::int64_t limit) {
  const CollectiveTraits& kind = traits(problem.kind);
  const bool turned = kind.reduces || problem.kind == CollectiveKind::kGather;
  const std::vector<NodeId>& all = problem.participants;
  std::vector<std::uint32_t> numbers(all.size());
  std::iota(numbers.begin(), numbers.end(), 0U);
  const std::int64_t chunks = collective.chunk_argument();
  DraftTask task{.content = kind.spreads() ? Content::kSame : Content::kPairs,
                 .part = {collective.chunks().max_bytes().count * chunks},
                 .parts = {.of = numbers, .chunks = chunks},
                 .link_model = options.link_model,
                 .seed = options.seed,
                 .limit = limit};
  const Setting setting(turned ? topology.reversed() : topology, all, task.part);
  if (turned && !setting.hops.are_even()) {
    task.limit = kLongest;  // it gets other times
  }
  const auto root = std::lower_bound(all.begin(), all.end(), problem.root.value_or(all.front()));
  std::optional<Draft> draft =
      kind.rooted() ? draft_tree(setting, static_cast<std::uint32_t>(root - all.begin()), task)
                    : draft_plan(setting, task);
  if (!draft) {
    return std::nullopt;
  }
  if (turned) {
    turn(setting.network, collective, kind.reduces ? Op::kReduce : Op::kCopy, {}, *draft);
  }
  std::optional<Schedule> schedule = schedule_of(
      topology, collective, options.link_model, *draft, turned ? Form::kTurned : Form::kForwards);
  if (!schedule) {
    return std::nullopt;
  }
  return Candidate{.collective = collective, .schedule = *std::move(schedule)};
}

}  // namespace

bool handles(const Topology& topology, const Problem& problem) {
  const std::size_t participants = problem.participants.size();
  if (participants > kMostParticipants || problem.kind == CollectiveKind::kCustom) {
    return false;
  }
  // Without switches other engines are as good, but where everybody has something for everybody on
  // a network that looks the same from everywhere.
  return topology.num_switches() > 0 ||
         (!is_rooted(problem.kind) && participants == topology.num_npus() &&
          is_translation_symmetric(topology));
}

Result<Candidate> synthesize(const Topology& topology,
                             const Problem& problem,
                             const EngineOptions& options) {
  const Result<Collective> collective = decided(problem, problem.chunks.value_or(1));
  if (!collective) {
    return collective.error();
  }
  if (!is_short_enough(topology, problem)) {
    return takes_too_long(topology.name());
  }
  const std::int64_t limit = options.beat ? std::min(options.beat->ps, kLongest) : kLongest;
  std::optional<Candidate> best = traits(problem.kind).has_two_phases()
                                      ? all_reduce(topology, problem, options, limit)
                                      : exchanged(topology, problem, options, *collective, limit);
  if (!best) {
    return input_error(
        "exchange finds no schedule on this network, or none that is faster than "
        "what there is; leave --engine out",
        topology.name());
  }
  return *std::move(best);
}

}  // namespace tacos::exchange
