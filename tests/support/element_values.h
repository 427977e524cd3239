// SPDX-License-Identifier: MIT
// Elements of any type as numbers, by definition rather than by arithmetic on bits; the oracle of
// reductions.
#pragma once

#include <complex>
#include <cstddef>

#include "tacos/execute.h"

namespace tacos::test {

using Value = std::complex<double>;

[[nodiscard]] Value read_element(ElementType type, const std::byte* from);
/// The nearest that the type has, ties to even; of integers what is left of it modulo their range.
void write_element(ElementType type, std::byte* to, Value value);
/// What an operation makes of two; of an average the sum.
[[nodiscard]] Value reduce_values(ReduceOp op, Value a, Value b);
/// What is left to do with the result of so many.
[[nodiscard]] Value finish_value(ElementType type, ReduceOp op, Value sum, std::size_t summands);

}  // namespace tacos::test
