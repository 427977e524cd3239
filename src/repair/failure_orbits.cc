// SPDX-License-Identifier: MIT
#include "repair/failure_orbits.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "topology/automorphisms.h"
#include "topology/restore.h"

namespace tacos::repairing {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

bool keeps(const Collective& collective, const Permutation& nodes) {
  const auto participants = collective.participants();
  return std::all_of(participants.begin(),
                     participants.end(),
                     [&](NodeId npu) {
                       return std::binary_search(
                           participants.begin(), participants.end(), NodeId(nodes[npu.index()]));
                     }) &&
         (!is_rooted(collective.kind()) ||
          nodes[collective.root().index()] == collective.root().value());
}

}  // namespace

std::string SingleFailure::spec() const {
  return a == b ? fmt::format("npu:{}", a.value())
                : fmt::format("link:{}-{}", a.value(), b.value());
}

FailureOrbits::FailureOrbits(const Topology& topology, const Collective& collective)
    : num_nodes_(topology.num_nodes()) {
  all_.reserve(topology.num_links() + topology.num_npus());
  for (const Link& link : topology.links()) {
    const auto [a, b] = std::minmax(link.src, link.dst);
    all_.push_back({.a = a, .b = b});
  }
  std::sort(all_.begin(), all_.end());
  all_.erase(std::unique(all_.begin(), all_.end()), all_.end());
  num_cables_ = static_cast<std::uint32_t>(all_.size());
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    if (!has_failed(topology, NodeId(npu))) {
      all_.push_back({.a = NodeId(npu), .b = NodeId(npu)});
    }
  }
  if (collective.kind() != CollectiveKind::kCustom &&
      topology.num_working_links() == topology.num_links()) {
    generators_ = automorphisms(topology);
    std::erase_if(generators_, [&](const Permutation& one) { return !keeps(collective, one); });
  }
  representative_.assign(all_.size(), kNone);
  reached_by_.assign(all_.size(), {kNone, kNone});
  std::vector<std::uint32_t> reached;
  for (std::uint32_t first = 0; first < all_.size(); ++first) {
    if (representative_[first] != kNone) {
      continue;
    }
    representative_[first] = first;
    reached.assign(1, first);
    for (std::size_t next = 0; next < reached.size(); ++next) {
      for (std::uint32_t g = 0; g < generators_.size(); ++g) {
        const std::uint32_t to = image(reached[next], generators_[g]);
        if (representative_[to] == kNone) {
          representative_[to] = first;
          reached_by_[to] = {reached[next], g};
          reached.push_back(to);
        }
      }
    }
  }
}

std::uint32_t FailureOrbits::image(std::uint32_t failure, const Permutation& nodes) const {
  const auto [a, b] = std::minmax(nodes[all_[failure].a.index()], nodes[all_[failure].b.index()]);
  const SingleFailure moved{.a = NodeId(a), .b = NodeId(b)};
  const auto begin = all_.begin() + (failure < num_cables_ ? 0 : num_cables_);
  const auto end = failure < num_cables_ ? all_.begin() + num_cables_ : all_.end();
  return static_cast<std::uint32_t>(std::lower_bound(begin, end, moved) - all_.begin());
}

Permutation FailureOrbits::symmetry_to(std::uint32_t failure) const {
  Permutation nodes = identity_permutation(num_nodes_);
  for (std::uint32_t at = failure; at != representative_[failure]; at = reached_by_[at].first) {
    nodes = composed(generators_[reached_by_[at].second], nodes);
  }
  return nodes;
}

std::optional<std::uint32_t> FailureOrbits::find(const std::string& spec) const {
  for (std::uint32_t i = 0; i < all_.size(); ++i) {
    const SingleFailure turned{.a = all_[i].b, .b = all_[i].a};
    if (all_[i].spec() == spec || turned.spec() == spec) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace tacos::repairing
