// SPDX-License-Identifier: MIT
#include "bound/limiting_links.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tacos {
namespace {

class Weights {
 public:
  Weights(const Topology& topology, const Certificate& certificate)
      : topology_(topology), certificate_(certificate), all_(topology.num_links(), 0) {}

  std::vector<double> of_all() && {
    switch (certificate_.kind) {
      case CertificateKind::kCut:
      case CertificateKind::kChunkCount:
        add_cut();
        break;
      case CertificateKind::kPartition:
        add_parts();
        break;
      case CertificateKind::kLengths:
        for (std::uint32_t id = 0; id < topology_.num_links(); ++id) {
          add(id, static_cast<double>(certificate_.lengths[id]));
        }
        break;
      case CertificateKind::kGrowth:
      case CertificateKind::kNothing:
        break;
    }
    return std::move(all_);
  }

 private:
  void add(std::uint32_t id, double factor) {
    const double bandwidth =
        static_cast<double>(topology_.link(LinkId(id)).bandwidth.bytes_per_second);
    all_[id] += topology_.failed(LinkId(id)) ? 0 : factor * bandwidth;
  }
  /// Links from outside into a set of nodes.
  void add_entering(const std::vector<std::uint8_t>& inside) {
    for (std::uint32_t id = 0; id < topology_.num_links(); ++id) {
      const Link& link = topology_.link(LinkId(id));
      const NodeId from = certificate_.reversed ? link.dst : link.src;
      const NodeId to = certificate_.reversed ? link.src : link.dst;
      if (inside[from.index()] == 0 && inside[to.index()] != 0) {
        add(id, 1);
      }
    }
  }
  void add_cut() {
    std::vector<std::uint8_t> inside(topology_.num_nodes(), 0);
    for (const NodeId node : certificate_.receivers) {
      inside[node.index()] = 1;
    }
    add_entering(inside);
  }
  /// Links into each part, from outside of it; a switch may be in several.
  void add_parts() {
    std::vector<std::pair<NodeId, std::uint32_t>> members;
    for (std::uint32_t npu = 0; npu < certificate_.parts.size(); ++npu) {
      members.emplace_back(NodeId(npu), certificate_.parts[npu]);
    }
    for (const auto& [part, node] : certificate_.part_switches) {
      members.emplace_back(node, part);
    }
    std::sort(members.begin(), members.end());
    for (std::uint32_t id = 0; id < topology_.num_links(); ++id) {
      const Link& link = topology_.link(LinkId(id));
      const NodeId from = certificate_.reversed ? link.dst : link.src;
      const NodeId to = certificate_.reversed ? link.src : link.dst;
      for (auto at = std::lower_bound(members.begin(), members.end(), std::pair(to, 0U));
           at != members.end() && at->first == to;
           ++at) {
        if (!std::binary_search(members.begin(), members.end(), std::pair(from, at->second))) {
          add(id, 1);
        }
      }
    }
  }

  const Topology& topology_;
  const Certificate& certificate_;
  std::vector<double> all_;
};

}  // namespace

std::vector<double> limiting_weights(const Topology& topology, const Certificate& certificate) {
  return Weights(topology, certificate).of_all();
}

}  // namespace tacos
