// SPDX-License-Identifier: MIT
// Which bounds apply to which collective, and the best of them.
#include "tacos/bound.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/memory/room.h"
#include "base/parallel/cancel.h"
#include "bound/all_to_all.h"
#include "bound/custom.h"
#include "bound/cuts/chunk_count.h"
#include "bound/cuts/cut.h"
#include "bound/cuts/timed_cut.h"
#include "bound/growth.h"
#include "bound/instance.h"
#include "bound/partitions/partition.h"

namespace tacos {
namespace {

/// Reducing collectives, and Scatter, are judged on the reversed network.
bool is_reversed(CollectiveKind kind) {
  const CollectiveTraits& one = traits(kind);
  return (one.reduces && !one.has_two_phases()) || (one.before == Holder::kRoot && !one.spreads());
}

Bound make_bound(std::string name, Certificate certificate, bool exact) {
  Bound bound;
  bound.time = certificate.time;
  bound.name = std::move(name);
  bound.exact = exact;
  bound.certificate = std::move(certificate);
  return bound;
}

void raise(Bound& bound, Bound other) {
  if (other.time > bound.time) {
    bound = std::move(other);
  }
}

/// The best cut for everything but All-Reduce and All-to-All; `cuts` collects the sets met.
Bound cut_bound(const Instance& instance,
                BoundEffort effort,
                std::vector<std::vector<NodeId>>& cuts) {
  cuts.push_back(best_cheap_cut(instance));
  Bound best = make_bound("cut", cut_certificate(instance, cuts.front()), false);
  if (effort == BoundEffort::kCheap) {
    return best;
  }
  ExactCut found;
  switch (instance.collective.kind()) {
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
      found = smallest_cut_from_root(instance);
      break;
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      found = worst_gather_cut_around_root(instance, cuts.front());
      break;
    default:
      found = worst_gather_cut(instance, cuts.front());
  }
  raise(best, make_bound("cut", cut_certificate(instance, found.receivers), false));
  best.exact = found.exact;
  cuts.push_back(std::move(found.receivers));
  return best;
}

/// All roots of an All-Reduce are looked at while their number times that of links is below this.
/// Each takes a few flows and searches: 10 ms in all.
constexpr std::size_t kRootedVisits = 20'000;

class Judge {
 public:
  Judge(const Topology& topology, const Collective& collective, const BoundOptions& options)
      : topology_(topology),
        collective_(collective),
        options_(options),
        symmetric_(collective.num_participants() == topology.num_npus() &&
                   is_translation_symmetric(topology)) {}

  BoundReport report() {
    BoundReport report;
    if (collective_.num_participants() == 1) {
      report.bandwidth = make_bound("latency", {}, true);
      report.best = report.bandwidth;
      return report;
    }
    if (!symmetric_) {
      report.unreachable = find_unreachable(topology_, collective_);
    }
    if (report.unreachable) {
      report.status = BoundStatus::kInfeasible;
      return report;
    }
    const CollectiveKind kind = collective_.kind();
    if (kind == CollectiveKind::kCustom) {
      return bound_custom(topology_, collective_);
    }
    if (kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllToAll) {
      judge_both_ways(report);
    } else {
      judge_one_way(report);
    }
    add_growth(report.best);
    return report;
  }

 private:
  void judge_one_way(BoundReport& report) const {
    const bool turn = is_reversed(collective_.kind());
    const Topology turned = turn ? topology_.reversed() : Topology();
    Instance instance = make_instance(turn ? turned : topology_,
                                      turn ? Orientation::kReversed : Orientation::kForward,
                                      collective_);
    instance.symmetric = symmetric_;
    std::vector<std::vector<NodeId>> cuts;
    report.bandwidth = cut_bound(instance, options_.effort, cuts);
    finish(instance, cuts, report);
  }

  void judge_both_ways(BoundReport& report) const {
    const Topology turned = topology_.reversed();
    Instance forward = make_instance(topology_, Orientation::kForward, collective_);
    Instance backward = make_instance(turned, Orientation::kReversed, collective_);
    forward.symmetric = symmetric_;
    backward.symmetric = symmetric_;
    std::vector<std::vector<NodeId>> cuts{best_cheap_cut(forward)};
    if (collective_.kind() == CollectiveKind::kAllToAll) {
      report.bandwidth =
          make_bound("flow", best_all_to_all(forward, cuts.front(), options_.effort), false);
      if (report.bandwidth.certificate.kind == CertificateKind::kCut) {
        report.bandwidth.name = "cut";
      }
      report.best = report.bandwidth;
      add_timed(forward, cuts, report.best);
      add_timed(backward, cuts, report.best);
      return;
    }
    report.bandwidth = make_bound("cut", cut_certificate(forward, cuts.front()), false);
    if (options_.effort == BoundEffort::kExact) {
      cuts.push_back(smallest_cut_from_root(forward).receivers);
      raise(report.bandwidth, make_bound("cut", cut_certificate(forward, cuts.back()), false));
      const std::vector<NodeId> into = smallest_cut_from_root(backward).receivers;
      raise(report.bandwidth, make_bound("cut", cut_certificate(backward, into), false));
    }
    PartitionBound partition = best_partition(forward, backward, options_.effort);
    report.attainable = partition.attainable;
    const bool exact = partition.exact;
    raise(report.bandwidth, make_bound("partition", std::move(partition.certificate), false));
    report.bandwidth.exact = exact;
    finish(forward, cuts, report);
    add_rooted(report.best);
  }

  /// An All-Reduce contains a Broadcast from every participant and a Reduce to every one. Without
  /// latency they say nothing new: the smallest cut separates the first from some other, one way or
  /// the other.
  void add_rooted(Bound& best) const {
    const auto links = topology_.links();
    const bool instant = std::all_of(
        links.begin(), links.end(), [](const Link& link) { return link.latency == Ticks{0}; });
    if (instant || !options_.with_latency) {
      return;
    }
    const auto participants = collective_.participants();
    const std::size_t roots =
        symmetric_
            ? 1
            : std::min(participants.size(), kRootedVisits / (topology_.num_working_links() + 1));
    for (const CollectiveKind kind : {CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
      for (const NodeId root : participants.first(roots)) {
        const Result<Collective> rooted = Collective::make(
            kind, collective_.size(), 1, {participants.begin(), participants.end()}, root);
        raise(best, Judge(topology_, rooted.value(), options_).report().best);
      }
    }
  }

  /// Ports that take one message at a time.
  void add_growth(Bound& best) const {
    if (!options_.with_latency || !ports_matter(topology_)) {
      return;
    }
    const Topology turned = topology_.reversed();
    for (const Orientation orientation : {Orientation::kForward, Orientation::kReversed}) {
      const bool turn = orientation == Orientation::kReversed;
      const Instance instance = make_instance(turn ? turned : topology_, orientation, collective_);
      if (std::optional<Certificate> growth = best_growth(instance, options_.link_model)) {
        raise(best, make_bound("growth", std::move(*growth), false));
      }
    }
  }

  /// Latency, and whole chunks.
  void finish(const Instance& instance,
              const std::vector<std::vector<NodeId>>& cuts,
              BoundReport& report) const {
    report.best = report.bandwidth;
    add_timed(instance, cuts, report.best);
    if (!options_.with_latency) {
      return;
    }
    if (std::optional<Certificate> counted =
            best_chunk_count(instance, options_.link_model, cuts)) {
      report.chunk_count = make_bound("chunk-count", std::move(*counted), false);
    }
  }

  void add_timed(const Instance& instance,
                 const std::vector<std::vector<NodeId>>& cuts,
                 Bound& best) const {
    if (!options_.with_latency) {
      return;
    }
    if (std::optional<Certificate> timed = best_timed_cut(instance, cuts, options_.effort)) {
      raise(best, make_bound("combined", std::move(*timed), false));
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  const BoundOptions& options_;
  bool symmetric_;
};

/// Whether times and memory suffice for a collective of two or more.
Status check_limits(const Topology& topology, const Collective& collective, BoundEffort effort) {
  if (collective.num_participants() == 1) {
    return ok();
  }
  if (Status fits = check_times(topology, Bytes{}, collective.chunks().size()); !fits) {
    return fits;
  }
  return check_memory_room(memory_of_bounds(topology, effort),
                           std::nullopt,
                           "a smaller network or more memory",
                           topology.name());
}

Result<BoundReport> report_of(const Topology& topology,
                              const Collective& collective,
                              const BoundOptions& options) {
  if (collective.form() == CollectiveForm::kGathered) {
    // What is asked is the same, and bounds hold however it is done; but chunks are other chunks.
    Result<BoundReport> report = report_of(topology, collective.direct(), options);
    if (report) {
      report->chunk_count.reset();
    }
    return report;
  }
  const NodeId last = collective.participants().back();
  if (last.value() >= topology.num_npus()) {
    return input_error(fmt::format(
        "participant {} does not exist; NPUs are 0 to {}", last.value(), topology.num_npus() - 1));
  }
  if (Status fits = check_limits(topology, collective, options.effort); !fits) {
    BoundReport infeasible;
    infeasible.status = BoundStatus::kInfeasible;
    infeasible.unreachable = find_unreachable(topology, collective);
    return infeasible.unreachable ? Result(std::move(infeasible)) : fits.error();
  }
  BoundReport report = Judge(topology, collective, options).report();
  if (report.best.time >= kMaxTime) {
    return input_error(
        "every schedule takes longer than 53 days; use a smaller size or leave slow links out",
        topology.name());
  }
  return report;
}

}  // namespace

BoundEffort effort_beside_schedule(const Topology& topology) {
  constexpr std::uint32_t kMostNpus = 50'000;
  constexpr std::uint32_t kMostLinks = 1U << 25U;
  return topology.num_npus() <= kMostNpus && topology.num_working_links() <= kMostLinks
             ? BoundEffort::kExact
             : BoundEffort::kCheap;
}

Result<BoundReport> compute_bounds(const Topology& topology,
                                   const Collective& collective,
                                   const BoundOptions& options) {
  return cancellable(options.cancel, [&] { return report_of(topology, collective, options); });
}

}  // namespace tacos
