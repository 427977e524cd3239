// SPDX-License-Identifier: MIT
// Certificates in words.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "tacos/bound.h"

#include "base/numbers/wide.h"
#include "base/text/quantity.h"
#include "topology/names.h"

namespace tacos {
namespace {

/// "63/64 of the buffer", "the whole buffer", or bytes when the fraction says nothing.
std::string share_of(std::int64_t bytes, const Collective& collective) {
  const std::int64_t size = collective.size().count;
  if (collective.kind() == CollectiveKind::kCustom) {
    return format_size(Bytes{bytes});
  }
  if (bytes == size) {
    return "the whole buffer";
  }
  // Shards may differ by a byte: a fraction is right to within a byte for each of them.
  const Int128 n = collective.num_participants();
  const Int128 shares = (bytes * n + size / 2) / size;
  const Int128 off = bytes * n - shares * size;
  if (shares > 0 && shares < n && off <= n * n && -off <= n * n) {
    const auto above = static_cast<std::int64_t>(shares);
    const auto below = static_cast<std::int64_t>(n);
    const std::int64_t divisor = std::gcd(above, below);
    return fmt::format("{}/{} of the buffer", above / divisor, below / divisor);
  }
  return format_size(Bytes{bytes});
}

/// "2 links of 50 GB/s", or "3 links of 125 GB/s in all" when they differ.
std::string links_of(std::uint32_t count, bool equal, Bandwidth one, std::int64_t all) {
  if (equal) {
    return fmt::format("{} link{} of {}", count, count == 1 ? "" : "s", format_bandwidth(one));
  }
  return fmt::format("{} links, {} in all", count, format_bandwidth(Bandwidth{all}));
}

/// "NPU 3", "NPUs 0, 1 and 2", "8 NPUs (0, 1, 2, ...)".
std::string npus(const Topology& topology, const std::vector<NodeId>& nodes) {
  if (nodes.size() == 1) {
    return npu_text(topology, nodes.front());
  }
  constexpr std::size_t kNamed = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, nodes.size()); ++i) {
    names += fmt::format("{}{}", i == 0 ? "" : ", ", nodes[i].value());
  }
  return fmt::format("{} NPUs ({}{})", nodes.size(), names, nodes.size() > kNamed ? ", ..." : "");
}

struct Cut {
  std::vector<NodeId> inside;
  std::vector<NodeId> outside;
  std::string links;
};

Cut cut_of(const Topology& topology, const Collective& collective, const Certificate& certificate) {
  std::vector<std::uint8_t> receives(topology.num_nodes(), 0);
  for (const NodeId node : certificate.receivers) {
    receives[node.index()] = 1;
  }
  Cut cut;
  for (const NodeId node : collective.participants()) {
    (receives[node.index()] != 0 ? cut.inside : cut.outside).push_back(node);
  }
  std::uint32_t count = 0;
  bool equal = true;
  Bandwidth first;
  for (const Link& link : topology.links()) {
    const NodeId from = certificate.reversed ? link.dst : link.src;
    const NodeId to = certificate.reversed ? link.src : link.dst;
    if (receives[from.index()] == 0 && receives[to.index()] != 0) {
      first = count == 0 ? link.bandwidth : first;
      equal &= link.bandwidth == first;
      ++count;
    }
  }
  cut.links = links_of(count, equal, first, certificate.bandwidth);
  return cut;
}

std::string explain_cut(const Topology& topology,
                        const Collective& collective,
                        const Certificate& certificate) {
  const Cut cut = cut_of(topology, collective, certificate);
  // Name the smaller side: it receives, or all that the others receive comes out of it.
  const bool inside = cut.inside.size() <= cut.outside.size();
  const bool receives = inside != certificate.reversed;
  const std::string what = certificate.kind == CertificateKind::kChunkCount
                               ? format_count(static_cast<std::uint64_t>(certificate.bytes)) +
                                     (certificate.bytes == 1 ? " chunk" : " chunks")
                               : share_of(certificate.bytes, collective);
  std::string text = fmt::format("{} must {} {} over {}",
                                 npus(topology, inside ? cut.inside : cut.outside),
                                 receives ? "receive" : "send",
                                 what,
                                 cut.links);
  if (certificate.kind == CertificateKind::kChunkCount) {
    text += fmt::format(", whole chunks under the {} model", to_string(certificate.link_model));
  } else if (certificate.timing) {
    const CutTiming& timing = *certificate.timing;
    const char* direction = certificate.reversed ? "to" : "from";
    text += timing.source.valid()
                ? fmt::format(", all of it {} {}, {} away",
                              direction,
                              npu_text(topology, timing.source),
                              format_time(timing.to_target[timing.source.index()]))
                : fmt::format(" {} NPUs {} away or more", direction, format_time(timing.radius));
  }
  return text;
}

}  // namespace

std::string explain(const Topology& topology,
                    const Collective& collective,
                    const Certificate& certificate) {
  switch (certificate.kind) {
    case CertificateKind::kNothing:
      return "nothing has to move";
    case CertificateKind::kCut:
    case CertificateKind::kChunkCount:
      return explain_cut(topology, collective, certificate);
    case CertificateKind::kGrowth:
      return fmt::format(
          "before that {} cannot have {} all {} participants, as a port takes one message at a "
          "time under the {} model",
          npu_text(topology, certificate.target),
          certificate.reversed ? "reached" : "heard from",
          format_count(static_cast<std::uint64_t>(certificate.bytes)),
          to_string(certificate.link_model));
    case CertificateKind::kPartition: {
      const std::int64_t parts = certificate.copies / 2 + 1;
      const bool single = parts == topology.num_npus();
      return fmt::format(
          "{} must exchange {} copies of the buffer, over {} in all",
          single ? fmt::format("all {} NPUs", parts) : fmt::format("{} groups of NPUs", parts),
          format_count(static_cast<std::uint64_t>(certificate.copies)),
          format_bandwidth(Bandwidth{certificate.bandwidth}));
    }
    case CertificateKind::kLengths: {
      const bool hops = std::all_of(certificate.lengths.begin(),
                                    certificate.lengths.end(),
                                    [](std::int64_t length) { return length == 1; });
      const std::string pair = format_size(Bytes{certificate.bytes});
      return hops ? fmt::format("{} for every pair make {} hops in all, over {} of links",
                                pair,
                                format_count(static_cast<std::uint64_t>(certificate.copies)),
                                format_bandwidth(Bandwidth{certificate.bandwidth}))
                  : fmt::format(
                        "{} for every pair fill the links, weighed by how contested each is", pair);
    }
  }
  return {};
}

}  // namespace tacos
