// SPDX-License-Identifier: MIT
#include "c10d/work.h"

#include <stdexcept>
#include <utility>

namespace tacos::torch_backend {

GroupWork::GroupWork(std::weak_ptr<Group> group,
                     int rank,
                     c10d::OpType type,
                     const char* title,
                     const std::vector<at::Tensor>& inputs,
                     std::vector<at::Tensor> results)
    : c10d::Work(rank, type, title, c10::optional<std::vector<at::Tensor>>(inputs)),
      group_(std::move(group)),
      results_(std::move(results)),
      future_(
          c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()))) {
}

bool GroupWork::wait(std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + timeout;
  if (const std::shared_ptr<Group> group = group_.lock(); group && !ended_) {
    group->help([&] { return ended_.load() || (timeout != kNoTimeout && Clock::now() > end); });
  }
  return c10d::Work::wait(timeout);
}

void GroupWork::end(const Error* error, int source) {
  source_ = source;
  const std::exception_ptr exception =
      error == nullptr
          ? nullptr
          : std::make_exception_ptr(std::runtime_error("tacos: " + error->to_string()));
  if (exception) {
    future_->setError(exception);
  } else {
    future_->markCompleted(c10::IValue(results_));
  }
  finish(exception);
  ended_ = true;
}

}  // namespace tacos::torch_backend
