// SPDX-License-Identifier: MIT
#include "schedule/blocks/columns.h"

namespace tacos {

static_assert(std::endian::native == std::endian::little, "columns are little-endian in memory");

ColumnHeader append_column_header(std::vector<std::byte>& out,
                                  std::size_t count,
                                  std::uint64_t base,
                                  std::uint64_t spread) {
  const auto bits = std::bit_width(spread);
  const ColumnHeader header{.count = static_cast<std::uint32_t>(count),
                            .width = bits == 0    ? 0U
                                     : bits <= 8  ? 1U
                                     : bits <= 16 ? 2U
                                     : bits <= 32 ? 4U
                                                  : 8U,
                            .base = base};
  const std::size_t at = out.size();
  out.resize(at + sizeof header);
  std::memcpy(out.data() + at, &header, sizeof header);
  return header;
}

bool ColumnReader::read(Column& column, std::size_t limit) {
  ColumnHeader header;
  if (rest_.size() < sizeof header) {
    return false;
  }
  std::memcpy(&header, rest_.data(), sizeof header);
  rest_ = rest_.subspan(sizeof header);
  const bool known = header.width == 0 || (header.width <= 8 && std::has_single_bit(header.width));
  const std::uint64_t bytes = std::uint64_t{header.count} * header.width;
  if (!known || header.count > limit || rest_.size() < bytes) {
    return false;
  }
  column = {header.count, header.width, header.base, rest_.data()};
  rest_ = rest_.subspan(bytes);
  return true;
}

bool ColumnReader::read(std::vector<std::uint64_t>& values, std::size_t limit) {
  Column column;
  if (!read(column, limit)) {
    return false;
  }
  values.clear();
  values.reserve(column.count);
  column.for_each([&](std::uint64_t value) { values.push_back(value); });
  return true;
}

}  // namespace tacos
