// SPDX-License-Identifier: MIT
// Checks certificates. Slow and obvious, and written apart from the search for bounds: it shares no
// code with it, recomputes every number from the network, and finds times by bisection.
#include <algorithm>
#include <limits>
#include <queue>

#include <fmt/format.h>

#include "tacos/bound.h"

#include "base/numbers/wide.h"
#include "bound/check_growth.h"

namespace tacos {
namespace {

Error wrong(std::string what) {
  return input_error("certificate: " + std::move(what));
}

std::int64_t saturate(Int128 value) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return value > kMost ? kMost : static_cast<std::int64_t>(value);
}

/// The first picosecond at which `enough` holds; enough stays true once it is.
template <class Enough>
Ticks first_time(Enough enough) {
  std::int64_t low = 0;
  std::int64_t high = kMaxTime.ps;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (enough(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return {low};
}

class Checker {
 public:
  Checker(const Topology& topology, const Collective& collective, const Certificate& certificate)
      : topology_(topology), collective_(collective), certificate_(certificate) {}

  Result<Ticks> check() {
    if (certificate_.kind == CertificateKind::kNothing) {
      return nothing_moves() ? agree(1, 0, 0, Ticks{0})
                             : Result<Ticks>(wrong("something has to move between participants"));
    }
    if (certificate_.kind == CertificateKind::kGrowth) {
      return check_growth(topology_, collective_, certificate_);
    }
    if (Status oriented = check_orientation(); !oriented) {
      return oriented.error();
    }
    switch (certificate_.kind) {
      case CertificateKind::kCut:
        return check_cut();
      case CertificateKind::kPartition:
        return check_partition();
      case CertificateKind::kLengths:
        return check_lengths();
      case CertificateKind::kChunkCount:
        return check_chunk_count();
      case CertificateKind::kGrowth:
      case CertificateKind::kNothing:
        break;
    }
    return wrong("unknown kind");
  }

 private:
  [[nodiscard]] NodeId tail(const Link& link) const {
    return certificate_.reversed ? link.dst : link.src;
  }
  [[nodiscard]] NodeId head(const Link& link) const {
    return certificate_.reversed ? link.src : link.dst;
  }

  /// Bounds of copying collectives are about the network as it is, of reducing ones and Scatter
  /// (whose data spread from the root) about the reversed one.
  [[nodiscard]] Status check_orientation() const {
    const CollectiveKind kind = collective_.kind();
    if (kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kAllToAll) {
      return ok();
    }
    const bool reversed = kind == CollectiveKind::kReduceScatter ||
                          kind == CollectiveKind::kReduce || kind == CollectiveKind::kScatter;
    return reversed == certificate_.reversed ? ok()
                                             : Status(wrong("speaks of the other direction"));
  }

  /// The numbers in the certificate are those computed here.
  [[nodiscard]] Result<Ticks> agree(std::int64_t copies,
                                    std::int64_t bytes,
                                    Int128 bandwidth,
                                    Ticks time) const {
    if (certificate_.copies != copies || certificate_.bytes != bytes ||
        certificate_.bandwidth != saturate(bandwidth) || certificate_.time != time) {
      return wrong(fmt::format("says {} x {} bytes over {} B/s take {} ps; it is {} x {}, {}, {}",
                               certificate_.copies,
                               certificate_.bytes,
                               certificate_.bandwidth,
                               certificate_.time.ps,
                               copies,
                               bytes,
                               saturate(bandwidth),
                               time.ps));
    }
    return time;
  }

  [[nodiscard]] Status mark_receivers() {
    inside_.assign(topology_.num_nodes(), 0);
    for (const NodeId node : certificate_.receivers) {
      if (node.value() >= topology_.num_nodes() || inside_[node.index()] != 0) {
        return wrong("lists a node twice or one that does not exist");
      }
      inside_[node.index()] = 1;
    }
    return ok();
  }

  [[nodiscard]] bool is_inside(NodeId node) const { return inside_[node.index()] != 0; }

  /// Bytes of participant p's share.
  [[nodiscard]] std::int64_t share(std::uint32_t p) const {
    const Int128 size = collective_.size().count;
    const Int128 n = collective_.num_participants();
    if (collective_.kind() == CollectiveKind::kAllToAll) {
      return static_cast<std::int64_t>(size / n);
    }
    return static_cast<std::int64_t>((p + Int128{1}) * size / n - p * size / n);
  }

  /// Whether data of participant p, which is outside, must come in.
  [[nodiscard]] bool counts(NodeId node) const {
    const std::optional<CutTiming>& timing = certificate_.timing;
    return !is_inside(node) && (!timing || timing->to_target[node.index()] >= timing->radius);
  }

  /// Whether no participant lacks anything.
  [[nodiscard]] bool nothing_moves() {
    inside_.assign(topology_.num_nodes(), 0);
    return !certificate_.timing && std::all_of(collective_.participants().begin(),
                                               collective_.participants().end(),
                                               [&](NodeId node) {
                                                 inside_[node.index()] = 1;
                                                 const bool complete = bytes_in() == 0;
                                                 inside_[node.index()] = 0;
                                                 return complete;
                                               });
  }

  /// Of a custom collective: copies none of whose sources is inside or near, and sums with a source
  /// outside and far, for destinations inside; with timing, for the target.
  [[nodiscard]] std::int64_t custom_bytes_in() const {
    const auto participants = collective_.participants();
    const auto far = [&](std::uint32_t p) { return counts(participants[p]); };
    const auto wanted = [&](std::uint32_t p) {
      return certificate_.timing ? participants[p] == certificate_.timing->target
                                 : is_inside(participants[p]);
    };
    std::int64_t bytes = 0;
    for (ChunkId chunk(0); chunk.value() < collective_.num_chunks();
         chunk = ChunkId(chunk.value() + 1)) {
      const auto from = collective_.sources(chunk);
      const auto to = collective_.destinations(chunk);
      const bool enters = collective_.reduces(chunk) ? std::any_of(from.begin(), from.end(), far)
                                                     : std::all_of(from.begin(), from.end(), far);
      if (enters && std::any_of(to.begin(), to.end(), wanted)) {
        bytes += collective_.chunks().bytes(chunk).count;
      }
    }
    return bytes;
  }

  /// Bytes that must enter; 0 when the cut proves nothing.
  [[nodiscard]] std::int64_t bytes_in() const {
    if (collective_.kind() == CollectiveKind::kCustom) {
      return custom_bytes_in();
    }
    std::int64_t far = 0;
    std::int64_t num_far = 0;
    std::int64_t inside = 0;
    for (std::uint32_t p = 0; p < collective_.num_participants(); ++p) {
      const NodeId node = collective_.participants()[p];
      inside += is_inside(node) ? 1 : 0;
      num_far += counts(node) ? 1 : 0;
      far += counts(node) ? share(p) : 0;
    }
    const NodeId root = collective_.root();
    switch (collective_.kind()) {
      case CollectiveKind::kAllGather:
      case CollectiveKind::kReduceScatter:
        return inside > 0 ? far : 0;
      case CollectiveKind::kGather:
      case CollectiveKind::kScatter:
        return is_inside(root) ? far : 0;
      case CollectiveKind::kBroadcast:
      case CollectiveKind::kReduce:
        return inside > 0 && counts(root) ? collective_.size().count : 0;
      case CollectiveKind::kAllReduce:
        return inside > 0 && num_far > 0 ? collective_.size().count : 0;
      case CollectiveKind::kAllToAll:
        return far * (certificate_.timing ? 1 : inside);
      case CollectiveKind::kCustom:
        break;
    }
    return 0;
  }

  /// The labels never exceed true latencies: they obey the triangle inequality on every link.
  [[nodiscard]] Status check_timing(const CutTiming& timing) const {
    const std::size_t n = topology_.num_nodes();
    const bool timed_source = !timing.from_source.empty();
    if (timing.target.value() >= n || !is_inside(timing.target) || timing.to_target.size() != n ||
        (timed_source && timing.from_source.size() != n) ||
        timing.to_target[timing.target.index()] != Ticks{0}) {
      return wrong("its target or labels are out of place");
    }
    const auto participants = collective_.participants();
    if (!std::binary_search(participants.begin(), participants.end(), timing.target)) {
      return wrong("its target takes no part");
    }
    const CollectiveKind kind = collective_.kind();
    if ((kind == CollectiveKind::kGather || kind == CollectiveKind::kScatter) &&
        timing.target != collective_.root()) {
      return wrong("its target is not the root");
    }
    const bool one_source = kind == CollectiveKind::kAllReduce;
    if (one_source &&
        (!std::binary_search(participants.begin(), participants.end(), timing.source) ||
         !counts(timing.source))) {
      return wrong("its source takes no part, or is too near");
    }
    for (const NodeId node : participants) {
      const bool sends = one_source ? node == timing.source
                         : kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce
                             ? node == collective_.root()
                             : counts(node);
      if (timed_source && sends && timing.from_source[node.index()] > Ticks{0}) {
        return wrong("a source is not where data starts");
      }
    }
    return check_triangles(timing);
  }

  [[nodiscard]] Status check_triangles(const CutTiming& timing) const {
    for (const Link& link : topology_.links()) {
      const std::size_t x = tail(link).index();
      const std::size_t y = head(link).index();
      if (Int128{timing.to_target[x].ps} > Int128{timing.to_target[y].ps} + link.latency.ps ||
          (!timing.from_source.empty() &&
           Int128{timing.from_source[y].ps} > Int128{timing.from_source[x].ps} + link.latency.ps)) {
        return wrong("its labels exceed the latency of a link");
      }
    }
    return ok();
  }

  [[nodiscard]] Int128 delay(const Link& link) const {
    if (!certificate_.timing) {
      return 0;
    }
    const CutTiming& timing = *certificate_.timing;
    const Int128 before =
        timing.from_source.empty() ? Int128{0} : timing.from_source[tail(link).index()].ps;
    return std::max<Int128>(timing.radius.ps,
                            before + link.latency.ps + timing.to_target[head(link).index()].ps);
  }

  [[nodiscard]] Result<Ticks> check_cut() {
    if (Status marked = mark_receivers(); !marked) {
      return marked.error();
    }
    if (certificate_.timing) {
      if (Status timed = check_timing(*certificate_.timing); !timed) {
        return timed.error();
      }
    }
    const std::int64_t bytes = bytes_in();
    if (bytes == 0) {
      return wrong("nothing has to cross its cut");
    }
    struct Crossing {
      Int128 bandwidth;
      Int128 delay;
    };
    std::vector<Crossing> crossings;
    Int128 bandwidth = 0;
    for (const Link& link : topology_.links()) {
      if (!is_inside(tail(link)) && is_inside(head(link))) {
        crossings.push_back({link.bandwidth.bytes_per_second, delay(link)});
        bandwidth += link.bandwidth.bytes_per_second;
      }
    }
    const Ticks time = first_time([&](std::int64_t t) {
      Int128 carried = 0;
      for (const Crossing& crossing : crossings) {
        carried = saturating_sum(
            carried,
            saturating_product(crossing.bandwidth, std::max(Int128{0}, t - crossing.delay)));
      }
      return carried >= bytes * kPsPerSecond;
    });
    return agree(1, bytes, bandwidth, time);
  }

  [[nodiscard]] Result<Ticks> check_chunk_count() {
    if (Status marked = mark_receivers(); !marked) {
      return marked.error();
    }
    if (certificate_.timing || bytes_in() == 0 || collective_.kind() == CollectiveKind::kAllToAll ||
        collective_.kind() == CollectiveKind::kCustom) {
      return wrong("no chunks have to cross its cut");
    }
    const CollectiveKind kind = collective_.kind();
    const bool whole = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kBroadcast ||
                       kind == CollectiveKind::kReduce;
    const auto outside = std::count_if(collective_.participants().begin(),
                                       collective_.participants().end(),
                                       [&](NodeId node) { return !is_inside(node); });
    const std::int64_t chunks =
        whole ? std::int64_t{collective_.num_chunks()} : outside * collective_.chunk_argument();
    const Bytes smallest{collective_.chunks().size().count / collective_.num_chunks()};
    Int128 bandwidth = 0;
    std::vector<LinkCost> costs;
    for (const Link& link : topology_.links()) {
      if (!is_inside(tail(link)) && is_inside(head(link))) {
        bandwidth += link.bandwidth.bytes_per_second;
        costs.push_back(link_cost(link, smallest, certificate_.link_model));
      }
    }
    const Ticks time = first_time([&](std::int64_t t) {
      Int128 crossed = 0;
      for (const LinkCost& cost : costs) {
        crossed += t < cost.arrival.ps ? 0 : (t - cost.arrival.ps) / cost.busy.ps + 1;
      }
      return crossed >= chunks;
    });
    return agree(1, chunks, bandwidth, time);
  }

  /// Bandwidth out of part `part`, whose NPUs and switches are `nodes`.
  [[nodiscard]] Int128 bandwidth_out(std::uint32_t part, const std::vector<NodeId>& nodes) {
    for (const NodeId node : nodes) {
      mark_[node.index()] = part + 1;
    }
    Int128 bandwidth = 0;
    for (const NodeId node : nodes) {
      for (const LinkId id :
           certificate_.reversed ? topology_.in_links(node) : topology_.out_links(node)) {
        const Link& link = topology_.link(id);
        bandwidth += mark_[head(link).index()] == part + 1 ? 0 : link.bandwidth.bytes_per_second;
      }
    }
    return bandwidth;
  }

  [[nodiscard]] Result<Ticks> check_partition() {
    if (collective_.kind() != CollectiveKind::kAllReduce) {
      return wrong("a partition bounds All-Reduce only");
    }
    if (certificate_.parts.size() != topology_.num_npus()) {
      return wrong("does not give every NPU a part");
    }
    std::vector<std::vector<NodeId>> nodes;
    for (std::uint32_t npu = 0; npu < topology_.num_npus(); ++npu) {
      const std::uint32_t part = certificate_.parts[npu];
      if (part >= topology_.num_npus()) {
        return wrong("numbers a part too high");
      }
      nodes.resize(std::max<std::size_t>(nodes.size(), part + std::size_t{1}));
      nodes[part].push_back(NodeId(npu));
    }
    for (const auto& [part, node] : certificate_.part_switches) {
      if (part >= nodes.size() || topology_.is_npu(node) || node.value() >= topology_.num_nodes()) {
        return wrong("puts into a part what is no switch");
      }
      nodes[part].push_back(node);
    }
    std::vector<std::uint8_t> demands(nodes.size(), 0);
    for (const NodeId node : collective_.participants()) {
      demands[certificate_.parts[node.index()]] = 1;
    }
    const auto parts = std::count(demands.begin(), demands.end(), 1);
    mark_.assign(topology_.num_nodes(), 0);
    Int128 bandwidth = 0;
    for (std::uint32_t part = 0; part < nodes.size(); ++part) {
      std::sort(nodes[part].begin(), nodes[part].end());
      nodes[part].erase(std::unique(nodes[part].begin(), nodes[part].end()), nodes[part].end());
      bandwidth += bandwidth_out(part, nodes[part]);
    }
    if (parts < 2 || bandwidth == 0) {
      return wrong("has fewer than two parts to join");
    }
    const Int128 work = Int128{2} * (parts - 1) * collective_.size().count * kPsPerSecond;
    const Ticks time =
        first_time([&](std::int64_t t) { return saturating_product(bandwidth, t) >= work; });
    return agree(2 * (parts - 1), collective_.size().count, bandwidth, time);
  }

  /// Sum of the distances from `source` to all participants; nothing when one cannot be reached.
  [[nodiscard]] std::optional<Int128> distances_from(NodeId source) const {
    using Entry = std::pair<Int128, std::uint32_t>;
    constexpr Int128 kFar = kMaxInt128;
    std::vector<Int128> distance(topology_.num_nodes(), kFar);
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distance[source.index()] = 0;
    queue.push({0, source.value()});
    while (!queue.empty()) {
      const auto [d, node] = queue.top();
      queue.pop();
      if (d > distance[node]) {
        continue;
      }
      for (const LinkId id : topology_.out_links(NodeId(node))) {
        const std::uint32_t other = topology_.link(id).dst.value();
        const Int128 through = d + certificate_.lengths[id.index()];
        if (through < distance[other]) {
          distance[other] = through;
          queue.push({through, other});
        }
      }
    }
    Int128 total = 0;
    for (const NodeId node : collective_.participants()) {
      if (distance[node.index()] == kFar) {
        return std::nullopt;
      }
      total += distance[node.index()];
    }
    return total;
  }

  [[nodiscard]] Result<Ticks> check_lengths() {
    if (collective_.kind() != CollectiveKind::kAllToAll || certificate_.reversed) {
      return wrong("lengths bound All-to-All only");
    }
    const std::vector<std::int64_t>& lengths = certificate_.lengths;
    // 2^30 links of at most 2^30 each: distances and sums stay below 2^127.
    if (lengths.size() != topology_.num_links() ||
        std::any_of(lengths.begin(), lengths.end(), [](std::int64_t length) {
          return length < 0 || length > (1LL << 30U);
        })) {
      return wrong("does not give every link a length from 0 to 2^30");
    }
    Int128 volume = 0;
    for (std::uint32_t id = 0; id < topology_.num_links(); ++id) {
      const Link& link = topology_.link(LinkId(id));
      volume +=
          topology_.failed(LinkId(id)) ? 0 : Int128{lengths[id]} * link.bandwidth.bytes_per_second;
    }
    Int128 total = 0;
    for (const NodeId node : collective_.participants()) {
      const std::optional<Int128> distances = distances_from(node);
      if (!distances) {
        return wrong("a participant cannot be reached");
      }
      total += *distances;
    }
    if (volume == 0 || total == 0 || total > std::numeric_limits<std::int64_t>::max()) {
      return wrong("its lengths are all zero, or too large");
    }
    const std::int64_t bytes = share(0);
    const Int128 work = saturating_product(total * bytes, kPsPerSecond);
    if (work == kMaxInt128) {
      return wrong("its lengths are too large");
    }
    const Ticks time =
        first_time([&](std::int64_t t) { return saturating_product(volume, t) >= work; });
    return agree(static_cast<std::int64_t>(total), bytes, volume, time);
  }

  const Topology& topology_;
  const Collective& collective_;
  const Certificate& certificate_;
  std::vector<std::uint8_t> inside_;
  std::vector<std::uint32_t> mark_;
};

}  // namespace

Result<Ticks> check_certificate(const Topology& topology,
                                const Collective& collective,
                                const Certificate& certificate) {
  if (collective.participants().back().value() >= topology.num_npus()) {
    return wrong("is about NPUs that the network does not have");
  }
  return Checker(topology, collective.direct(), certificate).check();
}

}  // namespace tacos
