// SPDX-License-Identifier: MIT
#include "schedule/builder.h"

#include <algorithm>
#include <utility>

#include "base/parallel/cancel.h"

namespace tacos {
namespace {

class BlockCursor final : public TransferCursor {
 public:
  enum class Order { kForwards, kBackwards };
  BlockCursor(const BlockSource& source, Order order) : source_(source), order_(order) {}

  [[nodiscard]] Status next(TransferBatch& batch) override {
    if (done_ == source_.num_blocks()) {
      batch.clear();
      return ok();
    }
    const std::size_t from_end = source_.num_blocks() - 1 - done_;
    const std::size_t block = order_ == Order::kForwards ? done_ : from_end;
    ++done_;
    return BlockCodec::decode(source_.block(block), source_.num_links(), batch);
  }

 private:
  const BlockSource& source_;
  Order order_;
  std::size_t done_ = 0;
};

/// A strip is a block.
class BlockStretches final : public Stretches {
 public:
  explicit BlockStretches(const BlockSource& source) : source_(source) {}

  [[nodiscard]] Result<bool> next(std::uint64_t most) override {
    first_ += batches_.size();
    batches_.resize(
        std::min(source_.num_blocks() - first_, std::max<std::size_t>(1, most / kBlockTransfers)));
    return !batches_.empty();
  }
  [[nodiscard]] std::size_t num_strips() const override { return batches_.size(); }
  [[nodiscard]] Status read(std::size_t strip, StripSink& sink) override {
    TransferBatch& batch = batches_[strip];
    Status read = BlockCodec::decode(source_.block(first_ + strip), source_.num_links(), batch);
    if (read) {
      sink.add(batch);
    }
    return read;
  }

 private:
  const BlockSource& source_;
  std::size_t first_ = 0;
  /// One for each strip.
  std::vector<TransferBatch> batches_;
};

}  // namespace

void BlockSource::append(std::vector<std::byte> block) {
  memory_bytes_ += block.capacity();
  encoded_bytes_ += block.size();
  blocks_.push_back(std::move(block));
}

std::unique_ptr<TransferCursor> BlockSource::cursor() const {
  return std::make_unique<BlockCursor>(*this, BlockCursor::Order::kForwards);
}

std::unique_ptr<TransferCursor> BlockSource::reverse_cursor() const {
  return std::make_unique<BlockCursor>(*this, BlockCursor::Order::kBackwards);
}

std::unique_ptr<Stretches> BlockSource::stretches(int /*threads*/) const {
  return std::make_unique<BlockStretches>(*this);
}

ScheduleBuilder::ScheduleBuilder(std::uint32_t num_links)
    : source_(std::make_shared<BlockSource>(num_links)) {}

void ScheduleBuilder::append(const Transfer& transfer, Ticks end) {
  batch_.append(transfer);
  ++totals_.transfers;
  totals_.moves += transfer.chunks.size();
  totals_.collective_time = std::max(totals_.collective_time, end);
  if (batch_.size() == kBlockTransfers) {
    flush();
  }
}

void ScheduleBuilder::flush() {
  check_cancel();
  std::vector<std::byte> block;
  block.reserve(batch_.size() * 8);
  BlockCodec::encode(batch_, source_->num_links(), block);
  block.shrink_to_fit();
  hash_.add(block);
  encoded_bytes_ += block.size();
  if (keeps_) {
    source_->append(std::move(block));
  }
  batch_.clear();
}

void ScheduleBuilder::finish() {
  if (!batch_.empty()) {
    flush();
  }
  totals_.hash = hash_.value();
}

Schedule ScheduleBuilder::build() && {
  finish();
  return make_schedule(std::move(source_), totals_);
}

ScheduleMeasure ScheduleBuilder::measure() && {
  finish();
  return {.totals = totals_, .encoded_bytes = encoded_bytes_};
}

}  // namespace tacos
