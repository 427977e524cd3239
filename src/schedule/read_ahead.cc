// SPDX-License-Identifier: MIT
#include "schedule/read_ahead.h"

#include <utility>

namespace tacos {

ReadAhead::ReadAhead(std::unique_ptr<TransferCursor> cursor)
    : cursor_(std::move(cursor)), thread_([this] { read(); }) {}

ReadAhead::~ReadAhead() {
  {
    const std::scoped_lock lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ReadAhead::read() {
  for (bool last = false; !last;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stop_ || written_ - taken_ < slots_.size(); });
    if (stop_) {
      return;
    }
    Slot& slot = slots_[written_ % slots_.size()];
    lock.unlock();
    try {
      slot.status = cursor_->next(slot.batch);
    } catch (...) {
      slot.thrown = std::current_exception();
    }
    last = slot.thrown != nullptr || !slot.status || slot.batch.empty();
    lock.lock();
    ++written_;
    lock.unlock();
    changed_.notify_all();
  }
}

Status ReadAhead::next(TransferBatch& batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return taken_ < written_; });
  Slot& slot = slots_[taken_ % slots_.size()];
  if (slot.thrown != nullptr) {
    std::rethrow_exception(slot.thrown);
  }
  Status status = slot.status;
  if (status && !slot.batch.empty()) {
    std::swap(batch, slot.batch);
    ++taken_;
  } else {
    // The end, or a failure, stays for whoever asks again.
    batch.clear();
  }
  lock.unlock();
  changed_.notify_all();
  return status;
}

std::unique_ptr<TransferCursor> open_cursor(const Schedule& schedule, int threads) {
  return threads > 1 ? std::make_unique<ReadAhead>(schedule.cursor()) : schedule.cursor();
}

}  // namespace tacos
