// SPDX-License-Identifier: MIT
// With a fixed chunk size and one transfer per chunk, a link carries a whole number of chunks: by
// time T, floor(T / (a + s/b)) of them under `hold`, 1 + floor((T - a - s/b) / (s/b)) under
// `pipelined`. So T is at least the first time at which the links into a set of nodes have carried
// as many chunks as it lacks. This is what `hold` and `pipelined` differ in; the other bounds hold
// under both. It does not bind schedules that put several chunks into one transfer. Bisection for
// each cut that the best time so far does not already satisfy: O(links) in all, in practice.
#include "bound/cuts/chunk_count.h"

#include <algorithm>

namespace tacos {
namespace {

class ChunkCounts {
 public:
  ChunkCounts(const Instance& instance, LinkModel model)
      : instance_(instance),
        model_(model),
        smallest_{instance.collective.chunks().size().count / instance.collective.num_chunks()},
        inside_(instance.network.num_nodes(), 0) {}

  void try_cut(const std::vector<NodeId>& receivers) {
    set_inside(receivers, 1);
    const std::int64_t chunks = chunks_into(inside_of(instance_, inside_));
    costs_.clear();
    for (const Link& link : instance_.network.links()) {
      if (inside_[link.src.index()] == 0 && inside_[link.dst.index()] != 0) {
        costs_.push_back(link_cost(link, smallest_, model_));
      }
    }
    set_inside(receivers, 0);
    if (improve(chunks)) {
      best_ = receivers;
    }
  }

  void try_single(NodeId node, bool receives) {
    const Inside self{1, instance_.shard[node.index()], node == instance_.collective.root()};
    const Inside rest{
        instance_.num_participants() - 1, instance_.all_shards - self.shard_bytes, !self.root};
    const Topology& network = instance_.network;
    costs_.clear();
    for (const LinkId id : receives ? network.in_links(node) : network.out_links(node)) {
      costs_.push_back(link_cost(network.link(id), smallest_, model_));
    }
    if (!improve(chunks_into(receives ? self : rest))) {
      return;
    }
    best_.clear();
    for (std::uint32_t other = 0; other < network.num_nodes(); ++other) {
      if ((NodeId(other) == node) == receives) {
        best_.emplace_back(other);
      }
    }
  }

  [[nodiscard]] std::optional<Certificate> best() const {
    if (chunks_ == 0) {
      return std::nullopt;
    }
    Certificate certificate = cut_certificate(instance_, best_);
    certificate.kind = CertificateKind::kChunkCount;
    certificate.link_model = model_;
    certificate.bytes = chunks_;
    certificate.time = time_;
    return certificate;
  }

 private:
  void set_inside(const std::vector<NodeId>& nodes, std::uint8_t value) {
    for (const NodeId node : nodes) {
      inside_[node.index()] = value;
    }
  }

  [[nodiscard]] std::int64_t chunks_into(const Inside& inside) const {
    if (bytes_into(instance_, inside) == 0) {
      return 0;
    }
    const bool whole = traits(instance_.collective.kind()).chunks_per == ChunksPer::kBuffer;
    return whole ? std::int64_t{instance_.collective.num_chunks()}
                 : (instance_.num_participants() - inside.participants) *
                       instance_.collective.chunk_argument();
  }

  [[nodiscard]] bool enough(std::int64_t time, std::int64_t chunks) const {
    Int128 carried = 0;
    for (const LinkCost& cost : costs_) {
      carried += time < cost.arrival.ps ? 0 : (time - cost.arrival.ps) / cost.busy.ps + 1;
    }
    return carried >= chunks;
  }

  /// Whether the links of costs_ need longer for the chunks than any cut before.
  bool improve(std::int64_t chunks) {
    if (chunks == 0 || enough(time_.ps, chunks)) {
      return false;
    }
    std::int64_t low = time_.ps;
    std::int64_t high = kMaxTime.ps;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (enough(middle, chunks) ? high : low) = middle;
    }
    time_ = Ticks{high};
    chunks_ = chunks;
    return true;
  }

  const Instance& instance_;
  LinkModel model_;
  Bytes smallest_;
  std::vector<std::uint8_t> inside_;
  std::vector<LinkCost> costs_;
  std::vector<NodeId> best_;
  Ticks time_;
  std::int64_t chunks_ = 0;
};

}  // namespace

std::optional<Certificate> best_chunk_count(const Instance& instance,
                                            LinkModel model,
                                            const std::vector<std::vector<NodeId>>& cuts) {
  ChunkCounts search(instance, model);
  for (const std::vector<NodeId>& receivers : cuts) {
    search.try_cut(receivers);
  }
  for (const NodeId node : instance.collective.participants()) {
    search.try_single(node, true);
    search.try_single(node, false);
  }
  return search.best();
}

}  // namespace tacos
