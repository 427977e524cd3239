// SPDX-License-Identifier: MIT
// What reductions do with elements.
#pragma once

#include <cstddef>

#include "tacos/execute.h"

namespace tacos::execution {

/// Elements of one type under one operation. Buffers are aligned as the type wants, and do not
/// overlap.
struct Reduction {
  /// `to` becomes `to` and `from`.
  void (*add)(void* to, const void* from, std::size_t count) = nullptr;
  /// `to` becomes `one` and `other`.
  void (*join)(void* to, const void* one, const void* other, std::size_t count) = nullptr;
  /// What is left to do with a complete sum of so many; null when nothing is.
  void (*finish)(void* to, std::size_t count, std::size_t summands) = nullptr;
};

/// Null functions where the type has no such operation.
[[nodiscard]] Reduction reduction(ElementType type, ReduceOp op);

}  // namespace tacos::execution
