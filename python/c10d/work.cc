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
    : c10d::Work(rank, type, title, inputs),
      group_(std::move(group)),
      results_(std::move(results)),
      future_(
          c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()))) {
}

bool GroupWork::wait(std::chrono::milliseconds timeout) {
  if (const std::shared_ptr<Group> group = group_.lock(); group && !isCompleted()) {
    group->check_may_wait();
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
}

}  // namespace tacos::torch_backend
