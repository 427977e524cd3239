// SPDX-License-Identifier: MIT
// Tensors as buffers of elements. What cannot be used is refused with std::invalid_argument.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tacos/execute.h"

#include "c10d/job.h"
#include "c10d/shim.h"

namespace tacos::torch_backend {

/// With a sentence that says what to do.
[[noreturn]] void refuse(const std::string& sentence);

/// Nothing for types that executors do not know.
[[nodiscard]] std::optional<ElementType> element_type(at::ScalarType type);

/// In the memory of the machine, with elements one after the other where `flat`.
void check_tensor(const at::Tensor& tensor, bool flat = true);
/// Of one type, and each with the elements of the first.
void check_parts(const std::vector<at::Tensor>& parts, const at::Tensor& like, int ranks);
/// Of one type, whatever their sizes.
void check_alike(const std::vector<at::Tensor>& tensors);
/// How many elements each has, and all together.
[[nodiscard]] std::vector<std::int64_t> sizes_of(const std::vector<at::Tensor>& tensors);
[[nodiscard]] std::int64_t elements(const std::vector<at::Tensor>& tensors);
/// Tensors of several parts each, as one list of parts for each rank.
[[nodiscard]] std::vector<std::vector<at::Tensor>> parts_by_rank(
    const std::vector<at::Tensor>& tensors, int ranks);
/// The only one of a list, as lists of several are for several devices.
[[nodiscard]] at::Tensor& only(std::vector<at::Tensor>& tensors);
[[nodiscard]] std::vector<at::Tensor>& only(std::vector<std::vector<at::Tensor>>& lists);

/// How a reduction is done: by executors, or by what PyTorch does with tensors.
struct Reducing {
  ElementType type = ElementType::kUint8;
  ReduceOp op = ReduceOp::kSum;
  /// Why executors cannot; empty where they can.
  std::string unserved;
  Combine combine;
};
[[nodiscard]] Reducing reducing(at::ScalarType type, const c10d::ReduceOp& op, std::size_t ranks);

/// Tensors that follow each other as one buffer: the memory that they are in, or a copy.
class FlatTensors {
 public:
  explicit FlatTensors(std::vector<at::Tensor> parts);
  [[nodiscard]] void* data() const;
  void collect() const;
  void deal() const;
  [[nodiscard]] bool copies() const { return copy_.defined(); }

 private:
  std::vector<at::Tensor> parts_;
  at::Tensor copy_;
};

/// Both directions of a buffer that may be a copy: collected before, dealt out after.
void collect(Job& job, const std::shared_ptr<FlatTensors>& flat);
void deal(Job& job, const std::shared_ptr<FlatTensors>& flat);

/// What is called, for comparison and for people.
[[nodiscard]] Signature signature(
    c10d::OpType call, const at::Tensor& tensor, std::uint64_t count, int root, int op);
[[nodiscard]] std::string describe(const Signature& signature);

}  // namespace tacos::torch_backend
