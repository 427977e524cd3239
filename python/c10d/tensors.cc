// SPDX-License-Identifier: MIT
#include "c10d/tensors.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "execute/reduce.h"

namespace tacos::torch_backend {
namespace {

std::optional<ReduceOp> reduce_op(const c10d::ReduceOp& op) {
  switch (static_cast<c10d::ReduceOp::RedOpType>(op)) {
    case c10d::ReduceOp::SUM:
      return ReduceOp::kSum;
    case c10d::ReduceOp::AVG:
      return ReduceOp::kAverage;
    case c10d::ReduceOp::PRODUCT:
      return ReduceOp::kProd;
    case c10d::ReduceOp::MIN:
      return ReduceOp::kMin;
    case c10d::ReduceOp::MAX:
      return ReduceOp::kMax;
    default:
      return std::nullopt;
  }
}

const char* op_name(int op) {
  constexpr const char* kNames[] = {
      "sum", "avg", "product", "min", "max", "band", "bor", "bxor", "premul_sum"};
  return op >= 0 && op < 9 ? kNames[op] : "";
}

/// With what PyTorch does with tensors.
void combine_tensors(at::Tensor to, const at::Tensor& from, c10d::ReduceOp::RedOpType op) {
  const at::NoGradGuard no_grad;
  switch (op) {
    case c10d::ReduceOp::SUM:
      to.add_(from);
      break;
    case c10d::ReduceOp::PRODUCT:
      to.mul_(from);
      break;
    case c10d::ReduceOp::MIN:
      to.copy_(at::min(to, from));
      break;
    case c10d::ReduceOp::MAX:
      to.copy_(at::max(to, from));
      break;
    case c10d::ReduceOp::BAND:
      to.bitwise_and_(from);
      break;
    case c10d::ReduceOp::BOR:
      to.bitwise_or_(from);
      break;
    case c10d::ReduceOp::BXOR:
      to.bitwise_xor_(from);
      break;
    default:
      break;
  }
}

/// Booleans are 0 and 1: their sum is whether any is, their product whether all are.
std::optional<ReduceOp> bool_op(const c10d::ReduceOp& op) {
  switch (static_cast<c10d::ReduceOp::RedOpType>(op)) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::MAX:
    case c10d::ReduceOp::BOR:
      return ReduceOp::kMax;
    case c10d::ReduceOp::PRODUCT:
    case c10d::ReduceOp::MIN:
    case c10d::ReduceOp::BAND:
      return ReduceOp::kMin;
    default:
      return std::nullopt;
  }
}

Combine executors_combine(ElementType type, ReduceOp op, std::size_t ranks) {
  const execution::Reduction kernel = execution::reduction(type, op);
  Combine made;
  made.add = [kernel](std::byte* to, const std::byte* from, std::size_t count) {
    kernel.add(to, from, count);
  };
  if (kernel.finish != nullptr) {
    made.finish = [kernel, ranks](std::byte* to, std::size_t count) {
      kernel.finish(to, count, ranks);
    };
  }
  return made;
}

/// A type of the same size, for what is only carried.
ElementType carrier(std::size_t bytes) {
  switch (bytes) {
    case 2:
      return ElementType::kFloat16;
    case 4:
      return ElementType::kInt32;
    case 8:
      return ElementType::kInt64;
    default:
      return ElementType::kUint8;
  }
}

}  // namespace

void refuse(const std::string& sentence) {
  throw std::invalid_argument("tacos: " + sentence);
}

std::optional<ElementType> element_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return ElementType::kFloat32;
    case at::kDouble:
      return ElementType::kFloat64;
    case at::kBFloat16:
      return ElementType::kBfloat16;
    case at::kHalf:
      return ElementType::kFloat16;
    case at::kChar:
      return ElementType::kInt8;
    case at::kByte:
      return ElementType::kUint8;
    case at::kInt:
      return ElementType::kInt32;
    case at::kLong:
      return ElementType::kInt64;
    case at::kComplexFloat:
      return ElementType::kComplex64;
    case at::kComplexDouble:
      return ElementType::kComplex128;
    default:
      return std::nullopt;
  }
}

void check_tensor(const at::Tensor& tensor, bool flat) {
  if (!tensor.defined()) {
    refuse("a tensor is missing");
  }
  if (tensor.layout() != at::kStrided) {
    refuse("a sparse tensor cannot be used; call to_dense() first");
  }
  if (!tensor.device().is_cpu()) {
    refuse(fmt::format("tensors must be on the CPU, and one is on {}; call cpu() first",
                       tensor.device().str()));
  }
  if (tensor.is_conj() || tensor.is_neg()) {
    refuse(
        "a tensor is conjugated or negated by name only; call resolve_conj().resolve_neg() first");
  }
  if (flat && !tensor.is_contiguous()) {
    refuse("a tensor is not contiguous; call contiguous() first, and copy the result back");
  }
}

void check_alike(const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& tensor : tensors) {
    check_tensor(tensor, false);
    if (tensor.scalar_type() != tensors.front().scalar_type()) {
      refuse("tensors of one call must be of one type; call it once for each type");
    }
  }
}

std::vector<std::int64_t> sizes_of(const std::vector<at::Tensor>& tensors) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    sizes.push_back(tensor.numel());
  }
  return sizes;
}

std::int64_t elements(const std::vector<at::Tensor>& tensors) {
  const std::vector<std::int64_t> sizes = sizes_of(tensors);
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

void check_parts(const std::vector<at::Tensor>& parts, const at::Tensor& like, int ranks) {
  if (parts.size() != static_cast<std::size_t>(ranks)) {
    refuse(
        fmt::format("a list has {} tensors for {} ranks; give one for each", parts.size(), ranks));
  }
  for (const at::Tensor& part : parts) {
    check_tensor(part, false);
    if (part.scalar_type() != like.scalar_type() || part.numel() != like.numel()) {
      refuse(fmt::format("a tensor of a list has {} x {}, but another {} x {}; all must be alike",
                         part.numel(),
                         c10::toString(part.scalar_type()),
                         like.numel(),
                         c10::toString(like.scalar_type())));
    }
  }
}

std::vector<std::vector<at::Tensor>> parts_by_rank(const std::vector<at::Tensor>& tensors,
                                                   int ranks) {
  std::vector<std::vector<at::Tensor>> parts(static_cast<std::size_t>(ranks));
  for (const at::Tensor& tensor : tensors) {
    check_tensor(tensor);
    if (tensor.numel() % ranks != 0) {
      refuse(fmt::format("{} elements are not one part for each of {} ranks, all of one size",
                         tensor.numel(),
                         ranks));
    }
    const at::Tensor flat = tensor.detach().view({-1});
    const std::int64_t part = tensor.numel() / ranks;
    for (int rank = 0; rank < ranks; ++rank) {
      parts[static_cast<std::size_t>(rank)].push_back(flat.narrow(0, rank * part, part));
    }
  }
  return parts;
}

at::Tensor& only(std::vector<at::Tensor>& tensors) {
  if (tensors.size() != 1) {
    refuse(fmt::format("{} tensors were given; give one, that of this rank", tensors.size()));
  }
  return tensors.front();
}

std::vector<at::Tensor>& only(std::vector<std::vector<at::Tensor>>& lists) {
  if (lists.size() != 1) {
    refuse(
        fmt::format("{} lists of tensors were given; give one, that of this rank", lists.size()));
  }
  return lists.front();
}

Reducing reducing(at::ScalarType type, const c10d::ReduceOp& op, std::size_t ranks) {
  const auto kind = static_cast<c10d::ReduceOp::RedOpType>(op);
  const bool is_bool = type == at::kBool;
  const std::optional<ElementType> element = is_bool ? ElementType::kUint8 : element_type(type);
  const std::optional<ReduceOp> operation = is_bool ? bool_op(op) : reduce_op(op);
  if (element && operation && check_reduction(*element, *operation)) {
    return {.type = *element,
            .op = *operation,
            .unserved = {},
            .combine = executors_combine(*element, *operation, ranks)};
  }
  const bool bits =
      kind == c10d::ReduceOp::BAND || kind == c10d::ReduceOp::BOR || kind == c10d::ReduceOp::BXOR;
  const bool possible =
      bits ? at::isIntegralType(type, true)
           : operation && kind != c10d::ReduceOp::AVG && at::isIntegralType(type, true);
  if (!possible) {
    refuse(fmt::format("{} of {} is not defined; use another type or operation",
                       op_name(static_cast<int>(kind)),
                       c10::toString(type)));
  }
  Reducing made{.type = carrier(c10::elementSize(type)),
                .op = ReduceOp::kSum,
                .unserved = bits ? "operation" : "type",
                .combine = {}};
  made.combine.add = [type, kind](std::byte* to, const std::byte* from, std::size_t count) {
    const auto size = static_cast<std::int64_t>(count);
    combine_tensors(at::from_blob(to, {size}, type),
                    // It is only read.
                    at::from_blob(const_cast<std::byte*>(from), {size}, type),
                    kind);
  };
  return made;
}

FlatTensors::FlatTensors(std::vector<at::Tensor> parts) : parts_(std::move(parts)) {
  const auto* next = static_cast<const std::byte*>(parts_.empty() ? nullptr : data());
  for (const at::Tensor& part : parts_) {
    if (!part.is_contiguous() || (part.numel() > 0 && part.data_ptr() != next)) {
      std::int64_t all = 0;
      for (const at::Tensor& one : parts_) {
        all += one.numel();
      }
      copy_ = at::empty({all}, parts_.front().options().requires_grad(false));
      return;
    }
    next += part.nbytes();
  }
}

void* FlatTensors::data() const {
  return copy_.defined() ? copy_.data_ptr() : parts_.empty() ? nullptr : parts_.front().data_ptr();
}

void FlatTensors::collect() const {
  if (!copy_.defined()) {
    return;
  }
  auto* at = static_cast<std::byte*>(copy_.data_ptr());
  for (const at::Tensor& part : parts_) {
    const at::Tensor from = part.contiguous();
    std::memcpy(at, from.data_ptr(), from.nbytes());
    at += from.nbytes();
  }
}

void FlatTensors::deal() const {
  if (!copy_.defined()) {
    return;
  }
  const at::NoGradGuard no_grad;
  std::int64_t at = 0;
  for (const at::Tensor& part : parts_) {
    const at::Tensor from = copy_.narrow(0, at, part.numel());
    if (part.is_contiguous()) {
      std::memcpy(part.data_ptr(), from.data_ptr(), from.nbytes());
    } else {
      part.copy_(from.view(part.sizes()));
    }
    at += part.numel();
  }
}

void collect(Job& job, const std::shared_ptr<FlatTensors>& flat) {
  if (flat->copies()) {
    job.before = [flat] { flat->collect(); };
  }
}

void deal(Job& job, const std::shared_ptr<FlatTensors>& flat) {
  if (flat->copies()) {
    job.after = [flat] { flat->deal(); };
  }
}

Signature signature(
    c10d::OpType call, const at::Tensor& tensor, std::uint64_t count, int root, int op) {
  const auto type = tensor.defined() ? static_cast<std::uint64_t>(tensor.scalar_type()) : 0xff;
  return {.value = static_cast<std::uint64_t>(call) | type << 8U |
                   static_cast<std::uint64_t>(op & 0xff) << 16U |
                   static_cast<std::uint64_t>(static_cast<std::uint32_t>(root)) << 24U,
          .count = count};
}

std::string describe(const Signature& signature) {
  const auto call = static_cast<c10d::OpType>(signature.value & 0xffU);
  const auto type = static_cast<int>(signature.value >> 8U & 0xffU);
  const auto op = static_cast<int>(signature.value >> 16U & 0xffU);
  const auto root = signature.value >> 24U & 0xffffU;
  std::string name = c10d::opTypeToString(call);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (type == 0xff) {
    return name;
  }
  const bool rooted = call == c10d::OpType::BROADCAST || call == c10d::OpType::REDUCE ||
                      call == c10d::OpType::GATHER || call == c10d::OpType::SCATTER;
  return fmt::format("{} of {}{}{}{}",
                     name,
                     signature.count == kUnequal ? "" : fmt::format("{} x ", signature.count),
                     c10::toString(static_cast<at::ScalarType>(type)),
                     op == 0xff ? "" : fmt::format(", {}", op_name(op)),
                     rooted ? fmt::format(", root {}", root) : "");
}

}  // namespace tacos::torch_backend
