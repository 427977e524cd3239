// SPDX-License-Identifier: MIT
// Columns of unsigned little-endian numbers, as narrow as they can be: docs/schedule-format.md,
// section "BLCK". A column says how many numbers it has, how many bytes each takes (0, 1, 2, 4 or
// 8) and a base that is added to each: a column of equal numbers takes no bytes at all.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace tacos {

/// As it lies in memory and in files.
struct ColumnHeader {
  std::uint32_t count = 0;
  std::uint32_t width = 0;
  std::uint64_t base = 0;
};

/// Appends the header of a column whose numbers are up to `base + spread`.
ColumnHeader append_column_header(std::vector<std::byte>& out,
                                  std::size_t count,
                                  std::uint64_t base,
                                  std::uint64_t spread);

template <class Narrow, class Value>
void append_numbers(std::vector<std::byte>& out, std::size_t count, const Value& value) {
  const std::size_t at = out.size();
  out.resize(at + count * sizeof(Narrow));
  std::byte* to = out.data() + at;
  for (std::size_t i = 0; i < count; ++i) {
    const auto narrow = static_cast<Narrow>(value(i));
    std::memcpy(to + i * sizeof narrow, &narrow, sizeof narrow);
  }
}

/// Appends a column. Two passes over `value(0)` ... `value(count - 1)`, unsigned numbers: how wide,
/// then what.
template <class Value>
void encode_column(std::vector<std::byte>& out, std::size_t count, const Value& value) {
  using Number = decltype(value(0));
  Number low = count == 0 ? 0 : value(0);
  Number high = low;
  for (std::size_t i = 1; i < count; ++i) {
    const Number number = value(i);
    low = std::min(low, number);
    high = std::max(high, number);
  }
  const ColumnHeader header = append_column_header(out, count, low, high - low);
  const auto above = [&value, low](std::size_t i) { return value(i) - low; };
  switch (header.width) {
    case 1:
      append_numbers<std::uint8_t>(out, count, above);
      break;
    case 2:
      append_numbers<std::uint16_t>(out, count, above);
      break;
    case 4:
      append_numbers<std::uint32_t>(out, count, above);
      break;
    case 8:
      append_numbers<std::uint64_t>(out, count, above);
      break;
    default:
      break;
  }
}

inline void encode_column(std::vector<std::byte>& out, std::span<const std::uint64_t> values) {
  encode_column(out, values.size(), [values](std::size_t i) { return values[i]; });
}

inline void encode_constant(std::vector<std::byte>& out, std::size_t count, std::uint64_t value) {
  append_column_header(out, count, value, 0);
}

/// A column as it lies in the bytes that were read.
struct Column {
  std::size_t count = 0;
  std::uint32_t width = 0;
  std::uint64_t base = 0;
  const std::byte* numbers = nullptr;

  /// Calls visit(value) for every value.
  template <class Visit>
  void for_each(const Visit& visit) const {
    switch (width) {
      case 0:
        for (std::size_t i = 0; i < count; ++i) {
          visit(base);
        }
        break;
      case 1:
        for_each_narrow<std::uint8_t>(visit);
        break;
      case 2:
        for_each_narrow<std::uint16_t>(visit);
        break;
      case 4:
        for_each_narrow<std::uint32_t>(visit);
        break;
      default:
        for_each_narrow<std::uint64_t>(visit);
        break;
    }
  }
  [[nodiscard]] bool all(std::uint64_t value) const { return width == 0 && base == value; }

 private:
  template <class Narrow, class Visit>
  void for_each_narrow(const Visit& visit) const {
    for (std::size_t i = 0; i < count; ++i) {
      Narrow narrow{};
      std::memcpy(&narrow, numbers + i * sizeof narrow, sizeof narrow);
      visit(base + narrow);
    }
  }
};

/// Reads columns one after the other, refusing lengths that the bytes do not have.
class ColumnReader {
 public:
  explicit ColumnReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  /// The next column; false when it is damaged or has more than `limit` numbers.
  [[nodiscard]] bool read(Column& column, std::size_t limit);
  /// The same, copied into `values`.
  [[nodiscard]] bool read(std::vector<std::uint64_t>& values, std::size_t limit);
  [[nodiscard]] bool done() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace tacos
