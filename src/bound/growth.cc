// SPDX-License-Identifier: MIT
// Let F_v(t) be the largest number of participants of whose data NPU v can hold anything by time t.
// Of the transfers that arrive over a link p into v by t, the j-th last (j = 0, 1, ...) has arrived
// by t - j h_p, where h_p is how long each keeps the link busy: its latency at least under `hold`,
// its gap under `pipelined`. A transfer that set out from u at time s carries at most what u held
// at s. So
//
//   F_v(t) <= 1 + sum over links p into v, sum over j, max over u of F_u(t - L(u, p) - j h_p)
//
// with L(u, p) the least latency of a way from u that ends with p. Ways may pass NPUs, so that this
// holds for networks whose NPUs forward too. Whoever must hear from everybody needs F = all.
//
// F is taken at steps of g picoseconds: what is true before (k + 1) g. Latencies are rounded down
// to whole steps, which can only make F larger. On switch:16 F is 1, 1, 2, 3, 5, 8, 13, 21: 1.75 us
// where the distance is 0.5.
//
// With M_x(k) the most that anything that has come as far as node x can carry, which is F_x itself
// or M_y(k - latency) of a node before it, and S_p(k) = S_p(k - h) + M_x(k - latency) for the
// sums over j, a step costs O(links). As F grows by a factor in each latency, steps are few.
#include "bound/growth.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tacos {
namespace {

/// Steps beyond these are not looked at: what is proven by then counts.
constexpr std::size_t kMostSteps = 4'096;
constexpr std::size_t kMostVisits = 10'000'000;
/// Below which there would be too few steps.
constexpr std::size_t kMostPlaces = kMostVisits / 64;
/// The shortest latency has at most so many steps.
constexpr std::int64_t kFineness = 64;

/// The length of a step; nothing when some link has no latency, or is kept busy by bytes alone.
std::optional<std::int64_t> step_of(const Topology& network, LinkModel model) {
  std::int64_t common = 0;
  std::int64_t shortest = kMaxTime.ps;
  for (const Link& link : network.links()) {
    for (const Ticks time : {link.latency, overhead(link, model)}) {
      common = std::gcd(common, time.ps);
      shortest = std::min(shortest, time.ps);
    }
  }
  if (shortest == 0 || common == 0) {
    return std::nullopt;
  }
  return std::max(common, (shortest + kFineness - 1) / kFineness);
}

class Growth {
 public:
  Growth(const Instance& instance, LinkModel model, std::int64_t step)
      : instance_(instance),
        network_(instance.network),
        model_(model),
        step_(step),
        all_(instance.num_participants()) {}

  /// The first step before which a target that must hear of everybody cannot have done so.
  std::size_t run(NodeId& slowest) {
    const std::size_t nodes = network_.num_nodes();
    const std::size_t most =
        std::min(kMostSteps, kMostVisits / (network_.num_working_links() + nodes));
    for (std::size_t k = 0; k < most; ++k) {
      advance(k);
      const NodeId behind = first_behind(k);
      if (!behind.valid()) {
        return k;
      }
      slowest = behind;
    }
    return most;
  }

 private:
  void advance(std::size_t k) {
    const std::size_t nodes = network_.num_nodes();
    const std::size_t links = network_.num_links();
    heard_.resize((k + 1) * nodes, 0);
    carried_.resize((k + 1) * nodes, 0);
    summed_.resize((k + 1) * links, 0);
    for (std::size_t v = 0; v < nodes; ++v) {
      heard_[k * nodes + v] = instance_.takes_part[v];
    }
    for (std::uint32_t id = 0; id < links; ++id) {
      if (network_.failed(LinkId(id))) {
        continue;
      }
      const Link& link = network_.link(LinkId(id));
      const auto lag = static_cast<std::size_t>(link.latency.ps / step_);
      if (lag > k) {
        continue;
      }
      const std::uint32_t brought = carried_[(k - lag) * nodes + link.src.index()];
      std::uint32_t& sum = summed_[k * links + id];
      const auto held = static_cast<std::size_t>(overhead(link, model_).ps / step_);
      const std::uint32_t before = held > k ? 0 : summed_[(k - held) * links + id];
      sum = std::min(all_, before + brought);
      const std::size_t v = k * nodes + link.dst.index();
      carried_[v] = std::max(carried_[v], brought);
      if (network_.is_npu(link.dst)) {
        heard_[v] = std::min(all_, heard_[v] + sum);
      }
    }
    for (std::size_t v = k * nodes; v < k * nodes + network_.num_npus(); ++v) {
      carried_[v] = std::max(carried_[v], heard_[v]);
    }
  }

  /// The first that has not heard of everybody yet.
  [[nodiscard]] NodeId first_behind(std::size_t k) const {
    const auto behind = [&](NodeId node) {
      return heard_[k * network_.num_nodes() + node.index()] < all_;
    };
    if (is_rooted(instance_.collective.kind())) {
      return behind(instance_.collective.root()) ? instance_.collective.root() : NodeId();
    }
    const auto targets = instance_.collective.participants();
    const auto found = std::find_if(targets.begin(), targets.end(), behind);
    return found == targets.end() ? NodeId() : *found;
  }

  const Instance& instance_;
  const Topology& network_;
  LinkModel model_;
  std::int64_t step_;
  std::uint32_t all_;
  // By step and node or link.
  std::vector<std::uint32_t> heard_;
  std::vector<std::uint32_t> carried_;
  std::vector<std::uint32_t> summed_;
};

/// Of the rooted ones, whether all hear from the root or it from them; the others need both.
bool matters(const Instance& instance) {
  const CollectiveTraits& kind = traits(instance.collective.kind());
  const bool from_root = kind.before == Holder::kRoot;
  return !kind.rooted() || from_root == (instance.orientation == Orientation::kReversed);
}

}  // namespace

bool ports_matter(const Topology& topology) {
  return topology.num_switches() > 0 &&
         topology.num_working_links() + std::size_t{topology.num_nodes()} <= kMostPlaces;
}

std::optional<Certificate> best_growth(const Instance& instance, LinkModel model) {
  const std::optional<std::int64_t> step = step_of(instance.network, model);
  if (!step || !matters(instance)) {
    return std::nullopt;
  }
  NodeId slowest;
  const std::size_t steps = Growth(instance, model, *step).run(slowest);
  if (!slowest.valid()) {
    return std::nullopt;
  }
  Certificate certificate;
  certificate.kind = CertificateKind::kGrowth;
  certificate.reversed = instance.orientation == Orientation::kReversed;
  certificate.link_model = model;
  certificate.target = slowest;
  certificate.step = {*step};
  certificate.copies = static_cast<std::int64_t>(steps);
  certificate.bytes = instance.num_participants();
  certificate.time = {static_cast<std::int64_t>(steps) * *step};
  return certificate;
}

}  // namespace tacos
