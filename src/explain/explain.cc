// SPDX-License-Identifier: MIT
// With weights w = bandwidth over the links of the certificate, W their sum and T the time of the
// schedule, W x T is the sum over the links of w x (idle at first + serialization + held by latency
// or gap + idle between + idle at last). What serialization adds up to is bytes, of which the
// certificate says how many must cross: that part of T is the bound.
//
// Cost: one pass over the schedule; a bound for each kind of link; a synthesis for each size tried.
#include "tacos/explain.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "tacos/synthesize.h"

#include "base/parallel/cancel.h"
#include "base/text/quantity.h"
#include "bound/limiting_links.h"
#include "schedule/read_ahead.h"

namespace tacos {
namespace {

BoundOptions bound_options(const Bundle& bundle) {
  return {.effort = effort_beside_schedule(bundle.topology), .link_model = bundle.link_model};
}

/// Whether a schedule is so good that nobody needs to look for a better case.
bool is_near(Ticks time, Ticks bound) {
  return bound.ps >= time.ps / 100 * 95;
}

/// What a link did.
struct Use {
  Ticks first = kMaxTime;
  Ticks last;
  Ticks busy;
  Ticks serialization;
};

Result<std::vector<Use>> uses(const Bundle& bundle, int threads) {
  // A quarter of an hour's reading.
  constexpr std::uint64_t kMostTransfers = 20'000'000'000;
  if (bundle.schedule.num_transfers() > kMostTransfers) {
    return input_error(fmt::format("has {} transfers, and no more than {} are read to explain it; "
                                   "explain a smaller network of the same form",
                                   format_count(bundle.schedule.num_transfers()),
                                   format_count(kMostTransfers)),
                       bundle.topology.name());
  }
  std::vector<Use> all(bundle.topology.num_links());
  const Status read = read_batches(bundle.schedule, threads, [&](const TransferBatch& batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Transfer transfer = batch[i];
      const Bytes bytes = bundle.collective.chunks().bytes(transfer.chunks);
      Ticks head = transfer.start;
      for (const LinkId id : transfer.links) {
        const Link& link = bundle.topology.link(id);
        const Ticks busy = link_cost(link, bytes, bundle.link_model).busy;
        Use& use = all[id.index()];
        use.first = std::min(use.first, head);
        use.last = std::max(use.last, head + busy);
        use.busy += busy;
        use.serialization += serialization_time(bytes, link.bandwidth);
        head += link.latency;
      }
    }
    return ok();
  });
  return read ? Result<std::vector<Use>>(std::move(all)) : read.error();
}

Ticks rounded(double ps) {
  return {std::llround(ps)};
}

Losses losses_of(const Bundle& bundle, const Bound& bound, const std::vector<Use>& all) {
  Losses losses;
  losses.bound = bound.time;
  const std::vector<double> weight = limiting_weights(bundle.topology, bound.certificate);
  const Ticks time = bundle.schedule.collective_time();
  double sum = 0;
  double fill = 0;
  double drain = 0;
  double waiting = 0;
  double latency = 0;
  for (std::size_t id = 0; id < all.size(); ++id) {
    if (weight[id] == 0) {
      continue;
    }
    const Use& use = all[id];
    ++losses.links;
    sum += weight[id];
    if (use.busy == Ticks{}) {
      ++losses.unused;
      fill += weight[id] * static_cast<double>(time.ps);
      continue;
    }
    fill += weight[id] * static_cast<double>(use.first.ps);
    drain += weight[id] * static_cast<double>((time - use.last).ps);
    waiting += weight[id] * static_cast<double>((use.last - use.first - use.busy).ps);
    latency += weight[id] * static_cast<double>((use.busy - use.serialization).ps);
  }
  if (sum == 0) {
    losses.extra = time - bound.time;
    return losses;
  }
  losses.fill = rounded(fill / sum);
  losses.drain = rounded(drain / sum);
  losses.waiting = rounded(waiting / sum);
  losses.latency = rounded(latency / sum);
  losses.extra = time - bound.time - losses.fill - losses.drain - losses.waiting - losses.latency;
  return losses;
}

/// The network with the bandwidth of some links doubled.
template <class Chosen>
Topology with_faster(const Topology& topology, const Chosen& chosen) {
  TopologyBuilder builder(topology.name(), topology.num_npus(), topology.num_switches());
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    Link link = topology.link(LinkId(id));
    if (chosen(id)) {
      link.bandwidth.bytes_per_second =
          std::min(kMaxBytesPerSecond, 2 * link.bandwidth.bytes_per_second);
    }
    topology.failed(LinkId(id)) ? builder.add_failed_link(link) : builder.add_link(link);
  }
  // Links of a network that was built already are in order.
  return std::move(builder).build().value();
}

/// All links of a speed, for each speed, and those of the certificate.
std::vector<Remedy> try_links(const Bundle& bundle, const BoundReport& before) {
  constexpr std::size_t kMostKinds = 6;
  const Topology& topology = bundle.topology;
  std::vector<Remedy> remedies;
  const auto add = [&](std::string what, const Topology& faster) {
    const Result<BoundReport> bound =
        compute_bounds(faster, bundle.collective, bound_options(bundle));
    if (bound && bound->best.time < before.best.time) {
      remedies.push_back({std::move(what), bound->best.time, std::nullopt});
    }
  };
  std::vector<Bandwidth> kinds;
  for (const Link& link : topology.links()) {
    if (std::find(kinds.begin(), kinds.end(), link.bandwidth) == kinds.end()) {
      kinds.push_back(link.bandwidth);
    }
  }
  const std::vector<double> weight = limiting_weights(topology, before.bandwidth.certificate);
  const auto limiting = static_cast<std::size_t>(
      std::count_if(weight.begin(), weight.end(), [](double one) { return one > 0; }));
  if (limiting < topology.num_working_links()) {
    add(fmt::format("the {} links that limit it twice as fast", format_count(limiting)),
        with_faster(topology, [&](std::uint32_t id) { return weight[id] > 0; }));
  }
  for (std::size_t i = 0; i < std::min(kMostKinds, kinds.size()); ++i) {
    const auto is_kind = [&](std::uint32_t id) {
      return topology.link(LinkId(id)).bandwidth == kinds[i];
    };
    add(kinds.size() == 1
            ? std::string("all links twice as fast")
            : fmt::format("the links of {} twice as fast", format_bandwidth(kinds[i])),
        with_faster(topology, is_kind));
  }
  std::stable_sort(remedies.begin(), remedies.end(), [](const Remedy& a, const Remedy& b) {
    return a.bound < b.bound;
  });
  return remedies;
}

class ProblemTrials {
 public:
  ProblemTrials(const Bundle& bundle, Ticks bound, int threads)
      : bundle_(bundle), bound_(bound), threads_(threads) {}

  /// The same with chunks of our choice, and the first larger sizes up to one of 95% of the bound.
  std::vector<Remedy> run() {
    std::vector<Remedy> remedies;
    const Collective& collective = bundle_.collective;
    if (collective.kind() == CollectiveKind::kCustom || bundle_.topology.num_npus() > kMostNpus) {
      return remedies;
    }
    if (auto free = try_size(collective.size(), "its size, chunks and engine left to tacos");
        free && *free->time < bundle_.schedule.collective_time()) {
      remedies.push_back(*free);
    }
    Bytes size = collective.size();
    bool enough = is_near(bundle_.schedule.collective_time(), bound_);
    for (int i = 0; i < kMostSizes && !enough && size.count <= kMostBytes / 4; ++i) {
      size.count *= 4;
      const auto larger = try_size(size, "a buffer of " + format_size(size));
      if (!larger) {
        break;
      }
      enough = is_near(*larger->time, larger->bound);
      if (enough || i + 1 == kMostSizes) {
        remedies.push_back(*larger);
      }
    }
    return remedies;
  }

 private:
  static constexpr std::uint32_t kMostNpus = 128;
  static constexpr int kMostSizes = 6;
  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 36U;

  std::optional<Remedy> try_size(Bytes size, std::string what) {
    const Collective& old = bundle_.collective;
    const Problem problem{.kind = old.kind(),
                          .size = size,
                          .participants = {old.participants().begin(), old.participants().end()},
                          .root = is_rooted(old.kind()) ? std::optional(old.root()) : std::nullopt};
    const Result<Synthesis> made =
        synthesize(bundle_.topology,
                   problem,
                   {.link_model = bundle_.link_model, .seed = bundle_.seed, .threads = threads_});
    if (!made || !made->schedule) {
      return std::nullopt;
    }
    const Result<BoundReport> bound =
        compute_bounds(bundle_.topology, *made->collective, bound_options(bundle_));
    if (!bound) {
      return std::nullopt;
    }
    return Remedy{std::move(what), bound->best.time, made->schedule->collective_time()};
  }

  const Bundle& bundle_;
  /// Of the schedule itself.
  Ticks bound_;
  int threads_;
};

Result<Explanation> explain_all(const Bundle& bundle, int threads) {
  Explanation explanation;
  Result<BoundReport> bound =
      compute_bounds(bundle.topology, bundle.collective, bound_options(bundle));
  if (!bound) {
    return bound.error();
  }
  explanation.bound = *std::move(bound);
  const Result<std::vector<Use>> all = uses(bundle, threads);
  if (!all) {
    return all.error();
  }
  explanation.losses = losses_of(bundle, explanation.bound.bandwidth, *all);
  explanation.links = try_links(bundle, explanation.bound);
  explanation.problems = ProblemTrials(bundle, explanation.bound.best.time, threads).run();
  return explanation;
}

}  // namespace

Result<Explanation> explain_schedule(const Bundle& bundle, const ExplainOptions& options) {
  return cancellable(options.cancel, [&] { return explain_all(bundle, options.threads); });
}

}  // namespace tacos
