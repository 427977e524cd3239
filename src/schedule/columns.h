// SPDX-License-Identifier: MIT
// Columns of unsigned numbers, as narrow as they can be: docs/schedule-format.md, section "BLCK".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tacos {

/// Appends a column to `out`.
void encode_column(std::vector<std::byte>& out, std::span<const std::uint64_t> values);

/// Reads columns one after the other, refusing lengths that the bytes do not have.
class ColumnReader {
 public:
  explicit ColumnReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  /// The next column into `values`; false when it is damaged or has more than `limit` numbers.
  [[nodiscard]] bool read(std::vector<std::uint64_t>& values, std::size_t limit);
  [[nodiscard]] bool done() const { return rest_.empty(); }

 private:
  template <class Narrow>
  void add(std::vector<std::uint64_t>& values);

  std::span<const std::byte> rest_;
};

}  // namespace tacos
