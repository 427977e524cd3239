// SPDX-License-Identifier: MIT
#include "repair/reroute.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <queue>
#include <span>
#include <tuple>
#include <utility>

namespace tacos::repairing {
namespace {

constexpr std::uint32_t kNew = kAddedTransfer;
constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
constexpr Ticks kNever = kMaxTime;

class Rerouter {
 public:
  Rerouter(const Topology& topology,
           const Collective& collective,
           LinkModel model,
           const Copies& copies)
      : topology_(topology),
        collective_(collective),
        model_(model),
        copies_(copies),
        participant_(topology.num_npus(), kNobody),
        load_(topology.num_links()),
        arrival_(topology.num_npus(), kNever),
        distance_(topology.num_nodes(), kNever),
        next_link_(topology.num_nodes()) {
    const auto participants = collective.participants();
    for (std::uint32_t i = 0; i < participants.size(); ++i) {
      participant_[participants[i].index()] = i;
    }
  }

  std::optional<Rerouted> run() {
    find_broken();
    measure_loads();
    for (const ChunkId chunk : broken_) {
      if (!mend(chunk)) {
        return std::nullopt;
      }
    }
    return assemble();
  }

 private:
  /// A transfer of a chunk that is mended: one of before, or a new one with `links_` of its own.
  struct Leg {
    Ticks start;
    std::uint32_t transfer = kNew;
    std::uint32_t first_link = 0;
    std::uint32_t num_links = 0;
    NodeId src;
    NodeId dst;
    ChunkId chunk;
  };

  [[nodiscard]] std::span<const LinkId> links_of(const Leg& leg) const {
    return leg.transfer == kNew ? std::span(links_).subspan(leg.first_link, leg.num_links)
                                : copies_.transfers[leg.transfer].links;
  }
  [[nodiscard]] bool works(const Transfer& transfer) const {
    return std::none_of(transfer.links.begin(), transfer.links.end(), [&](LinkId link) {
      return topology_.failed(link);
    });
  }
  [[nodiscard]] bool has_at_first(ChunkId chunk, std::uint32_t participant) const {
    return copies_.reading == Reading::kForwards ? collective_.starts_with(chunk, participant)
                                                 : collective_.ends_with(chunk, participant);
  }
  [[nodiscard]] bool needs(ChunkId chunk, NodeId npu) const {
    const std::uint32_t participant = participant_[npu.index()];
    return participant != kNobody &&
           (copies_.reading == Reading::kForwards ? collective_.ends_with(chunk, participant)
                                                  : collective_.starts_with(chunk, participant));
  }

  /// The chunks that crossed links that do not work, those that are late first.
  void find_broken() {
    is_broken_.assign(collective_.num_chunks(), copies_.is_part);
    for (std::uint32_t chunk = 0; copies_.is_part && chunk < collective_.num_chunks(); ++chunk) {
      broken_.emplace_back(chunk);
    }
    std::vector<std::uint32_t> dead;
    for (std::uint32_t link = 0; link < topology_.num_links(); ++link) {
      if (topology_.failed(LinkId(link))) {
        const auto uses = copies_.of_link[link];
        dead.insert(dead.end(), uses.begin(), uses.end());
      }
    }
    std::sort(dead.begin(), dead.end());
    for (const std::uint32_t transfer : dead) {
      for (const ChunkId chunk : copies_.transfers[transfer].chunks) {
        if (!is_broken_[chunk.index()]) {
          is_broken_[chunk.index()] = true;
          broken_.push_back(chunk);
        }
      }
    }
  }

  void measure_loads() {
    for (std::size_t i = 0; i < copies_.transfers.size(); ++i) {
      const Transfer transfer = copies_.transfers[i];
      if (works(transfer)) {
        const Bytes bytes = collective_.chunks().bytes(transfer.chunks);
        for (const LinkId link : transfer.links) {
          load_[link.index()] += link_cost(topology_.link(link), bytes, model_).busy;
        }
      }
    }
  }
  void add_load(std::span<const LinkId> links, ChunkId chunk, std::int64_t sign) {
    for (const LinkId link : links) {
      load_[link.index()].ps += sign * cost(link, chunk).busy.ps;
    }
  }
  [[nodiscard]] LinkCost cost(LinkId link, ChunkId chunk) const {
    return link_cost(topology_.link(link), collective_.chunks().bytes(chunk), model_);
  }

  bool mend(ChunkId chunk) {
    std::fill(arrival_.begin(), arrival_.end(), kNever);
    for (std::uint32_t i = 0; i < collective_.num_participants(); ++i) {
      if (has_at_first(chunk, i)) {
        arrival_[collective_.participants()[i].index()] =
            copies_.since.empty() ? Ticks{} : copies_.since[chunk.index()];
      }
    }
    const std::size_t first = legs_.size();
    waiting_.clear();
    std::vector<NodeId> lost;
    for (const std::uint32_t i : copies_.of_chunk[chunk.index()]) {
      const Transfer transfer = copies_.transfers[i];
      const NodeId dst = topology_.link(transfer.links.back()).dst;
      if (works(transfer)) {
        waiting_.push_back({.start = transfer.start,
                            .transfer = i,
                            .src = topology_.link(transfer.links.front()).src,
                            .dst = dst,
                            .chunk = chunk});
      } else {
        lost.push_back(dst);
      }
    }
    send_on();
    const auto get = [&](NodeId npu) {
      if (arrival_[npu.index()] != kNever) {
        return true;
      }
      if (!bring(chunk, npu)) {
        return !needs(chunk, npu);
      }
      send_on();
      return true;
    };
    if (!std::all_of(lost.begin(), lost.end(), get)) {
      return false;
    }
    const auto all = collective_.participants();
    if (!std::all_of(
            all.begin(), all.end(), [&](NodeId npu) { return !needs(chunk, npu) || get(npu); })) {
      return false;
    }
    for (const Leg& leg : waiting_) {
      add_load(links_of(leg), chunk, -1);
    }
    leave_out_useless(chunk, first);
    return true;
  }

  /// Keeps the transfers whose senders have the chunk and whose receivers lack it.
  void send_on() {
    std::size_t left = 0;
    for (Leg leg : waiting_) {
      if (arrival_[leg.src.index()] == kNever || arrival_[leg.dst.index()] != kNever) {
        waiting_[left++] = leg;
        continue;
      }
      add_leg(leg);
    }
    waiting_.resize(left);
  }
  void add_leg(Leg leg) {
    leg.start = std::max(leg.start, arrival_[leg.src.index()]);
    arrival_[leg.dst.index()] =
        leg.start + route_time(topology_, links_of(leg), collective_.chunks().bytes(leg.chunk));
    legs_.push_back(leg);
  }

  /// Gets the chunk to the NPU from one that has it, by way of others where it must be.
  bool bring(ChunkId chunk, NodeId npu) {
    const std::optional<NodeId> from = nearest(chunk, npu);
    if (!from) {
      return false;
    }
    for (NodeId at = *from; at != npu;) {
      Leg leg{.start = {},
              .transfer = kNew,
              .first_link = static_cast<std::uint32_t>(links_.size()),
              .src = at,
              .dst = at,
              .chunk = chunk};
      do {
        const LinkId link = next_link_[at.index()];
        links_.push_back(link);
        at = topology_.link(link).dst;
      } while (!topology_.is_npu(at));
      leg.num_links = static_cast<std::uint32_t>(links_.size()) - leg.first_link;
      leg.dst = at;
      add_load(links_of(leg), chunk, 1);
      add_leg(leg);
    }
    return true;
  }

  /// Dijkstra against the links; `next_link_` then leads from the result to the NPU.
  std::optional<NodeId> nearest(ChunkId chunk, NodeId npu) {
    using Entry = std::tuple<Ticks, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    std::vector<NodeId> touched{npu};
    distance_[npu.index()] = {};
    queue.emplace(Ticks{}, npu);
    std::optional<NodeId> best;
    Ticks least = kNever;
    while (!queue.empty()) {
      const auto [far, node] = queue.top();
      queue.pop();
      if (far >= least) {
        break;
      }
      if (far > distance_[node.index()]) {
        continue;
      }
      if (topology_.is_npu(node) && arrival_[node.index()] != kNever) {
        if (const Ticks total = far + arrival_[node.index()]; total < least) {
          least = total;
          best = node;
        }
        continue;
      }
      for (const LinkId link : topology_.in_links(node)) {
        const NodeId src = topology_.link(link).src;
        const Ticks there = far + load_[link.index()] + cost(link, chunk).arrival;
        if (there < distance_[src.index()]) {
          if (distance_[src.index()] == kNever) {
            touched.push_back(src);
          }
          distance_[src.index()] = there;
          next_link_[src.index()] = link;
          queue.emplace(there, src);
        }
      }
    }
    for (const NodeId node : touched) {
      distance_[node.index()] = kNever;
    }
    return best;
  }

  /// From the last to the first, what brings the chunk to somebody who neither needs it nor sends
  /// it on. They are in an order in which senders come first.
  void leave_out_useless(ChunkId chunk, std::size_t first) {
    std::vector<bool>& sends = sends_;
    sends.assign(topology_.num_npus(), false);
    std::vector<Leg> useful;
    useful.reserve(legs_.size() - first);
    for (std::size_t i = legs_.size(); i-- > first;) {
      const Leg& leg = legs_[i];
      if (needs(chunk, leg.dst) || sends[leg.dst.index()]) {
        sends[leg.src.index()] = true;
        useful.push_back(leg);
      } else {
        add_load(links_of(leg), chunk, -1);
      }
    }
    legs_.resize(first);
    legs_.insert(legs_.end(), useful.rbegin(), useful.rend());
  }

  /// All transfers by their start. Chunks that are as early as they were stay in their transfers;
  /// those that are late have others, together where they take the same links at one time.
  Rerouted assemble() {
    std::vector<std::pair<std::uint32_t, ChunkId>> staying;
    std::vector<Leg> late;
    for (const Leg& leg : legs_) {
      if (leg.transfer != kNew && leg.start == copies_.transfers[leg.transfer].start) {
        staying.emplace_back(leg.transfer, leg.chunk);
      } else {
        late.push_back(leg);
      }
    }
    std::sort(staying.begin(), staying.end());
    std::sort(late.begin(), late.end(), [&](const Leg& a, const Leg& b) { return before(a, b); });
    Rerouted result;
    std::size_t next = 0;
    std::vector<ChunkId> chunks;
    for (std::uint32_t i = 0; i < copies_.transfers.size(); ++i) {
      Transfer transfer = copies_.transfers[i];
      chunks.clear();
      std::copy_if(transfer.chunks.begin(),
                   transfer.chunks.end(),
                   std::back_inserter(chunks),
                   [&](ChunkId chunk) {
                     return !is_broken_[chunk.index()] ||
                            std::binary_search(staying.begin(), staying.end(), std::pair(i, chunk));
                   });
      if (!chunks.empty()) {
        next = append_late(late, next, transfer.start, result);
        transfer.op = Op::kCopy;
        transfer.chunks = chunks;
        result.transfers.append(transfer);
        result.from.push_back(i);
        ++result.kept;
      }
    }
    append_late(late, next, kNever, result);
    return result;
  }
  /// By start, links, and whether they are new.
  [[nodiscard]] bool before(const Leg& a, const Leg& b) const {
    if (a.start != b.start) {
      return a.start < b.start;
    }
    const auto one = links_of(a);
    const auto other = links_of(b);
    if (!std::equal(one.begin(), one.end(), other.begin(), other.end())) {
      return std::lexicographical_compare(one.begin(), one.end(), other.begin(), other.end());
    }
    return std::pair(a.transfer == kNew, a.chunk) < std::pair(b.transfer == kNew, b.chunk);
  }
  [[nodiscard]] bool share(const Leg& a, const Leg& b) const {
    const auto one = links_of(a);
    const auto other = links_of(b);
    return a.start == b.start && (a.transfer == kNew) == (b.transfer == kNew) &&
           std::equal(one.begin(), one.end(), other.begin(), other.end());
  }
  /// Those that start before `until`; returns the first that does not.
  std::size_t append_late(std::span<const Leg> late,
                          std::size_t next,
                          Ticks until,
                          Rerouted& result) const {
    std::vector<ChunkId> chunks;
    while (next < late.size() && late[next].start < until) {
      const Leg& first = late[next];
      chunks.clear();
      for (; next < late.size() && share(first, late[next]); ++next) {
        chunks.push_back(late[next].chunk);
      }
      ++(first.transfer == kNew ? result.added : result.kept);
      result.transfers.append(
          {.start = first.start, .op = Op::kCopy, .links = links_of(first), .chunks = chunks});
      result.from.push_back(kAddedTransfer);
    }
    return next;
  }

  const Topology& topology_;
  const Collective& collective_;
  LinkModel model_;
  const Copies& copies_;
  /// Number of each NPU that takes part.
  std::vector<std::uint32_t> participant_;
  std::vector<bool> is_broken_;
  std::vector<ChunkId> broken_;
  /// How long each link is busy with all that it has to carry.
  std::vector<Ticks> load_;
  /// When an NPU has the chunk that is mended, or kNever.
  std::vector<Ticks> arrival_;
  std::vector<Ticks> distance_;
  std::vector<LinkId> next_link_;
  std::vector<bool> sends_;
  /// Transfers of before whose senders lack the chunk so far.
  std::vector<Leg> waiting_;
  std::vector<Leg> legs_;
  std::vector<LinkId> links_;
};

}  // namespace

Copies index_copies(const Topology& topology,
                    const Collective& collective,
                    TransferBatch transfers,
                    Reading reading) {
  Copies copies;
  copies.reading = reading;
  copies.transfers = std::move(transfers);
  copies.of_chunk = {collective.num_chunks(), [&](const auto& add) {
                       for (std::uint32_t i = 0; i < copies.transfers.size(); ++i) {
                         for (const ChunkId chunk : copies.transfers[i].chunks) {
                           add(chunk.index(), i);
                         }
                       }
                     }};
  copies.of_link = {topology.num_links(), [&](const auto& add) {
                      for (std::uint32_t i = 0; i < copies.transfers.size(); ++i) {
                        for (const LinkId link : copies.transfers[i].links) {
                          add(link.index(), i);
                        }
                      }
                    }};
  return copies;
}

std::optional<Rerouted> reroute(const Topology& topology,
                                const Collective& collective,
                                LinkModel model,
                                const Copies& copies) {
  return Rerouter(topology, collective, model, copies).run();
}

}  // namespace tacos::repairing
