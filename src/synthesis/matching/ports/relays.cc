// SPDX-License-Identifier: MIT
#include "synthesis/matching/ports/relays.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <utility>

namespace tacos::matching {
namespace {

constexpr std::int64_t kUnreached = std::int64_t{1} << 62U;

/// Shortest times from every node to `to`, against the links (Dijkstra 1959).
void distances_to(std::uint32_t to, const PortNetwork& network, std::span<std::int64_t> distance) {
  using Entry = std::pair<std::int64_t, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::fill(distance.begin(), distance.end(), kUnreached);
  distance[to] = 0;
  queue.emplace(0, to);
  while (!queue.empty()) {
    const auto [far, node] = queue.top();
    queue.pop();
    if (far > distance[node]) {
      continue;
    }
    for (const std::uint32_t number : network.in_links(node)) {
      const PortLink& link = network.links()[number];
      const std::int64_t via = far + link.time();
      if (via < distance[link.src]) {
        distance[link.src] = via;
        queue.emplace(via, link.src);
      }
    }
  }
}

}  // namespace

Relays::Relays(const SpreadTask& task, const PortNetwork& network) {
  if (task.everyone) {
    return;
  }
  const auto num_npus = static_cast<std::uint32_t>(task.wanted.rows());
  num_npus_ = num_npus;
  distance_.resize(std::size_t{num_npus} * num_npus);
  std::vector<std::int64_t> to_one(network.num_nodes());
  for (std::uint32_t to = 0; to < num_npus; ++to) {
    distances_to(to, network, to_one);
    for (std::uint32_t from = 0; from < num_npus; ++from) {
      distance_[std::size_t{from} * num_npus + to] = to_one[from];
    }
  }
  lacking_ = BitMatrix(task.num_chunks, num_npus);
  nearest_.assign(std::size_t{task.num_chunks} * num_npus, kUnreached);
  for (std::uint32_t chunk = 0; chunk < task.num_chunks; ++chunk) {
    for (std::uint32_t npu = 0; npu < num_npus; ++npu) {
      if (task.wanted.test(npu, chunk)) {
        lacking_.set(chunk, npu);
      }
    }
  }
}

void Relays::claim(std::uint32_t npu, std::uint32_t chunk) {
  if (num_npus_ == 0) {
    return;
  }
  lacking_.reset(chunk, npu);
  std::int64_t* nearest = nearest_.data() + std::size_t{chunk} * num_npus_;
  const std::int64_t* distance = distance_.data() + std::size_t{npu} * num_npus_;
  for (std::uint32_t to = 0; to < num_npus_; ++to) {
    nearest[to] = std::min(nearest[to], distance[to]);
  }
}

bool Relays::useful(std::uint32_t npu, std::uint32_t chunk) const {
  const auto lacking = lacking_.row(chunk);
  const std::int64_t* nearest = nearest_.data() + std::size_t{chunk} * num_npus_;
  const std::int64_t* distance = distance_.data() + std::size_t{npu} * num_npus_;
  for (std::size_t word = 0; word < lacking.size(); ++word) {
    for (BitMatrix::Word bits = lacking[word]; bits != 0; bits &= bits - 1) {
      const std::size_t to =
          word * BitMatrix::kWordBits + static_cast<std::size_t>(std::countr_zero(bits));
      if (distance[to] < nearest[to]) {
        return true;
      }
    }
  }
  return false;
}

TransferBatch without_vain_relays(const TransferBatch& transfers,
                                  const SpreadTask& task,
                                  const PortNetwork& network) {
  const auto receiver = [&](const Transfer& transfer) {
    return network.link(transfer.links.back()).dst;
  };
  // Backwards: what a kept transfer sends was needed by its sender.
  BitMatrix needed = task.wanted;
  std::vector<bool> kept(transfers.size(), false);
  for (std::size_t i = transfers.size(); i-- > 0;) {
    const Transfer transfer = transfers[i];
    const std::uint32_t src = network.link(transfer.links.front()).src;
    for (const ChunkId chunk : transfer.chunks) {
      if (needed.test(receiver(transfer), chunk.index())) {
        needed.set(src, chunk.index());
        kept[i] = true;
      }
    }
  }
  TransferBatch batch;
  std::vector<ChunkId> chunks;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    if (!kept[i]) {
      continue;
    }
    Transfer transfer = transfers[i];
    chunks.assign(transfer.chunks.begin(), transfer.chunks.end());
    std::erase_if(chunks,
                  [&](ChunkId chunk) { return !needed.test(receiver(transfer), chunk.index()); });
    transfer.chunks = chunks;
    batch.append(transfer);
  }
  return batch;
}

}  // namespace tacos::matching
