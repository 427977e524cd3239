// SPDX-License-Identifier: MIT
// The network as it is now, who is left, and a schedule for them: afresh, at the least effort.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "tacos/repair.h"
#include "tacos/synthesize.h"

#include "topology/restore.h"
#include "topology/unreachable.h"

namespace tacos {

struct Repairer::Index {
  Bundle bundle;
  /// Whether all NPUs that work take part.
  bool everybody = false;
};

namespace {

bool all_take_part(const Bundle& bundle) {
  const Topology& topology = bundle.topology;
  const auto participants = bundle.collective.participants();
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    const bool takes_part =
        std::binary_search(participants.begin(), participants.end(), NodeId(npu));
    if (!takes_part && !has_failed(topology, NodeId(npu))) {
      return false;
    }
  }
  return true;
}

/// The network after the change, and who takes part in it.
struct Situation {
  Topology topology;
  std::vector<NodeId> participants;
};

Status check_failed(const Collective& collective, std::span<const NodeId> failed) {
  const auto participants = collective.participants();
  for (const NodeId npu : failed) {
    const std::string where = fmt::format("npu:{}", npu.value());
    if (is_rooted(collective.kind()) && npu == collective.root()) {
      return input_error(fmt::format("the root of the {} has failed", collective.name()), where);
    }
    if (collective.kind() == CollectiveKind::kCustom &&
        std::binary_search(participants.begin(), participants.end(), npu)) {
      return input_error(fmt::format("has failed, and {} needs it", collective.name()), where);
    }
  }
  return ok();
}

Result<Situation> situation(const Bundle& bundle, bool everybody, const NetworkChange& change) {
  Result<RestoredTopology> restored = take_back(bundle.topology, change.restored);
  if (!restored) {
    return restored.error();
  }
  Result<DegradedTopology> left = apply_failures(std::move(restored->topology), change.failures);
  if (!left) {
    return left.error();
  }
  const Collective& collective = bundle.collective;
  if (Status possible = check_failed(collective, left->failed_npus); !possible) {
    return possible.error();
  }
  const auto before = collective.participants();
  std::vector<NodeId> joined(before.begin(), before.end());
  if (everybody && collective.kind() != CollectiveKind::kCustom) {
    joined.clear();
    std::set_union(before.begin(),
                   before.end(),
                   restored->restored_npus.begin(),
                   restored->restored_npus.end(),
                   std::back_inserter(joined));
  }
  Situation now{.topology = std::move(left->topology), .participants = {}};
  std::set_difference(joined.begin(),
                      joined.end(),
                      left->failed_npus.begin(),
                      left->failed_npus.end(),
                      std::back_inserter(now.participants));
  if (now.participants.empty()) {
    return input_error("nobody is left who takes part");
  }
  return now;
}

Problem problem_of(const Collective& collective, std::vector<NodeId> participants) {
  if (collective.kind() == CollectiveKind::kCustom) {
    return custom_problem(collective);
  }
  return {.kind = collective.kind(),
          .size = collective.size(),
          .participants = std::move(participants),
          .root = is_rooted(collective.kind()) ? std::optional(collective.root()) : std::nullopt};
}

Result<Repair> start_afresh(const Bundle& before, Situation now, const RepairOptions& options) {
  Result<Synthesis> made = synthesize(now.topology,
                                      problem_of(before.collective, std::move(now.participants)),
                                      {.link_model = before.link_model,
                                       .seed = before.seed,
                                       .effort = kLeastEffort,
                                       .threads = options.threads});
  if (!made) {
    return made.error();
  }
  if (made->status == SynthesisStatus::kInfeasible) {
    return unreachable_error(now.topology, *made->unreachable);
  }
  const std::uint64_t transfers = made->schedule->num_transfers();
  return Repair{.bundle = {.topology = std::move(now.topology),
                           .collective = *std::move(made->collective),
                           .link_model = before.link_model,
                           .schedule = *std::move(made->schedule),
                           .engine = std::move(made->engine),
                           .seed = before.seed},
                .kept_transfers = 0,
                .new_transfers = transfers};
}

}  // namespace

Result<Repairer> Repairer::make(Bundle bundle) {
  const bool everybody = all_take_part(bundle);
  return Repairer(
      std::make_shared<const Index>(Index{.bundle = std::move(bundle), .everybody = everybody}));
}

const Bundle& Repairer::bundle() const {
  return index_->bundle;
}

Result<Repair> Repairer::repair(const NetworkChange& change, const RepairOptions& options) const {
  Result<Situation> now = situation(index_->bundle, index_->everybody, change);
  if (!now) {
    return now.error();
  }
  return start_afresh(index_->bundle, *std::move(now), options);
}

}  // namespace tacos
