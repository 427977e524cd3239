// SPDX-License-Identifier: MIT
#include "verify/wire_table.h"

#include <algorithm>

namespace tacos {

WireTable::WireTable(const Topology& topology, const ChunkTable& chunks, LinkModel model)
    : topology_(topology),
      chunks_(chunks),
      num_chunks_(chunks.count()),
      num_simple_(chunks.by_rule() ? num_chunks_ : 0),
      equal_sizes_(num_simple_ == 0 || chunks.size().count % num_chunks_ == 0),
      sizes_{chunks.max_bytes(), Bytes{chunks.max_bytes().count - (equal_sizes_ ? 0 : 1)}} {
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
    wires_.push_back({.latency = link.latency,
                      .held = model == LinkModel::kHold ? link.latency : link.gap,
                      .serialization = {serialization_time(sizes_[0], link.bandwidth),
                                        serialization_time(sizes_[1], link.bandwidth)},
                      .src = link.src,
                      .dst = link.dst,
                      .direct = !failed && topology.is_npu(link.src) && topology.is_npu(link.dst),
                      .failed = failed});
  }
  number_times();
}

void WireTable::number_times() {
  const auto for_each_time = [this](const auto& visit) {
    for (Wire& wire : wires_) {
      for (std::size_t size = 0; size < sizes_.size(); ++size) {
        visit(wire.latency + wire.serialization[size], wire.duration[size]);
        visit(wire.held + wire.serialization[size], wire.busy[size]);
      }
    }
  };
  for_each_time([this](Ticks time, std::uint32_t& /*number*/) { times_.push_back(time); });
  std::sort(times_.begin(), times_.end());
  times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
  for_each_time([this](Ticks time, std::uint32_t& number) {
    number = static_cast<std::uint32_t>(std::lower_bound(times_.begin(), times_.end(), time) -
                                        times_.begin());
  });
}

Bytes WireTable::load(std::span<const ChunkId> chunks) const {
  // Chunks listed once add up to no more than the buffer.
  Bytes bytes;
  for (const ChunkId chunk : chunks) {
    bytes.count += num_simple_ == 0 ? chunks_.bytes(chunk).count : sizes_[size_class(chunk)].count;
  }
  return bytes;
}

Ticks WireTable::serialization(LinkId link, Bytes bytes) const {
  for (std::size_t size = 0; size < sizes_.size(); ++size) {
    if (bytes == sizes_[size]) {
      return wires_[link.index()].serialization[size];
    }
  }
  return serialization_time(bytes, topology_.link(link).bandwidth);
}

}  // namespace tacos
