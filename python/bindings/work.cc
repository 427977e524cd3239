// SPDX-License-Identifier: MIT
#include "work.h"

#include <chrono>

namespace tacos::python {

Watch Watcher::watch() {
  return {.progress = [this](double share) { share_.store(share, std::memory_order_relaxed); },
          .cancel = source_.get_token()};
}

void Watcher::finish() {
  const std::scoped_lock lock(mutex_);
  finished_ = true;
  changed_.notify_one();
}

void Watcher::wait() {
  constexpr std::chrono::milliseconds kLookEvery{50};
  const py::gil_scoped_release release;
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kLookEvery, [this] { return finished_; })) {
    lock.unlock();
    look();
    lock.lock();
  }
}

void Watcher::look() {
  const py::gil_scoped_acquire acquire;
  if (thrown_ != nullptr) {
    return;
  }
  try {
    if (PyErr_CheckSignals() != 0) {
      throw py::error_already_set();
    }
    if (!listener_.is_none()) {
      listener_(share_.load(std::memory_order_relaxed));
    }
  } catch (const py::error_already_set&) {
    thrown_ = std::current_exception();
    source_.request_stop();
  }
}

void Watcher::rethrow() const {
  if (thrown_ != nullptr) {
    std::rethrow_exception(thrown_);
  }
}

}  // namespace tacos::python
