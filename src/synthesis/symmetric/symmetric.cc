// SPDX-License-Identifier: MIT
// A product of rings, fully-connected and switch dimensions looks the same from every NPU: it is a
// Cayley graph of the group that adds coordinates modulo the lengths. So one NPU's broadcast, moved
// to every other NPU, is an All-Gather. Let the broadcast send at most one chunk at a time with
// each generator (one way round a ring, one shift of a fully-connected dimension, one port of a
// switch, for which all NPUs use the same shift at a time: a permutation). Then no link is used
// twice: the translates of one transfer all use different links of that generator [THEORY 4.2].
// Instead of N^2 deliveries N are planned, and the schedule is stored as they are: a pattern.
//
// Reduce-Scatter is the broadcast run backwards: all transfers of a generator take equal time, and
// with every generator its inverse is there at the same cost, so the mirror image keeps links
// apart exactly as the original does. All-Reduce is both, one after the other.
//
// O(chunks x NPUs x generators) for each broadcast that is tried (plan.cc), whatever the number of
// deliveries.
//
// Known limit: every chunk has a transfer of its own. For small messages on small networks the
// matching engine lets chunks share transfers, and `auto` takes the better.
#include "synthesis/symmetric/symmetric.h"

#include <utility>

#include <fmt/format.h>

#include "synthesis/symmetric/group_moves.h"
#include "synthesis/symmetric/plan.h"
#include "synthesis/symmetric/product_moves.h"
#include "synthesis/symmetric/regular_group.h"

namespace tacos {

namespace {

bool is_known(const Topology& topology, const Problem& problem) {
  const bool known = problem.kind == CollectiveKind::kAllGather ||
                     problem.kind == CollectiveKind::kReduceScatter ||
                     problem.kind == CollectiveKind::kAllReduce;
  return known && problem.participants.size() == topology.num_npus();
}

/// With moves of either kind.
template <class SomeMoves>
Result<Candidate> candidate(const SomeMoves& network,
                            const Topology& topology,
                            const Problem& problem,
                            LinkModel link_model) {
  const Result<Plan> plan = make_plan(network.moves(), problem, link_model);
  if (!plan) {
    return input_error(plan.error().message, topology.name());
  }
  Result<Collective> collective = collective_of(problem, plan->chunks_per_npu);
  if (!collective) {
    return collective.error();
  }
  return Candidate{*std::move(collective), network.schedule(*plan), 1};
}

}  // namespace

bool may_be_symmetric(const Topology& topology, const Problem& problem) {
  return is_known(topology, problem) &&
         (is_translation_symmetric(topology) || looks_alike_everywhere(topology));
}

Result<Candidate> synthesize_symmetric(const Topology& topology,
                                       const Problem& problem,
                                       const SynthesisOptions& options) {
  if (is_known(topology, problem) && is_translation_symmetric(topology)) {
    return candidate(ProductMoves(topology.dimensions()), topology, problem, options.link_model);
  }
  const std::vector<Permutation> group = may_be_symmetric(topology, problem)
                                             ? find_regular_group(topology)
                                             : std::vector<Permutation>{};
  if (group.empty()) {
    return input_error(
        fmt::format("engine symmetric does not make {} on this network: no symmetries were found "
                    "that take each NPU to each other one; leave --engine out",
                    to_string(problem.kind)),
        topology.name());
  }
  return candidate(GroupMoves(topology, group), topology, problem, options.link_model);
}

}  // namespace tacos
