// SPDX-License-Identifier: MIT
// Names and sizes of what buffers are made of, and of what is done with it.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tacos/execute.h"

#include "base/text/suggest.h"
#include "execute/reduce.h"

namespace tacos {
namespace {

struct TypeRow {
  ElementType type;
  std::string_view name;
  std::size_t bytes;
};
// In the order of the enumeration.
constexpr std::array<TypeRow, 10> kTypes{{{ElementType::kFloat32, "float32", 4},
                                          {ElementType::kFloat64, "float64", 8},
                                          {ElementType::kBfloat16, "bfloat16", 2},
                                          {ElementType::kFloat16, "float16", 2},
                                          {ElementType::kInt8, "int8", 1},
                                          {ElementType::kUint8, "uint8", 1},
                                          {ElementType::kInt32, "int32", 4},
                                          {ElementType::kInt64, "int64", 8},
                                          {ElementType::kComplex64, "complex64", 8},
                                          {ElementType::kComplex128, "complex128", 16}}};
constexpr std::array<std::string_view, 5> kOps{"sum", "min", "max", "prod", "avg"};

template <class Enum, std::size_t Count>
constexpr std::array<Enum, Count> all_of() {
  std::array<Enum, Count> all{};
  for (std::size_t i = 0; i < Count; ++i) {
    all[i] = static_cast<Enum>(i);
  }
  return all;
}
constexpr auto kAllTypes = all_of<ElementType, kTypes.size()>();
constexpr auto kAllOps = all_of<ReduceOp, kOps.size()>();

}  // namespace

std::string_view to_string(ElementType type) {
  return kTypes[static_cast<std::size_t>(type)].name;
}

std::size_t element_bytes(ElementType type) {
  return kTypes[static_cast<std::size_t>(type)].bytes;
}

std::span<const ElementType> element_types() {
  return kAllTypes;
}

Result<ElementType> parse_element_type(std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(kTypes.size());
  for (const TypeRow& row : kTypes) {
    if (row.name == name) {
      return row.type;
    }
    names.push_back(row.name);
  }
  return input_error(unknown_name("type", name, names));
}

std::string_view to_string(ReduceOp op) {
  return kOps[static_cast<std::size_t>(op)];
}

std::span<const ReduceOp> reduce_ops() {
  return kAllOps;
}

Result<ReduceOp> parse_reduce_op(std::string_view name) {
  const auto* const found = std::find(kOps.begin(), kOps.end(), name);
  if (found == kOps.end()) {
    return input_error(unknown_name("operation", name, kOps));
  }
  return static_cast<ReduceOp>(found - kOps.begin());
}

Status check_reduction(ElementType type, ReduceOp op) {
  if (execution::reduction(type, op).add == nullptr) {
    return input_error(fmt::format("{} has no {}", to_string(type), to_string(op)));
  }
  return ok();
}

}  // namespace tacos
