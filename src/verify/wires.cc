// SPDX-License-Identifier: MIT
#include "verify/wires.h"

#include <algorithm>

#include <fmt/format.h>

namespace tacos {

Wires::Wires(const Topology& topology,
             const ChunkTable& chunks,
             LinkModel model,
             Violations& violations)
    : topology_(topology),
      chunks_(chunks),
      num_chunks_(chunks.count()),
      num_simple_(chunks.by_rule() ? num_chunks_ : 0),
      equal_sizes_(num_simple_ == 0 || chunks.size().count % num_chunks_ == 0),
      sizes_{chunks.max_bytes(), Bytes{chunks.max_bytes().count - (equal_sizes_ ? 0 : 1)}},
      violations_(violations) {
  if (!equal_sizes_) {
    smaller_ = BitMatrix(1, num_chunks_);
    for (std::uint32_t chunk = 0; chunk < chunks.count(); ++chunk) {
      if (chunks.bytes(ChunkId(chunk)) == sizes_[1]) {
        smaller_.set(0, chunk);
      }
    }
  }
  wires_.reserve(topology.num_links());
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    const Link& link = topology.link(LinkId(id));
    const bool failed = topology.failed(LinkId(id));
    wires_.push_back({.free_at = {},
                      .latency = link.latency,
                      .held = model == LinkModel::kHold ? link.latency : link.gap,
                      .serialization = {serialization_time(sizes_[0], link.bandwidth),
                                        serialization_time(sizes_[1], link.bandwidth)},
                      .src = link.src,
                      .dst = link.dst,
                      .direct = !failed && topology.is_npu(link.src) && topology.is_npu(link.dst),
                      .failed = failed});
  }
}

void Wires::begin(Pass pass) {
  pass_ = pass;
  clock_ = {};
}

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
  const Bytes bytes = load(transfer.chunks);
  Ticks latency;
  Ticks slowest;
  for (const LinkId link : transfer.links) {
    latency = std::min(kMaxTime, latency + wires_[link.index()].latency);
    slowest = std::max(slowest, serialization(link, bytes));
  }
  // Two times add up without overflow only while one is below kMaxTime.
  if (latency == kMaxTime || latency + slowest > kMaxTime - transfer.start) {
    reject(transfer, index, [] {
      return fmt::format("ends after {} ps, the latest time there is", kMaxTime.ps);
    });
    return std::nullopt;
  }
  clock_ = transfer.start;
  return Flight{wires_[transfer.links.front().index()].src,
                wires_[transfer.links.back().index()].dst,
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
    if (link.index() >= wires_.size()) {
      reject(transfer, index, [&] {
        return fmt::format(
            "link {} does not exist; the network has {} links", link.value(), wires_.size());
      });
      return false;
    }
    if (wires_[link.index()].failed) {
      reject(transfer, index, [&] { return fmt::format("link {} has failed", link.value()); });
      return false;
    }
  }
  for (const ChunkId chunk : transfer.chunks) {
    if (chunk.value() >= num_chunks_) {
      reject(transfer, index, [&] {
        return fmt::format(
            "chunk {} does not exist; the collective has {} chunks", chunk.value(), num_chunks_);
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
  const NodeId first = wires_[transfer.links.front().index()].src;
  const NodeId last = wires_[transfer.links.back().index()].dst;
  for (std::size_t i = 1; i < transfer.links.size(); ++i) {
    const NodeId from = wires_[transfer.links[i - 1].index()].dst;
    const NodeId to = wires_[transfer.links[i].index()].src;
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
    if (topology_.is_npu(from) && !topology_.npus_forward()) {
      reject(transfer, index, [&] {
        return fmt::format("the route passes through {}; only switches forward without holding",
                           violations_.name(from));
      });
      return false;
    }
  }
  if (!topology_.is_npu(first)) {
    reject(transfer, index, [&] {
      return fmt::format("begins at {}, which holds no data", violations_.name(first));
    });
    return false;
  }
  if (!topology_.is_npu(last)) {
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

Bytes Wires::load(std::span<const ChunkId> chunks) const {
  // Chunks listed once add up to no more than the buffer.
  Bytes bytes;
  for (const ChunkId chunk : chunks) {
    bytes.count += num_simple_ == 0 ? chunks_.bytes(chunk).count : sizes_[size_class(chunk)].count;
  }
  return bytes;
}

Ticks Wires::serialization(LinkId link, Bytes bytes) const {
  for (std::size_t size = 0; size < sizes_.size(); ++size) {
    if (bytes == sizes_[size]) {
      return wires_[link.index()].serialization[size];
    }
  }
  return serialization_time(bytes, topology_.link(link).bandwidth);
}

void Wires::occupy(const Transfer& transfer, std::uint64_t index) {
  enter_until(transfer.start);
  const Bytes bytes = load(transfer.chunks);
  Ticks at = transfer.start;
  for (std::size_t i = 0; i < transfer.links.size(); ++i) {
    const LinkId link = transfer.links[i];
    Wire& wire = wires_[link.index()];
    const Ticks busy = serialization(link, bytes) + wire.held;
    if (i > 0) {
      entries_.push(transfer.start, {at, busy, index, link});
    } else {
      if (at < wire.free_at) {
        violations_.add(transfer, index, [&] {
          return fmt::format("link {} is busy until {} ps", link.value(), wire.free_at.ps);
        });
      }
      wire.free_at = std::max(wire.free_at, at + busy);
    }
    at += wire.latency;
  }
}

void Wires::enter_until(Ticks time) {
  while (entries_.next_time() <= time) {
    entries_.take_next(entering_);
    for (const Entry& entry : entering_) {
      Wire& wire = wires_[entry.link.index()];
      if (entry.time < wire.free_at) {
        violations_.add([&] {
          return fmt::format("transfer {} reaches {} at {} ps, but the link is busy until {} ps",
                             entry.transfer,
                             violations_.name(entry.link),
                             entry.time.ps,
                             wire.free_at.ps);
        });
      }
      wire.free_at = std::max(wire.free_at, entry.time + entry.busy);
    }
  }
}

}  // namespace tacos
