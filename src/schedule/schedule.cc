// SPDX-License-Identifier: MIT
#include "tacos/schedule.h"

#include <algorithm>

#include "base/assert.h"
#include "schedule/source.h"

namespace tacos {

Transfer TransferBatch::operator[](std::size_t index) const {
  const auto slice = [index](const auto& items, std::span<const std::uint32_t> first) {
    return first.empty() ? std::span(items).subspan(index, 1)
                         : std::span(items).subspan(first[index], first[index + 1] - first[index]);
  };
  return {.start = start_[index],
          .op = op_[index],
          .links = slice(links_, first_link_),
          .chunks = slice(chunks_, first_chunk_)};
}

void TransferBatch::clear() {
  start_.clear();
  op_.clear();
  links_.clear();
  chunks_.clear();
  first_link_.clear();
  first_chunk_.clear();
}

void TransferBatch::append(const Transfer& transfer) {
  const auto extend = [this](auto& items, auto added, std::vector<std::uint32_t>& first) {
    if (added.size() != 1 && first.empty()) {
      for (std::uint32_t i = 0; i <= size(); ++i) {
        first.push_back(i);
      }
    }
    items.insert(items.end(), added.begin(), added.end());
    if (!first.empty()) {
      first.push_back(static_cast<std::uint32_t>(items.size()));
    }
  };
  extend(links_, transfer.links, first_link_);
  extend(chunks_, transfer.chunks, first_chunk_);
  start_.push_back(transfer.start);
  op_.push_back(transfer.op);
}

void TransferBatch::append(const TransferBatch& other, std::size_t from, std::size_t to) {
  if (!simple() || !other.simple()) {
    for (std::size_t i = from; i < to; ++i) {
      append(other[i]);
    }
    return;
  }
  const auto extend = [from, to](auto& items, const auto& added) {
    items.insert(items.end(),
                 added.begin() + static_cast<std::ptrdiff_t>(from),
                 added.begin() + static_cast<std::ptrdiff_t>(to));
  };
  extend(start_, other.start_);
  extend(op_, other.op_);
  extend(links_, other.links_);
  extend(chunks_, other.chunks_);
}

void TransferBatch::append_run(Ticks start,
                               Op op,
                               std::span<const LinkId> links,
                               std::span<const ChunkId> chunks) {
  TACOS_ASSERT(simple() && links.size() == chunks.size(), "a run is one chunk over one link each");
  // Four times as fast as insert, whose loop reads the value anew for each element.
  const auto before = static_cast<std::ptrdiff_t>(size());
  start_.resize(size() + links.size());
  std::fill(start_.begin() + before, start_.end(), start);
  op_.resize(start_.size(), op);
  links_.insert(links_.end(), links.begin(), links.end());
  chunks_.insert(chunks_.end(), chunks.begin(), chunks.end());
}

std::unique_ptr<TransferCursor> Schedule::cursor() const {
  return source_->cursor();
}

Schedule::Totals Schedule::totals() const {
  Totals all = totals_;
  all.hash = source_->late_hash().value_or(totals_.hash);
  return all;
}

std::size_t Schedule::memory_bytes() const {
  return source_->memory_bytes();
}

std::unique_ptr<Stretches> TransferSource::stretches(int /*threads*/) const {
  return make_stretches(cursor());
}

Schedule make_schedule(std::shared_ptr<const TransferSource> source,
                       const Schedule::Totals& totals) {
  return {std::move(source), totals};
}

const TransferSource& source_of(const Schedule& schedule) {
  return *schedule.source_;
}

}  // namespace tacos
