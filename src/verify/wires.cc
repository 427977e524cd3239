// SPDX-License-Identifier: MIT
#include "verify/wires.h"

#include <algorithm>

#include <fmt/format.h>

namespace tacos {

std::optional<Flight> Wires::check(const Transfer& transfer, std::uint64_t index) {
  if (!well_formed(transfer, index) || !is_route(transfer, index)) {
    return std::nullopt;
  }
  if (transfer.start.ps < 0) {
    reject(transfer, index, [] { return "starts before time 0"; });
    return std::nullopt;
  }
  if (transfer.start < clock_) {
    reject(transfer, index, [&] {
      return fmt::format("transfers must come in start order, but one before it starts at {} ps",
                         clock_.ps);
    });
    return std::nullopt;
  }
  const Bytes bytes = table_.load(transfer.chunks);
  Ticks latency;
  Ticks slowest;
  for (const LinkId link : transfer.links) {
    latency = std::min(kMaxTime, latency + table_[link].latency);
    slowest = std::max(slowest, table_.serialization(link, bytes));
  }
  // Two times add up without overflow only while one is below kMaxTime.
  if (latency == kMaxTime || latency + slowest > kMaxTime - transfer.start) {
    reject(transfer, index, [] {
      return fmt::format("ends after {} ps, the latest time there is", kMaxTime.ps);
    });
    return std::nullopt;
  }
  clock_ = transfer.start;
  return Flight{table_[transfer.links.front()].src,
                table_[transfer.links.back()].dst,
                transfer.start + latency + slowest};
}

bool Wires::well_formed(const Transfer& transfer, std::uint64_t index) {
  if (transfer.links.empty()) {
    reject(transfer, index, [] { return "takes no link"; });
    return false;
  }
  if (transfer.chunks.empty()) {
    reject(transfer, index, [] { return "moves no chunk"; });
    return false;
  }
  for (const LinkId link : transfer.links) {
    if (link.index() >= table_.num_links()) {
      reject(transfer, index, [&] {
        return fmt::format(
            "link {} does not exist; the network has {} links", link.value(), table_.num_links());
      });
      return false;
    }
    if (table_[link].failed) {
      reject(transfer, index, [&] { return fmt::format("link {} has failed", link.value()); });
      return false;
    }
  }
  for (const ChunkId chunk : transfer.chunks) {
    if (chunk.value() >= table_.num_chunks()) {
      reject(transfer, index, [&] {
        return fmt::format("chunk {} does not exist; the collective has {} chunks",
                           chunk.value(),
                           table_.num_chunks());
      });
      return false;
    }
  }
  if (lists_twice(transfer.chunks)) {
    reject(transfer, index, [] { return "lists a chunk twice"; });
    return false;
  }
  return true;
}

bool Wires::is_route(const Transfer& transfer, std::uint64_t index) {
  const NodeId first = table_[transfer.links.front()].src;
  const NodeId last = table_[transfer.links.back()].dst;
  for (std::size_t i = 1; i < transfer.links.size(); ++i) {
    const NodeId from = table_[transfer.links[i - 1]].dst;
    const NodeId to = table_[transfer.links[i]].src;
    if (from != to) {
      reject(transfer, index, [&] {
        return fmt::format("the route is broken: link {} ends at {}, but link {} begins at {}",
                           transfer.links[i - 1].value(),
                           violations_.name(from),
                           transfer.links[i].value(),
                           violations_.name(to));
      });
      return false;
    }
    if (table_.topology().is_npu(from) && !table_.topology().npus_forward()) {
      reject(transfer, index, [&] {
        return fmt::format("the route passes through {}; only switches forward without holding",
                           violations_.name(from));
      });
      return false;
    }
  }
  if (!table_.topology().is_npu(first)) {
    reject(transfer, index, [&] {
      return fmt::format("begins at {}, which holds no data", violations_.name(first));
    });
    return false;
  }
  if (!table_.topology().is_npu(last)) {
    reject(transfer, index, [&] {
      return fmt::format("ends at {}, which holds no data", violations_.name(last));
    });
    return false;
  }
  return true;
}

bool Wires::lists_twice(std::span<const ChunkId> chunks) {
  const auto not_ascending = [](ChunkId a, ChunkId b) { return a >= b; };
  if (std::adjacent_find(chunks.begin(), chunks.end(), not_ascending) == chunks.end()) {
    return false;
  }
  sorted_.assign(chunks.begin(), chunks.end());
  std::sort(sorted_.begin(), sorted_.end());
  return std::adjacent_find(sorted_.begin(), sorted_.end()) != sorted_.end();
}

}  // namespace tacos
