// SPDX-License-Identifier: MIT
// On a network that looks the same from every NPU one NPU's broadcast, moved to every other NPU, is
// an All-Gather. Looking the same means that it is a Cayley graph: there is a group of symmetries
// with exactly one that takes NPU 0 to each NPU, its translation. Let the broadcast send at most
// one chunk at a time along each link of NPU 0 and all its translates. Then no link is used twice:
// the translates of one transfer all use different translates of a link. Through a
// switch, all NPUs send to the NPU equally far away at a time: a permutation. Instead of N^2
// deliveries N are planned (motif.cc), and the schedule is stored as they are.
//
// A product of rings, fully-connected and switch dimensions is known to be such a network: its
// group adds coordinates modulo the lengths (product_moves.cc), for a million NPUs and more. On
// others of moderate size a group is sought (regular_group.cc); what it then lets NPUs do is in
// group_moves.cc. A group that was found is not trusted any more than anything else: the schedule
// is verified like every other.
//
// O(chunks x NPUs x links of an NPU) for each broadcast that is tried, whatever the number of
// deliveries.
//
// Known limits: every chunk has a transfer of its own. For small messages on small networks the
// matching engine lets chunks share transfers, and `auto` takes the better. Routes go through one
// switch at most.
#include "synthesis/symmetric/symmetric.h"

#include <utility>

#include <fmt/format.h>

#include "synthesis/common/deal.h"
#include "synthesis/symmetric/group_moves.h"
#include "synthesis/symmetric/motif.h"
#include "synthesis/symmetric/product_moves.h"
#include "synthesis/symmetric/regular_group.h"

namespace tacos::symmetric {
namespace {

bool is_known(const Topology& topology, const Problem& problem) {
  const bool known = traits(problem.kind).spreads() && !traits(problem.kind).rooted();
  return known && problem.participants.size() == topology.num_npus();
}

/// With moves of either kind.
template <class SomeMoves>
Result<Candidate> candidate(const SomeMoves& network,
                            const Topology& topology,
                            const Problem& problem,
                            LinkModel link_model) {
  const Result<Motif> motif = make_motif(network.moves(), problem, link_model);
  if (!motif) {
    return input_error(motif.error().message, topology.name());
  }
  Result<Collective> collective = decided_by_phases(problem, motif->chunks_per_npu);
  if (!collective) {
    return collective.error();
  }
  return Candidate{*std::move(collective), network.schedule(*motif), 1};
}

}  // namespace

bool handles(const Topology& topology, const Problem& problem) {
  return is_known(topology, problem) &&
         (is_translation_symmetric(topology) || looks_alike_everywhere(topology));
}

Result<Candidate> synthesize(const Topology& topology,
                             const Problem& problem,
                             const EngineOptions& options) {
  if (is_known(topology, problem) && is_translation_symmetric(topology)) {
    return candidate(ProductMoves(topology.dimensions()), topology, problem, options.link_model);
  }
  const Error none = input_error(
      fmt::format(
          "engine symmetric does not make {} on this network: no symmetries were found that "
          "take each NPU to each other one; leave --engine out",
          to_string(problem.kind)),
      topology.name());
  if (!handles(topology, problem)) {
    return none;
  }
  const std::vector<Permutation> group = find_regular_group(topology);
  if (group.empty()) {
    return none;
  }
  const GroupMoves network(topology, group);
  // Links into a switch from which none leads back are no way.
  return reach_everybody(network.moves())
             ? candidate(network, topology, problem, options.link_model)
             : Result<Candidate>(none);
}

}  // namespace tacos::symmetric
