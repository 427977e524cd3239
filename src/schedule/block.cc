// SPDX-License-Identifier: MIT
// A block is seven columns of unsigned little-endian numbers. Each column says how many numbers it
// has, how many bytes each takes (0, 1, 2, 4 or 8) and a base that is added to each: a column of
// equal numbers takes no bytes at all. Starts are runs (how much later, how many transfers), since
// on a uniform network thousands of transfers start together. Links are differences to the link
// before, modulo the number of links: sorted links have differences below 256, so a byte does.
// Together: 3 to 4 bytes a transfer on uniform networks, about 8 on others. Encoding and decoding
// are O(transfers).
#include "schedule/block.h"

#include <algorithm>

#include "base/assert.h"
#include "schedule/columns.h"

namespace tacos {
namespace {

/// Differences of a list of first positions: how many each transfer has.
void append_counts(std::span<const std::uint32_t> first,
                   std::size_t transfers,
                   std::vector<std::uint64_t>& counts) {
  counts.clear();
  for (std::size_t i = 0; i < transfers; ++i) {
    counts.push_back(first.empty() ? 1 : first[i + 1] - first[i]);
  }
}

/// The inverse; fails when the counts do not add up to `total` or one is zero.
bool positions(std::span<const std::uint64_t> counts,
               std::size_t total,
               std::vector<std::uint32_t>& first) {
  first.clear();
  std::uint64_t sum = 0;
  for (const std::uint64_t count : counts) {
    first.push_back(static_cast<std::uint32_t>(sum));
    if (count == 0 || count > total) {
      return false;
    }
    sum += count;
    if (sum > total) {
      return false;
    }
  }
  first.push_back(static_cast<std::uint32_t>(sum));
  return sum == total;
}

/// A transfer may take many links or chunks, but a block cannot hold more than this.
constexpr std::size_t kMaxEntries = std::size_t{1} << 28U;

bool decode_starts(ColumnReader& reader,
                   std::vector<std::uint64_t>& scratch,
                   std::vector<Ticks>& starts) {
  std::vector<std::uint64_t> lengths;
  if (!reader.read(scratch, kBlockTransfers) || !reader.read(lengths, kBlockTransfers) ||
      scratch.size() != lengths.size()) {
    return false;
  }
  starts.clear();
  std::uint64_t start = 0;
  for (std::size_t run = 0; run < lengths.size(); ++run) {
    if (lengths[run] == 0 || lengths[run] > kBlockTransfers - starts.size()) {
      return false;
    }
    start += scratch[run];
    if (start > static_cast<std::uint64_t>(kMaxTime.ps)) {
      return false;
    }
    starts.insert(starts.end(), lengths[run], Ticks{static_cast<std::int64_t>(start)});
  }
  return true;
}

}  // namespace

void BlockCodec::encode(const TransferBatch& batch,
                        std::uint32_t num_links,
                        std::vector<std::byte>& out) {
  TACOS_ASSERT(batch.size() <= kBlockTransfers, "a block is not too long");
  std::vector<std::uint64_t> values;
  std::vector<std::uint64_t> lengths;
  std::int64_t previous = 0;
  for (const Ticks start : batch.start_) {
    if (lengths.empty() || start.ps != previous) {
      TACOS_ASSERT(start.ps >= previous, "transfers come in start order");
      values.push_back(static_cast<std::uint64_t>(start.ps - previous));
      lengths.push_back(0);
      previous = start.ps;
    }
    ++lengths.back();
  }
  encode_column(out, values);
  encode_column(out, lengths);

  values.assign(batch.op_.size(), 0);
  std::transform(batch.op_.begin(), batch.op_.end(), values.begin(), [](Op op) {
    return static_cast<std::uint64_t>(op);
  });
  encode_column(out, values);
  append_counts(batch.first_link_, batch.size(), values);
  encode_column(out, values);
  append_counts(batch.first_chunk_, batch.size(), values);
  encode_column(out, values);

  values.clear();
  std::uint32_t link_before = 0;
  for (const LinkId link : batch.links_) {
    const std::uint32_t wrapped = link.value() < link_before ? num_links : 0;
    values.push_back(std::uint64_t{link.value()} + wrapped - link_before);
    link_before = link.value();
  }
  encode_column(out, values);

  values.clear();
  for (const ChunkId chunk : batch.chunks_) {
    values.push_back(chunk.value());
  }
  encode_column(out, values);
}

Status BlockCodec::decode(std::span<const std::byte> block,
                          std::uint32_t num_links,
                          TransferBatch& batch) {
  const Error damaged = input_error("has a damaged block");
  batch.clear();
  ColumnReader reader(block);
  std::vector<std::uint64_t> values;
  if (!decode_starts(reader, values, batch.start_)) {
    return damaged;
  }
  const std::size_t transfers = batch.start_.size();
  if (!reader.read(values, transfers) || values.size() != transfers) {
    return damaged;
  }
  for (const std::uint64_t op : values) {
    if (op > static_cast<std::uint64_t>(Op::kReduce)) {
      return damaged;
    }
    batch.op_.push_back(static_cast<Op>(op));
  }
  std::vector<std::uint64_t> link_counts;
  std::vector<std::uint64_t> chunk_counts;
  if (!reader.read(link_counts, transfers) || link_counts.size() != transfers ||
      !reader.read(chunk_counts, transfers) || chunk_counts.size() != transfers) {
    return damaged;
  }
  if (!reader.read(values, kMaxEntries)) {
    return damaged;
  }
  std::uint64_t link = 0;
  for (const std::uint64_t step : values) {
    if (step >= num_links) {
      return damaged;
    }
    link += step;
    link -= link >= num_links ? num_links : 0;
    batch.links_.emplace_back(static_cast<std::uint32_t>(link));
  }
  if (!reader.read(values, kMaxEntries) || !reader.done()) {
    return damaged;
  }
  for (const std::uint64_t chunk : values) {
    if (chunk > ChunkId().value()) {
      return damaged;
    }
    batch.chunks_.emplace_back(static_cast<std::uint32_t>(chunk));
  }
  if (!positions(link_counts, batch.links_.size(), batch.first_link_) ||
      !positions(chunk_counts, batch.chunks_.size(), batch.first_chunk_)) {
    return damaged;
  }
  // No transfer has none, so as many links as transfers means one each.
  if (batch.links_.size() == transfers && batch.chunks_.size() == transfers) {
    batch.first_link_.clear();
    batch.first_chunk_.clear();
  }
  return ok();
}

}  // namespace tacos
