// SPDX-License-Identifier: MIT
#include "schedule/stretches.h"

#include <utility>
#include <vector>

namespace tacos {
namespace {

/// A strip is a batch of the cursor.
class CursorStretches final : public Stretches {
 public:
  explicit CursorStretches(std::unique_ptr<TransferCursor> cursor) : cursor_(std::move(cursor)) {}

  [[nodiscard]] Result<bool> next(std::uint64_t most) override {
    strips_ = 0;
    for (std::uint64_t transfers = 0; transfers < most;) {
      if (strips_ == batches_.size()) {
        batches_.emplace_back();
      }
      TransferBatch& batch = batches_[strips_];
      if (Status read = cursor_->next(batch); !read) {
        return read.error();
      }
      if (batch.empty()) {
        break;
      }
      transfers += batch.size();
      ++strips_;
    }
    return strips_ > 0;
  }
  [[nodiscard]] std::size_t num_strips() const override { return strips_; }
  [[nodiscard]] Status read(std::size_t strip, StripSink& sink) override {
    sink.add(batches_[strip]);
    return ok();
  }

 private:
  std::unique_ptr<TransferCursor> cursor_;
  /// More than there are strips, to be filled again.
  std::vector<TransferBatch> batches_;
  std::size_t strips_ = 0;
};

}  // namespace

std::unique_ptr<Stretches> make_stretches(std::unique_ptr<TransferCursor> cursor) {
  return std::make_unique<CursorStretches>(std::move(cursor));
}

}  // namespace tacos
