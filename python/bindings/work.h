// SPDX-License-Identifier: MIT
// Long calls: on a thread of their own, while the caller's has let go of the GIL and looks now and
// then whether somebody pressed Ctrl-C and how far the work is.
//
// Only Python's main thread hears signals, and only while it runs Python; engines run none. So the
// caller's thread does what Python needs and the other one works. An exception, of a signal handler
// or of the listener, cancels the work; it is thrown on when the work has stopped. Whatever the
// work calls can be stopped so, where it looks (base/parallel/cancel.h), with options or without.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>

#include <pybind11/pybind11.h>

#include "base/parallel/cancel.h"

namespace tacos::python {

namespace py = pybind11;

/// What work is given: whom to tell, and who may stop it.
struct Watch {
  std::function<void(double)> progress;
  std::stop_token cancel;
};

/// The caller's side.
class Watcher {
 public:
  /// `listener` is called with the share of the work done, or is None.
  explicit Watcher(py::object listener) : listener_(std::move(listener)) {}
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher() = default;

  [[nodiscard]] Watch watch();
  /// By the worker, at its very end.
  void finish();
  /// Until the worker has finished; with the GIL, which others have meanwhile.
  void wait();
  /// Throws what Python threw meanwhile.
  void rethrow() const;

 private:
  void look();

  py::object listener_;
  std::stop_source source_;
  std::atomic<double> share_ = 0;
  std::exception_ptr thrown_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;
};

/// What work(watch) returns, a Result, or throws.
template <class Work>
[[nodiscard]] auto run(py::object listener, const Work& work) {
  using Outcome = std::invoke_result_t<const Work&, const Watch&>;
  Watcher watcher(std::move(listener));
  std::optional<Outcome> outcome;
  std::exception_ptr thrown;
  std::thread worker([&] {
    try {
      const Watch watch = watcher.watch();
      outcome.emplace(cancellable(watch.cancel, [&] { return work(watch); }));
    } catch (...) {
      thrown = std::current_exception();
    }
    watcher.finish();
  });
  watcher.wait();
  worker.join();
  watcher.rethrow();
  if (thrown != nullptr) {
    std::rethrow_exception(thrown);
  }
  return *std::move(outcome);
}

}  // namespace tacos::python
