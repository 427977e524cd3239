// SPDX-License-Identifier: MIT
// Data for collectives whose results can be compared bit for bit: whole numbers, so small that
// every order of adding them gives the same in every type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tacos/execute.h"

namespace tacos::cli {

/// What a member starts with; every member has other numbers.
void fill_input(ElementType type, ReduceOp op, std::uint32_t member, std::span<std::byte> buffer);

/// Elements that differ; both are of the same length.
[[nodiscard]] std::uint64_t count_different(ElementType type,
                                            std::span<const std::byte> one,
                                            std::span<const std::byte> other);

}  // namespace tacos::cli
