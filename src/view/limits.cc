// SPDX-License-Identifier: MIT
#include "view/limits.h"

#include <algorithm>

#include "bound/limiting_links.h"

namespace tacos::viewing {
namespace {

/// By part: 0 where one NPU is alone, the others numbered from 1. There are more parts than
/// colours, and NPUs that are alone must not look as if they belonged together.
Numbers numbers_of_groups(const std::vector<std::uint32_t>& parts) {
  Numbers sizes(parts.empty() ? 0 : *std::max_element(parts.begin(), parts.end()) + std::size_t{1},
                0);
  for (const std::uint32_t part : parts) {
    ++sizes[part];
  }
  std::uint64_t next = 0;
  for (std::uint64_t& size : sizes) {
    size = size > 1 ? ++next : 0;
  }
  return sizes;
}

/// Of all nodes of the network, which part each is in; 0 for none.
Numbers parts_of(const Bundle& bundle, const Certificate& certificate) {
  Numbers parts(bundle.topology.num_nodes(), 0);
  switch (certificate.kind) {
    case CertificateKind::kCut:
    case CertificateKind::kChunkCount: {
      for (const NodeId node : certificate.receivers) {
        parts[node.index()] = 1;
      }
      // The sentence speaks of the side with fewer participants.
      const auto participants = bundle.collective.participants();
      const auto inside = std::count_if(participants.begin(), participants.end(), [&](NodeId node) {
        return parts[node.index()] == 1;
      });
      if (2 * static_cast<std::size_t>(inside) > participants.size()) {
        std::transform(
            parts.begin(), parts.end(), parts.begin(), [](std::uint64_t part) { return 1 - part; });
      }
      break;
    }
    case CertificateKind::kPartition: {
      const Numbers number = numbers_of_groups(certificate.parts);
      for (std::size_t npu = 0; npu < certificate.parts.size(); ++npu) {
        parts[npu] = number[certificate.parts[npu]];
      }
      for (const auto& [part, node] : certificate.part_switches) {
        parts[node.index()] = number[part];
      }
      break;
    }
    case CertificateKind::kGrowth:
      parts[certificate.target.index()] = 1;
      break;
    case CertificateKind::kLengths:
    case CertificateKind::kNothing:
      break;
  }
  return parts;
}

Numbers shares_of(const std::vector<double>& weights) {
  constexpr double kMost = 255;
  const double largest = weights.empty() ? 0 : *std::max_element(weights.begin(), weights.end());
  Numbers shares(weights.size(), 0);
  if (largest > 0) {
    std::transform(weights.begin(), weights.end(), shares.begin(), [&](double weight) {
      return weight > 0 ? static_cast<std::uint64_t>(std::max(1., kMost * weight / largest)) : 0;
    });
  }
  return shares;
}

/// What is shown of numbers for all nodes, or all links.
template <class Id>
Numbers shown(Numbers all, const std::vector<Id>* ids) {
  if (ids == nullptr) {
    return all;
  }
  Numbers some(ids->size());
  std::transform(ids->begin(), ids->end(), some.begin(), [&](Id id) { return all[id.index()]; });
  return some;
}

Json limit_json(const Bundle& bundle, const Bound& bound, const Traffic& traffic) {
  const Certificate& certificate = bound.certificate;
  const Piece* const piece = traffic.piece ? &*traffic.piece : nullptr;
  const Numbers parts =
      shown(parts_of(bundle, certificate), piece == nullptr ? nullptr : &piece->nodes);
  const Numbers links = shown(shares_of(limiting_weights(bundle.topology, certificate)),
                              piece == nullptr ? nullptr : &piece->links);
  return {{"name", bound.name},
          {"time", bound.time.ps},
          {"sentence", explain(bundle.topology, bundle.collective, certificate)},
          {"parts", column(parts)},
          {"links", column(links)}};
}

}  // namespace

Json limits_json(const Bundle& bundle, const BoundReport& bound, const Traffic& traffic) {
  Json limits = Json::array();
  limits.push_back(limit_json(bundle, bound.best, traffic));
  if (bound.bandwidth.certificate != bound.best.certificate) {
    limits.push_back(limit_json(bundle, bound.bandwidth, traffic));
  }
  return limits;
}

Json path_json(const CriticalPath& path) {
  Numbers number;
  Numbers start;
  Numbers end;
  Numbers chunk;
  Numbers wait;
  Numbers num_links;
  Numbers links;
  number.reserve(path.steps.size());
  for (const CriticalStep& step : path.steps) {
    number.push_back(step.number);
    start.push_back(static_cast<std::uint64_t>(step.start.ps));
    end.push_back(static_cast<std::uint64_t>(step.end.ps));
    chunk.push_back(step.chunk.value());
    wait.push_back(static_cast<std::uint64_t>(step.wait));
    num_links.push_back(step.links.size());
    for (const LinkId link : step.links) {
      links.push_back(link.value());
    }
  }
  return {{"number", column(number)},
          {"start", column(start)},
          {"end", column(end)},
          {"chunk", column(chunk)},
          {"wait", column(wait)},
          {"num_links", column(num_links)},
          {"links", column(links)}};
}

}  // namespace tacos::viewing
