// SPDX-License-Identifier: MIT
#include "replay/retime.h"

#include <algorithm>
#include <vector>

#include "base/assert.h"
#include "replay/clocks.h"
#include "schedule/read_ahead.h"

namespace tacos::replay {

std::vector<std::uint32_t> start_order(const TransferBatch& transfers,
                                       std::span<const Ticks> start) {
  struct Key {
    Ticks start;
    LinkId link;
    std::uint32_t transfer = 0;

    auto operator<=>(const Key&) const = default;
  };
  std::vector<Key> keys(transfers.size());
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    keys[i] = {.start = start[i], .link = transfers[i].links.front(), .transfer = i};
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> order(keys.size());
  std::transform(
      keys.begin(), keys.end(), order.begin(), [](const Key& key) { return key.transfer; });
  return order;
}

Schedule retime(const Topology& topology,
                const Collective& collective,
                LinkModel model,
                const TransferBatch& planned,
                std::span<const Ticks> earliest) {
  Clocks clocks(topology, collective.num_chunks(), model, false);
  std::vector<Ticks> start(planned.size());
  std::vector<Ticks> end(planned.size());
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const Transfer transfer = planned[i];
    const NodeId src = topology.link(transfer.links.front()).src;
    const NodeId dst = topology.link(transfer.links.back()).dst;
    const Bytes bytes = collective.chunks().bytes(transfer.chunks);
    Made made{.number = i, .start = earliest.empty() ? Ticks{} : earliest[i]};
    for (const ChunkId chunk : transfer.chunks) {
      clocks.wait_for_data(clocks.place(src, chunk), made);
    }
    clocks.wait_for_links(transfer.links, made);
    clocks.occupy_links(transfer.links, bytes, {}, made);
    start[i] = made.start;
    end[i] = made.start + route_time(topology, transfer.links, bytes);
    for (const ChunkId chunk : transfer.chunks) {
      clocks.arrive(clocks.place(dst, chunk), end[i], i);
    }
  }
  return with_times(topology, planned, start, end);
}

Schedule with_times(const Topology& topology,
                    const TransferBatch& transfers,
                    std::span<const Ticks> start,
                    std::span<const Ticks> end) {
  ScheduleBuilder builder(topology.num_links());
  for (const std::uint32_t i : start_order(transfers, start)) {
    Transfer transfer = transfers[i];
    transfer.start = start[i];
    builder.append(transfer, end[i]);
  }
  return std::move(builder).build();
}

TransferBatch all_transfers(const Schedule& schedule) {
  TransferBatch all;
  const Status read = read_batches(schedule, 1, [&](const TransferBatch& batch) {
    all.append(batch, 0, batch.size());
    return ok();
  });
  TACOS_ASSERT(read.has_value(), "a schedule in memory is whole");
  return all;
}

TransferBatch mirrored(const Topology& topology,
                       const Collective& collective,
                       const TransferBatch& gather) {
  std::vector<Ticks> start(gather.size());
  Ticks last;
  for (std::size_t i = 0; i < gather.size(); ++i) {
    const Transfer transfer = gather[i];
    start[i] = transfer.start +
               route_time(topology, transfer.links, collective.chunks().bytes(transfer.chunks));
    last = std::max(last, start[i]);
  }
  for (Ticks& time : start) {
    time = last - time;
  }
  TransferBatch turned;
  std::vector<LinkId> links;
  for (const std::uint32_t i : start_order(gather, start)) {
    const Transfer transfer = gather[i];
    links.assign(transfer.links.rbegin(), transfer.links.rend());
    turned.append(
        {.start = start[i], .op = Op::kReduce, .links = links, .chunks = transfer.chunks});
  }
  return turned;
}

}  // namespace tacos::replay
