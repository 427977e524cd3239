// SPDX-License-Identifier: MIT
#include "verify/sorter.h"

#include <algorithm>
#include <optional>

namespace tacos {

void Sorter::begin_strip() {
  for (Bucket& bucket : buckets_) {
    bucket.clear();
  }
  tally_.first = kMaxTime;
}

void Sorter::add(const TransferBatch& batch) {
  if (!batch.simple()) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      add_any(batch[i]);
    }
    return;
  }
  const std::span<const Ticks> starts = batch.starts();
  const std::span<const Op> ops = batch.ops();
  for (std::size_t from = 0; from < batch.size();) {
    std::size_t to = from + 1;
    while (to < batch.size() && starts[to] == starts[from] && ops[to] == ops[from]) {
      ++to;
    }
    append_run(starts[from],
               ops[from],
               batch.links().subspan(from, to - from),
               batch.chunks().subspan(from, to - from));
    from = to;
  }
}

// What starts together may be sorted in any order.
void Sorter::append_run(Ticks start,
                        Op op,
                        std::span<const LinkId> links,
                        std::span<const ChunkId> chunks) {
  const std::span<const Ticks> times = table_.times();
  const bool in_time = start >= tally_.last && start <= kMaxTime - times.back();
  // What stays the same in the loop, so that the compiler knows.
  const WireTable::Simple table = table_.simple();
  const Slicing of_chunks = slices_.chunks;
  const Slicing of_links = slices_.links;
  Bucket* const chunk_buckets = buckets_.data();
  Bucket* const link_buckets = chunk_buckets + latest_.size();
  Ticks* const free_at = free_at_.empty() ? nullptr : free_at_.data();
  std::uint32_t longest = 0;
  std::size_t simple = 0;
  bool free = true;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const LinkId link = links[i];
    const ChunkId chunk = chunks[i];
    if (!in_time || !table.covers(link, chunk)) [[unlikely]] {
      add_any(
          {.start = start, .op = op, .links = links.subspan(i, 1), .chunks = chunks.subspan(i, 1)});
      continue;
    }
    ++simple;
    const WireTable::Wire& wire = table.wires[link.index()];
    const std::size_t size = table.size_class(chunk);
    longest = std::max(longest, wire.duration[size]);
    if (of_chunks.covers(chunk.value())) {
      chunk_buckets[of_chunks.slice(chunk.value())].moves.push_back(
          {wire.src, wire.dst, chunk, wire.duration[size]});
    }
    if (free_at != nullptr) {
      free &= free_at[link.index()] <= start;
      free_at[link.index()] = {start.ps + times[wire.busy[size]].ps};
    } else if (of_links.covers(link.value())) {
      link_buckets[of_links.slice(link.value())].uses.push_back({link, wire.busy[size]});
    }
  }
  if (simple > 0) {
    tally_.transfers += simple;
    tally_.moves += simple;
    tally_.latest = std::max(tally_.latest, start + times[longest]);
    tally_.first = std::min(tally_.first, start);
    tally_.last = start;
    tally_.sound &= free;
    end_run(start, op, links, chunks);
  }
}

void Sorter::end_run(Ticks start,
                     Op op,
                     std::span<const LinkId> links,
                     std::span<const ChunkId> chunks) {
  if (chunks.size() >= buckets_.size()) {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      buckets_[i].end_run(
          start, op, i < latest_.size() ? Bucket::Kind::kMoves : Bucket::Kind::kUses);
    }
    return;
  }
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (slices_.chunks.covers(chunks[i].value())) {
      of_chunk(chunks[i]).end_run(start, op, Bucket::Kind::kMoves);
    }
    if (slices_.links.covers(links[i].value())) {
      of_link(links[i]).end_run(start, op, Bucket::Kind::kUses);
    }
  }
}

void Sorter::add_any(const Transfer& transfer) {
  ++tally_.transfers;
  tally_.moves += transfer.chunks.size();
  const std::optional<Flight> flight = wires_.check(transfer, 0);
  if (!flight || transfer.start < tally_.last) {
    tally_.sound = false;
    return;
  }
  tally_.latest = std::max(tally_.latest, flight->end);
  tally_.first = std::min(tally_.first, transfer.start);
  tally_.last = transfer.start;
  for (const ChunkId chunk : transfer.chunks) {
    if (slices_.chunks.covers(chunk.value())) {
      std::uint64_t& latest = latest_[slices_.chunks.slice(chunk.value())];
      of_chunk(chunk).add(transfer, *flight, chunk, latest != tally_.transfers);
      latest = tally_.transfers;
    }
  }
  table_.for_each_passage(transfer, [&](const Passage& passage) {
    if (!free_at_.empty()) {
      // Whoever gets to a link later than it starts has to wait for its turn.
      Ticks& free_at = free_at_[passage.link.index()];
      tally_.sound &= passage.first && free_at <= passage.at;
      free_at = passage.at + passage.busy;
    } else if (slices_.links.count > 0) {
      of_link(passage.link).add(transfer, passage);
    }
  });
}

}  // namespace tacos
