// SPDX-License-Identifier: MIT
// Strong 32-bit ids: a ChunkId does not convert to a NodeId, nor either to a number by accident.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tacos {

template <class Tag>
class StrongId {
 public:
  using value_type = std::uint32_t;

  /// A default-made id names nothing.
  constexpr StrongId() = default;
  constexpr explicit StrongId(value_type value) : value_(value) {}

  [[nodiscard]] constexpr value_type value() const { return value_; }
  [[nodiscard]] constexpr std::size_t index() const { return value_; }
  [[nodiscard]] constexpr bool valid() const { return value_ != kNone; }

  friend constexpr auto operator<=>(StrongId, StrongId) = default;

 private:
  static constexpr value_type kNone = std::numeric_limits<value_type>::max();
  value_type value_ = kNone;
};

/// NPUs are numbered 0..npus-1, switches after them.
using NodeId = StrongId<struct NodeTag>;
using LinkId = StrongId<struct LinkTag>;
using ChunkId = StrongId<struct ChunkTag>;

}  // namespace tacos
