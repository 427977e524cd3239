// SPDX-License-Identifier: MIT
// A cursor that reads a few batches ahead on a thread of its own.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "tacos/schedule.h"

#include "base/parallel/cancel.h"

namespace tacos {

class ReadAhead final : public TransferCursor {
 public:
  explicit ReadAhead(std::unique_ptr<TransferCursor> cursor);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  ~ReadAhead() override;

  /// What the cursor gives, in its order; throws what it throws.
  [[nodiscard]] Status next(TransferBatch& batch) override;

 private:
  struct Slot {
    TransferBatch batch;
    Status status = ok();
    std::exception_ptr thrown;
  };
  void read();

  std::unique_ptr<TransferCursor> cursor_;
  std::array<Slot, 4> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  /// Slots written and taken so far; those between the two are full.
  std::size_t written_ = 0;
  std::size_t taken_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

/// The schedule's cursor; with more than one thread, one of them reads ahead.
[[nodiscard]] std::unique_ptr<TransferCursor> open_cursor(const Schedule& schedule, int threads);

/// Calls visit(batch) with all transfers in their order, until it fails or reading does.
template <class Visit>
[[nodiscard]] Status read_batches(const Schedule& schedule, int threads, const Visit& visit) {
  const auto cursor = open_cursor(schedule, threads);
  TransferBatch batch;
  for (;;) {
    check_cancel();
    if (Status read = cursor->next(batch); !read || batch.empty()) {
      return read;
    }
    if (Status visited = visit(batch); !visited) {
      return visited;
    }
  }
}

/// Calls visit(transfer) for all of them in their order, until reading fails.
template <class Visit>
[[nodiscard]] Status read_transfers(const Schedule& schedule, int threads, const Visit& visit) {
  return read_batches(schedule, threads, [&](const TransferBatch& batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      visit(batch[i]);
    }
    return ok();
  });
}

}  // namespace tacos
