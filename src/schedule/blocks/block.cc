// SPDX-License-Identifier: MIT
// A block is seven columns of numbers (columns.h). Starts are runs (how much later, how many
// transfers), since on a uniform network thousands of transfers start together. Links are
// differences to the link before, modulo the number of links: sorted links have differences below
// 256, so a byte does. Together: 3 to 4 bytes a transfer on uniform networks, about 8 on others.
// Encoding and decoding are O(transfers).
#include "schedule/blocks/block.h"

#include <algorithm>
#include <functional>

#include "base/assert.h"
#include "schedule/blocks/columns.h"

namespace tacos {
namespace {

/// How many links or chunks each transfer has, from the first position of each.
void encode_counts(std::vector<std::byte>& out,
                   std::size_t transfers,
                   std::span<const std::uint32_t> first) {
  if (first.empty()) {
    encode_constant(out, transfers, transfers == 0 ? 0 : 1);
  } else {
    encode_column(out, transfers, [first](std::size_t i) { return first[i + 1] - first[i]; });
  }
}

/// A transfer may take many links or chunks, but a block cannot hold more than this.
constexpr std::size_t kMaxEntries = std::size_t{1} << 28U;

/// First positions from counts; fails when one is zero or they add up to more than `most`.
bool positions(const Column& counts, std::size_t most, std::vector<std::uint32_t>& first) {
  most = std::min(most, kMaxEntries);
  first.clear();
  bool good = true;
  std::uint64_t sum = 0;
  counts.for_each([&](std::uint64_t count) {
    first.push_back(static_cast<std::uint32_t>(sum));
    good = good && count != 0 && count <= most - sum;
    sum += good ? count : 0;
  });
  first.push_back(static_cast<std::uint32_t>(sum));
  return good;
}

bool decode_starts(ColumnReader& reader, std::vector<Ticks>& starts) {
  Column deltas;
  Column lengths;
  if (!reader.read(deltas, kBlockTransfers) || !reader.read(lengths, kBlockTransfers) ||
      deltas.count != lengths.count) {
    return false;
  }
  bool good = true;
  std::vector<std::int64_t> run_start;
  std::uint64_t start = 0;
  deltas.for_each([&](std::uint64_t delta) {
    good = good && delta <= static_cast<std::uint64_t>(kMaxTime.ps);
    start += good ? delta : 0;
    good = good && start <= static_cast<std::uint64_t>(kMaxTime.ps);
    run_start.push_back(static_cast<std::int64_t>(start));
  });
  starts.clear();
  std::size_t run = 0;
  lengths.for_each([&](std::uint64_t length) {
    good = good && length != 0 && length <= kBlockTransfers - starts.size();
    starts.insert(starts.end(), good ? length : 0, Ticks{run_start[run++]});
  });
  return good;
}

bool decode_ops(ColumnReader& reader, std::size_t transfers, std::vector<Op>& ops) {
  Column column;
  if (!reader.read(column, transfers) || column.count != transfers) {
    return false;
  }
  bool good = true;
  ops.resize(transfers);
  Op* op = ops.data();
  column.for_each([&](std::uint64_t value) {
    good = good && value <= static_cast<std::uint64_t>(Op::kReduce);
    *op++ = static_cast<Op>(value);
  });
  return good;
}

bool decode_links(ColumnReader& reader,
                  std::size_t count,
                  std::uint32_t num_links,
                  std::vector<LinkId>& links) {
  Column column;
  if (!reader.read(column, count) || column.count != count) {
    return false;
  }
  bool good = true;
  std::uint64_t link = 0;
  links.resize(column.count);
  LinkId* to = links.data();
  column.for_each([&](std::uint64_t step) {
    good = good && step < num_links;
    link += step;
    link -= link >= num_links ? num_links : 0;
    *to++ = LinkId(static_cast<std::uint32_t>(link));
  });
  return good;
}

bool decode_chunks(ColumnReader& reader, std::size_t count, std::vector<ChunkId>& chunks) {
  Column column;
  if (!reader.read(column, count) || column.count != count) {
    return false;
  }
  bool good = true;
  chunks.resize(column.count);
  ChunkId* to = chunks.data();
  column.for_each([&](std::uint64_t chunk) {
    good = good && chunk <= ChunkId().value();
    *to++ = ChunkId(static_cast<std::uint32_t>(chunk));
  });
  return good;
}

/// Starts as runs: how much later, how many.
class StartRuns {
 public:
  void add(Ticks start, std::size_t count) {
    if (!lengths_.empty() && start.ps == previous_) {
      lengths_.back() += static_cast<std::uint32_t>(count);
      return;
    }
    TACOS_ASSERT(start.ps >= previous_, "transfers come in start order");
    deltas_.push_back(static_cast<std::uint64_t>(start.ps - previous_));
    lengths_.push_back(static_cast<std::uint32_t>(count));
    previous_ = start.ps;
  }
  void encode(std::vector<std::byte>& out) const {
    encode_column(out, deltas_.size(), [this](std::size_t i) { return deltas_[i]; });
    encode_column(out, lengths_.size(), [this](std::size_t i) { return lengths_[i]; });
  }

 private:
  std::int64_t previous_ = 0;
  std::vector<std::uint64_t> deltas_;
  std::vector<std::uint32_t> lengths_;
};

void encode_links(std::vector<std::byte>& out,
                  std::span<const LinkId> links,
                  std::uint32_t num_links) {
  encode_column(out, links.size(), [links, num_links](std::size_t i) {
    const std::uint32_t link = links[i].value();
    const std::uint32_t before = i == 0 ? 0 : links[i - 1].value();
    return link - before + (link < before ? num_links : 0);
  });
}

void encode_chunks(std::vector<std::byte>& out, std::span<const ChunkId> chunks) {
  encode_column(out, chunks.size(), [chunks](std::size_t i) { return chunks[i].value(); });
}

void encode_ops(std::vector<std::byte>& out, std::span<const Op> ops) {
  encode_column(
      out, ops.size(), [ops](std::size_t i) { return static_cast<std::uint32_t>(ops[i]); });
}

}  // namespace

void RunBlock::clear() {
  runs_.clear();
  links_.clear();
  chunks_.clear();
}

void RunBlock::append_run(Ticks start,
                          Op op,
                          std::span<const LinkId> links,
                          std::span<const ChunkId> chunks) {
  if (!runs_.empty() && runs_.back().start == start && runs_.back().op == op) {
    runs_.back().count += links.size();
  } else {
    runs_.push_back({.start = start, .op = op, .count = links.size()});
  }
  links_.insert(links_.end(), links.begin(), links.end());
  chunks_.insert(chunks_.end(), chunks.begin(), chunks.end());
}

void BlockCodec::encode(const TransferBatch& batch,
                        std::uint32_t num_links,
                        std::vector<std::byte>& out) {
  TACOS_ASSERT(batch.size() <= kBlockTransfers, "a block is not too long");
  StartRuns starts;
  for (const Ticks start : batch.start_) {
    starts.add(start, 1);
  }
  starts.encode(out);
  encode_ops(out, batch.op_);
  encode_counts(out, batch.size(), batch.first_link_);
  encode_counts(out, batch.size(), batch.first_chunk_);
  encode_links(out, batch.links_, num_links);
  encode_chunks(out, batch.chunks_);
}

void BlockCodec::encode(const RunBlock& block,
                        std::uint32_t num_links,
                        std::vector<std::byte>& out) {
  TACOS_ASSERT(block.size() <= kBlockTransfers, "a block is not too long");
  StartRuns starts;
  std::vector<Op> ops;
  for (const RunBlock::Run& run : block.runs_) {
    starts.add(run.start, run.count);
    ops.push_back(run.op);
  }
  starts.encode(out);
  const bool one_op =
      std::adjacent_find(ops.begin(), ops.end(), std::not_equal_to<>()) == ops.end();
  if (one_op && !ops.empty()) {
    encode_constant(out, block.size(), static_cast<std::uint64_t>(ops.front()));
  } else {
    ops.clear();
    for (const RunBlock::Run& run : block.runs_) {
      ops.insert(ops.end(), run.count, run.op);
    }
    encode_ops(out, ops);
  }
  encode_counts(out, block.size(), {});
  encode_counts(out, block.size(), {});
  encode_links(out, block.links_, num_links);
  encode_chunks(out, block.chunks_);
}

Status BlockCodec::decode(std::span<const std::byte> block,
                          std::uint32_t num_links,
                          TransferBatch& batch) {
  const Error damaged = input_error("has a damaged block");
  batch.clear();
  ColumnReader reader(block);
  if (!decode_starts(reader, batch.start_)) {
    return damaged;
  }
  const std::size_t transfers = batch.start_.size();
  Column links;
  Column chunks;
  if (!decode_ops(reader, transfers, batch.op_) || !reader.read(links, transfers) ||
      links.count != transfers || !reader.read(chunks, transfers) || chunks.count != transfers) {
    return damaged;
  }
  // One link and one chunk each: the lists of first positions stay empty. Elsewhere a route has
  // each link at most once, and where chunks share a transfer they differ, and take a byte each.
  std::size_t num_taken = transfers;
  std::size_t num_moved = transfers;
  if (!links.all(1) || !chunks.all(1)) {
    if (!positions(links, transfers * num_links, batch.first_link_) ||
        !positions(chunks, std::max(transfers, block.size()), batch.first_chunk_)) {
      return damaged;
    }
    num_taken = batch.first_link_.back();
    num_moved = batch.first_chunk_.back();
  }
  if (!decode_links(reader, num_taken, num_links, batch.links_) ||
      !decode_chunks(reader, num_moved, batch.chunks_) || !reader.done()) {
    return damaged;
  }
  return ok();
}

}  // namespace tacos
