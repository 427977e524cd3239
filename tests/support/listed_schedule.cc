// SPDX-License-Identifier: MIT
#include "support/listed_schedule.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "schedule/source.h"

namespace tacos::test {
namespace {

template <class Id>
std::vector<Id> ids(const std::vector<std::uint32_t>& values) {
  std::vector<Id> made;
  made.reserve(values.size());
  for (const std::uint32_t value : values) {
    made.emplace_back(value);
  }
  return made;
}

class ListedCursor final : public TransferCursor {
 public:
  ListedCursor(const std::vector<ListedTransfer>& transfers, std::size_t batch_size)
      : transfers_(transfers), batch_size_(batch_size) {}

  [[nodiscard]] Status next(TransferBatch& batch) override {
    batch.clear();
    for (; next_ < transfers_.size() && batch.size() < batch_size_; ++next_) {
      const ListedTransfer& listed = transfers_[next_];
      const std::vector<LinkId> links = ids<LinkId>(listed.links);
      const std::vector<ChunkId> chunks = ids<ChunkId>(listed.chunks);
      batch.append(
          {.start = Ticks{listed.start}, .op = listed.op, .links = links, .chunks = chunks});
    }
    return ok();
  }

 private:
  const std::vector<ListedTransfer>& transfers_;
  std::size_t batch_size_;
  std::size_t next_ = 0;
};

class ListedSource final : public TransferSource {
 public:
  ListedSource(std::vector<ListedTransfer> transfers, std::size_t batch_size)
      : transfers_(std::move(transfers)), batch_size_(batch_size) {}

  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override {
    return std::make_unique<ListedCursor>(transfers_, batch_size_);
  }
  [[nodiscard]] std::size_t memory_bytes() const override {
    return transfers_.size() * sizeof(ListedTransfer);
  }

 private:
  std::vector<ListedTransfer> transfers_;
  std::size_t batch_size_;
};

}  // namespace

ListedTransfer listed(const Transfer& transfer) {
  ListedTransfer one{.start = transfer.start.ps, .op = transfer.op, .links = {}, .chunks = {}};
  for (const LinkId link : transfer.links) {
    one.links.push_back(link.value());
  }
  for (const ChunkId chunk : transfer.chunks) {
    one.chunks.push_back(chunk.value());
  }
  return one;
}

std::vector<ListedTransfer> listed(const Schedule& schedule) {
  std::vector<ListedTransfer> all;
  TransferBatch batch;
  for (const auto cursor = schedule.cursor(); cursor->next(batch) && !batch.empty();) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      all.push_back(listed(batch[i]));
    }
  }
  return all;
}

Schedule::Totals totals_of(const std::vector<ListedTransfer>& transfers,
                           const Topology& topology,
                           const ChunkTable& chunks) {
  Schedule::Totals totals;
  for (const ListedTransfer& transfer : transfers) {
    ++totals.transfers;
    totals.moves += transfer.chunks.size();
    Bytes bytes;
    for (const std::uint32_t chunk : transfer.chunks) {
      bytes.count += chunk < chunks.count() ? chunks.bytes(ChunkId(chunk)).count : 0;
    }
    Ticks latency;
    Ticks slowest;
    for (const std::uint32_t link : transfer.links) {
      if (link < topology.num_links()) {
        const Link& taken = topology.link(LinkId(link));
        latency += taken.latency;
        slowest = std::max(slowest, serialization_time(bytes, taken.bandwidth));
      }
    }
    if (transfer.start < kMaxTime.ps / 2) {
      totals.collective_time =
          std::max(totals.collective_time, Ticks{transfer.start} + latency + slowest);
    }
  }
  return totals;
}

Schedule listed_schedule(std::vector<ListedTransfer> transfers,
                         const Schedule::Totals& totals,
                         std::size_t batch_size) {
  return make_schedule(std::make_shared<ListedSource>(std::move(transfers), batch_size), totals);
}

}  // namespace tacos::test
