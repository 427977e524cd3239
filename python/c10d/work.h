// SPDX-License-Identifier: MIT
// What callers of a process group hold: something that will be done.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "c10d/group.h"
#include "c10d/shim.h"

namespace tacos::torch_backend {

class GroupWork final : public c10d::Work {
 public:
  /// `results` are the tensors that it ends with.
  GroupWork(std::weak_ptr<Group> group,
            int rank,
            c10d::OpType type,
            const char* title,
            const std::vector<at::Tensor>& inputs,
            std::vector<at::Tensor> results);

  bool wait(std::chrono::milliseconds timeout) override;
  std::vector<at::Tensor> result() override { return results_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }
  [[nodiscard]] int sourceRank() const override { return source_; }

  /// Once, by the group.
  void end(const Error* error, int source = -1);

 private:
  std::weak_ptr<Group> group_;
  std::vector<at::Tensor> results_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::atomic<int> source_ = -1;
};

}  // namespace tacos::torch_backend
