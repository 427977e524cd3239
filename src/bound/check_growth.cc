// SPDX-License-Identifier: MIT
// The recursion of growth.cc, written down as it stands there and without its sums: shares no code
// with it.
#include "bound/check_growth.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace tacos {
namespace {

Error wrong(const char* what) {
  return input_error(fmt::format("certificate: {}", what));
}

/// For how long a message of no bytes would keep a link busy.
Ticks held(const Link& link, LinkModel model) {
  return model == LinkModel::kHold ? link.latency : link.gap;
}

class GrowthChecker {
 public:
  GrowthChecker(const Topology& topology,
                const Collective& collective,
                const Certificate& certificate)
      : topology_(topology), collective_(collective), certificate_(certificate) {}

  /// The most participants that the target can have heard of within so many steps.
  std::int64_t heard_by_target() {
    for (const Link& link : topology_.links()) {
      links_.push_back({certificate_.reversed ? link.dst.index() : link.src.index(),
                        certificate_.reversed ? link.src.index() : link.dst.index(),
                        link.latency.ps / certificate_.step.ps,
                        held(link, certificate_.link_model).ps / certificate_.step.ps});
    }
    find_distances();
    std::vector<std::int64_t> now(topology_.num_npus());
    for (std::int64_t k = 0; k < certificate_.copies; ++k) {
      for (std::size_t v = 0; v < now.size(); ++v) {
        now[v] = heard(v, k);
      }
      heard_.push_back(now);
    }
    return heard_.back()[certificate_.target.index()];
  }

 private:
  struct Port {
    std::size_t from;
    std::size_t to;
    std::int64_t steps;
    /// Between two messages.
    std::int64_t apart;
  };
  static constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4;

  /// From every NPU to every node, by going over all links until nothing changes.
  void find_distances() {
    distance_.assign(topology_.num_npus(), std::vector<std::int64_t>(topology_.num_nodes(), kFar));
    for (std::size_t u = 0; u < distance_.size(); ++u) {
      std::vector<std::int64_t>& to = distance_[u];
      to[u] = 0;
      for (bool changed = true; changed;) {
        changed = false;
        for (const Port& link : links_) {
          if (to[link.from] + link.steps < to[link.to]) {
            to[link.to] = to[link.from] + link.steps;
            changed = true;
          }
        }
      }
    }
  }

  [[nodiscard]] std::int64_t heard(std::size_t v, std::int64_t k) const {
    const auto participants = collective_.participants();
    const NodeId node(static_cast<std::uint32_t>(v));
    std::int64_t sum = std::binary_search(participants.begin(), participants.end(), node) ? 1 : 0;
    for (const Port& port : links_) {
      for (std::int64_t at = k; port.to == v && at >= 0; at -= port.apart) {
        std::int64_t most = 0;
        for (std::size_t u = 0; u < distance_.size(); ++u) {
          const std::int64_t start = at - port.steps - distance_[u][port.from];
          if (start >= 0) {
            most = std::max(most, heard_[static_cast<std::size_t>(start)][u]);
          }
        }
        sum += most;
      }
    }
    return std::min<std::int64_t>(sum, collective_.num_participants());
  }

  const Topology& topology_;
  const Collective& collective_;
  const Certificate& certificate_;
  std::vector<Port> links_;
  std::vector<std::vector<std::int64_t>> distance_;
  /// By step and NPU.
  std::vector<std::vector<std::int64_t>> heard_;
};

/// Whether the collective needs the target to hear from all, or be heard by all.
bool is_needed(const Collective& collective, const Certificate& certificate) {
  const auto participants = collective.participants();
  if (!std::binary_search(participants.begin(), participants.end(), certificate.target)) {
    return false;
  }
  switch (collective.kind()) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kAllToAll:
      return true;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kScatter:
      return certificate.reversed && certificate.target == collective.root();
    case CollectiveKind::kReduce:
    case CollectiveKind::kGather:
      return !certificate.reversed && certificate.target == collective.root();
    case CollectiveKind::kCustom:
      break;
  }
  return false;
}

}  // namespace

Result<Ticks> check_growth(const Topology& topology,
                           const Collective& collective,
                           const Certificate& certificate) {
  if (!is_needed(collective, certificate)) {
    return wrong("nothing has to grow as it says");
  }
  const auto links = topology.links();
  if (certificate.step <= Ticks{0} || certificate.copies < 1 ||
      std::any_of(links.begin(), links.end(), [&](const Link& link) {
        return std::min(link.latency, held(link, certificate.link_model)) < certificate.step;
      })) {
    return wrong("its step is longer than a latency, or than what a message holds a link for");
  }
  if (certificate.bytes != collective.num_participants() || certificate.bandwidth != 0 ||
      certificate.time != Ticks{certificate.copies * certificate.step.ps}) {
    return wrong("its numbers do not agree");
  }
  if (GrowthChecker(topology, collective, certificate).heard_by_target() >= certificate.bytes) {
    return wrong("its target can have heard of all by then");
  }
  return certificate.time;
}

}  // namespace tacos
