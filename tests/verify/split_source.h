// SPDX-License-Identifier: MIT
// A listed schedule that threads and processes read side by side, as they do logs.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "schedule/source.h"
#include "support/listed_schedule.h"

namespace tacos::test {

/// Strips are by first link. A member of a team has some of them; the cursor lists all, as the
/// leader's would.
class SplitSource final : public TransferSource {
 public:
  struct Cut {
    std::size_t strips = 1;
    /// Whether strips are read as consecutive transfers instead.
    bool one_by_one = false;
    int member = 0;
    int members = 1;
  };
  SplitSource(std::vector<ListedTransfer> transfers, const Schedule::Totals& totals, Cut cut)
      : transfers_(std::move(transfers)), all_(listed_schedule(transfers_, totals)), cut_(cut) {}

  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override { return all_.cursor(); }
  [[nodiscard]] std::unique_ptr<Stretches> stretches(int /*threads*/) const override {
    return std::make_unique<Reading>(*this);
  }
  [[nodiscard]] std::size_t memory_bytes() const override { return 0; }

 private:
  class Reading final : public Stretches {
   public:
    explicit Reading(const SplitSource& source) : source_(source) {}

    [[nodiscard]] Result<bool> next(std::uint64_t most) override {
      from_ = to_;
      to_ += std::min<std::size_t>(most, source_.transfers_.size() - from_);
      return from_ < to_;
    }
    [[nodiscard]] std::size_t num_strips() const override { return source_.cut_.strips; }
    [[nodiscard]] bool side_by_side() const override { return !source_.cut_.one_by_one; }
    [[nodiscard]] bool links_keep_to_strips() const override {
      return side_by_side() && std::all_of(source_.transfers_.begin(),
                                           source_.transfers_.end(),
                                           [](const auto& one) { return one.links.size() <= 1; });
    }
    [[nodiscard]] Status read(std::size_t strip, StripSink& sink) override {
      TransferBatch batch;
      for (std::size_t i = from_; i < to_; ++i) {
        if (reader_of(i) == std::pair{source_.cut_.member, strip}) {
          const ListedTransfer& one = source_.transfers_[i];
          const std::vector<LinkId> links(one.links.begin(), one.links.end());
          const std::vector<ChunkId> chunks(one.chunks.begin(), one.chunks.end());
          batch.append({.start = {one.start}, .op = one.op, .links = links, .chunks = chunks});
        }
      }
      sink.add(batch);
      return ok();
    }

   private:
    /// Which member, and which of its strips.
    [[nodiscard]] std::pair<int, std::size_t> reader_of(std::size_t index) const {
      const std::vector<std::uint32_t>& links = source_.transfers_[index].links;
      if (source_.cut_.one_by_one) {
        return {0, (index - from_) * source_.cut_.strips / (to_ - from_)};
      }
      const std::size_t link = links.empty() ? 0 : links.front();
      const auto members = static_cast<std::size_t>(source_.cut_.members);
      return {static_cast<int>(link % members), link / members % source_.cut_.strips};
    }

    const SplitSource& source_;
    std::size_t from_ = 0;
    std::size_t to_ = 0;
  };

  std::vector<ListedTransfer> transfers_;
  Schedule all_;
  Cut cut_;
};

[[nodiscard]] inline Schedule split_schedule(const std::vector<ListedTransfer>& transfers,
                                             const Schedule::Totals& totals,
                                             const SplitSource::Cut& cut) {
  return make_schedule(std::make_shared<SplitSource>(transfers, totals, cut), totals);
}

}  // namespace tacos::test
