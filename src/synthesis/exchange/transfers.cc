// SPDX-License-Identifier: MIT
#include "synthesis/exchange/transfers.h"

#include <algorithm>
#include <vector>

#include "replay/retime.h"

namespace tacos::exchange {
namespace {

/// The chunks of a message.
class ChunkList {
 public:
  explicit ChunkList(const Parts& parts) : each_(static_cast<std::uint64_t>(parts.chunks)) {}

  void clear() { chunks_.clear(); }
  void add(std::uint64_t part) {
    for (std::uint64_t i = part * each_; i < (part + 1) * each_; ++i) {
      chunks_.emplace_back(static_cast<std::uint32_t>(i));
    }
  }
  [[nodiscard]] std::span<const ChunkId> sorted() {
    std::sort(chunks_.begin(), chunks_.end());
    return chunks_;
  }

 private:
  std::uint64_t each_;
  std::vector<ChunkId> chunks_;
};

}  // namespace

TransferBatch transfers_of(const Moves& moves,
                           const Costs& costs,
                           Content content,
                           const Routine& routine,
                           const Parts& parts) {
  Cargo cargo(moves, content);
  Clock clock(moves, costs);
  TransferBatch batch;
  if (!cargo.load(routine) || !clock.time(routine, cargo, kLongest)) {
    return batch;
  }
  const Csr<std::uint32_t> beyond = cargo.beyond();
  const auto participant = [&](std::uint32_t role, std::uint32_t element) {
    return moves.layout().participant[role * moves.elements() + element];
  };
  ChunkList chunks(parts);
  for (std::size_t k = 0; k < routine.size(); ++k) {
    for (std::uint32_t element = 0; element < moves.elements() && cargo.num_parts(k) > 0;
         ++element) {
      const std::uint32_t to = moves.add(element, moves[routine[k].move].shift);
      chunks.clear();
      for (const std::uint32_t place : cargo.brought(k)) {
        const std::uint32_t home = moves.subtract(to, cargo.offset(place));
        const std::uint32_t owner = participant(cargo.owner_role(place), home);
        if (content == Content::kSame) {
          chunks.add(parts.of[owner]);
          continue;
        }
        for (const std::uint32_t other : beyond[place]) {
          const std::uint32_t destination =
              participant(cargo.role(other), moves.add(home, cargo.offset(other)));
          chunks.add(std::uint64_t{parts.of[owner]} * parts.of.size() + destination);
        }
      }
      batch.append({.start = {clock.start(k, element)},
                    .op = Op::kCopy,
                    .links = moves.route(routine[k].move, element),
                    .chunks = chunks.sorted()});
    }
  }
  return batch;
}

TransferBatch transfers_of(const Hops& hops,
                           Content content,
                           const FoundTree& tree,
                           const Parts& parts) {
  const Csr<std::uint32_t> through = reached_through(tree.tree, hops.size());
  TransferBatch batch;
  ChunkList chunks(parts);
  for (std::size_t i = 0; i < tree.tree.size(); ++i) {
    chunks.clear();
    if (content == Content::kSame) {
      chunks.add(0);
    } else {
      for (const std::uint32_t participant : through[tree.tree[i].to]) {
        chunks.add(parts.of[participant]);
      }
    }
    batch.append({.start = {tree.start[i]},
                  .op = Op::kCopy,
                  .links = hops.route(tree.tree[i].hop),
                  .chunks = chunks.sorted()});
  }
  return batch;
}

TransferBatch transfers_of(const Topology& topology,
                           const Collective& collective,
                           const Hops& hops,
                           const FoundSums& sums,
                           const Parts& parts) {
  TransferBatch batch;
  ChunkList chunks(parts);
  for (const SumMessage& message : sums.messages) {
    chunks.clear();
    chunks.add(parts.of[message.from]);
    const auto route = hops.route(message.hop);
    const Bytes bytes = collective.chunks().bytes(chunks.sorted());
    batch.append({.start = Ticks{message.end} - route_time(topology, route, bytes),
                  .op = Op::kReduce,
                  .links = route,
                  .chunks = chunks.sorted()});
  }
  return batch;
}

void append_later(const TransferBatch& transfers, Ticks delay, TransferBatch& out) {
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    Transfer one = transfers[i];
    one.start += delay;
    out.append(one);
  }
}

std::vector<Ticks> ends_of(const Topology& topology,
                           const Collective& collective,
                           const TransferBatch& transfers) {
  std::vector<Ticks> ends;
  ends.reserve(transfers.size());
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const Transfer one = transfers[i];
    ends.push_back(one.start +
                   route_time(topology, one.links, collective.chunks().bytes(one.chunks)));
  }
  return ends;
}

Schedule as_planned(const Topology& topology,
                    const Collective& collective,
                    const TransferBatch& transfers) {
  return replay::with_times(
      topology, transfers, transfers.starts(), ends_of(topology, collective, transfers));
}

}  // namespace tacos::exchange
