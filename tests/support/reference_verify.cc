// SPDX-License-Identifier: MIT
#include "support/reference_verify.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <tuple>

namespace tacos::test {
namespace {

/// How often each participant's contribution is in it; empty: nothing is there.
using Value = std::vector<std::uint64_t>;

struct Interval {
  std::int64_t begin;
  std::int64_t end;
};

/// A transfer of one chunk, with the value it carries once it has started.
struct Move {
  std::int64_t start;
  std::int64_t end;
  Op op;
  std::uint32_t src;
  std::uint32_t dst;
  std::uint32_t chunk;
  Value value;
};

bool makes_sense(const Topology& topology,
                 const Collective& collective,
                 const ListedTransfer& transfer) {
  if (transfer.links.empty() || transfer.chunks.empty() || transfer.start < 0) {
    return false;
  }
  if (std::set(transfer.chunks.begin(), transfer.chunks.end()).size() != transfer.chunks.size()) {
    return false;
  }
  for (const std::uint32_t chunk : transfer.chunks) {
    if (chunk >= collective.num_chunks()) {
      return false;
    }
  }
  for (std::size_t i = 0; i < transfer.links.size(); ++i) {
    if (transfer.links[i] >= topology.num_links() || topology.failed(LinkId(transfer.links[i]))) {
      return false;
    }
    const Link& link = topology.link(LinkId(transfer.links[i]));
    const bool first = i == 0;
    const bool last = i + 1 == transfer.links.size();
    const auto is_end = [&](NodeId node, bool end) {
      return topology.is_npu(node) == end || (!end && topology.npus_forward());
    };
    if (!is_end(link.src, first) || !is_end(link.dst, last)) {
      return false;
    }
    if (!first && topology.link(LinkId(transfer.links[i - 1])).dst != link.src) {
      return false;
    }
  }
  return true;
}

/// The value after an arrival.
Value combined(const Value& before, const Move& move) {
  if (move.op == Op::kCopy || before.empty()) {
    return move.value;
  }
  Value sum = before;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    sum[i] += move.value[i];
  }
  return sum;
}

class Reference {
 public:
  Reference(const Topology& topology, const Collective& collective, LinkModel model)
      : topology_(topology),
        collective_(collective),
        model_(model),
        busy_(topology.num_links()),
        places_(topology.num_npus(), std::vector<Value>(collective.num_chunks())) {
    for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
      for (std::uint32_t c = 0; c < collective.num_chunks(); ++c) {
        if (collective.starts_with(ChunkId(c), p)) {
          Value& value = places_[collective.participants()[p].index()][c];
          value.assign(collective.num_participants(), 0);
          value[contributor(c, p)] = 1;
        }
      }
    }
  }

  void add(const ListedTransfer& transfer) {
    Bytes bytes;
    for (const std::uint32_t chunk : transfer.chunks) {
      bytes.count += collective_.chunks().bytes(ChunkId(chunk)).count;
    }
    std::int64_t head = transfer.start;
    std::int64_t slowest = 0;
    for (const std::uint32_t id : transfer.links) {
      const Link& link = topology_.link(LinkId(id));
      const std::int64_t own = serialization_time(bytes, link.bandwidth).ps;
      busy_[id].push_back(
          {head, head + own + (model_ == LinkModel::kHold ? link.latency : link.gap).ps});
      head += link.latency.ps;
      slowest = std::max(slowest, own);
    }
    for (const std::uint32_t chunk : transfer.chunks) {
      moves_.push_back({transfer.start,
                        head + slowest,
                        transfer.op,
                        topology_.link(LinkId(transfer.links.front())).src.value(),
                        topology_.link(LinkId(transfer.links.back())).dst.value(),
                        chunk,
                        {}});
    }
  }

  [[nodiscard]] bool links_are_free() const {
    for (const std::vector<Interval>& intervals : busy_) {
      for (std::size_t a = 0; a < intervals.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
          if (intervals[a].begin < intervals[b].end && intervals[b].begin < intervals[a].end) {
            return false;
          }
        }
      }
    }
    return true;
  }

  /// Replays starts and arrivals sorted by time, arrivals first.
  bool data_flows() {
    std::vector<std::tuple<std::int64_t, int, std::size_t>> events;
    for (std::size_t i = 0; i < moves_.size(); ++i) {
      events.emplace_back(moves_[i].end, 0, i);
      events.emplace_back(moves_[i].start, 1, i);
    }
    std::sort(events.begin(), events.end());
    for (const auto& [time, is_start, i] : events) {
      Move& move = moves_[i];
      if (is_start == 1) {
        move.value = places_[move.src][move.chunk];
        if (move.value.empty() ||
            (move.op == Op::kReduce && !collective_.reduces(ChunkId(move.chunk)))) {
          return false;
        }
      } else if (!arrive(move)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool ends_well() const {
    for (std::uint32_t p = 0; p < collective_.num_participants(); ++p) {
      for (std::uint32_t c = 0; c < collective_.num_chunks(); ++c) {
        Value expected(collective_.num_participants(), 0);
        for (std::uint32_t q = 0; q < collective_.num_participants(); ++q) {
          if (collective_.starts_with(ChunkId(c), q)) {
            expected[contributor(c, q)] = 1;
          }
        }
        if (collective_.ends_with(ChunkId(c), p) &&
            places_[collective_.participants()[p].index()][c] != expected) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  /// Whose contribution it is that a participant starts with: its own to a sum; a chunk that is
  /// copied is the same wherever it starts, and counts as that of the first who has it.
  [[nodiscard]] std::uint32_t contributor(std::uint32_t chunk, std::uint32_t participant) const {
    if (collective_.reduces(ChunkId(chunk))) {
      return participant;
    }
    std::uint32_t first = 0;
    while (!collective_.starts_with(ChunkId(chunk), first)) {
      ++first;
    }
    return first;
  }

  bool arrive(const Move& move) {
    Value& place = places_[move.dst][move.chunk];
    const Value after = combined(place, move);
    for (const Move& other : moves_) {
      const bool sends = other.src == move.dst && other.chunk == move.chunk &&
                         other.start < move.end && move.end < other.end;
      const bool meets = &other != &move && other.dst == move.dst && other.chunk == move.chunk &&
                         other.end == move.end;
      if ((sends && after != place) || (meets && other.op != move.op) ||
          (meets && move.op == Op::kCopy && other.value != move.value)) {
        return false;
      }
    }
    place = after;
    return true;
  }

  const Topology& topology_;
  const Collective& collective_;
  LinkModel model_;
  std::vector<std::vector<Interval>> busy_;
  std::vector<std::vector<Value>> places_;
  std::vector<Move> moves_;
};

}  // namespace

bool reference_valid(const Topology& topology,
                     const Collective& collective,
                     const std::vector<ListedTransfer>& transfers,
                     LinkModel model) {
  Reference reference(topology, collective, model);
  std::int64_t clock = 0;
  for (const ListedTransfer& transfer : transfers) {
    if (!makes_sense(topology, collective, transfer) || transfer.start < clock) {
      return false;
    }
    clock = transfer.start;
    reference.add(transfer);
  }
  return reference.links_are_free() && reference.data_flows() && reference.ends_well();
}

}  // namespace tacos::test
