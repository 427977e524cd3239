// SPDX-License-Identifier: MIT
#include "schedule/columns.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tacos {
namespace {

static_assert(std::endian::native == std::endian::little, "columns are little-endian in memory");

struct ColumnHeader {
  std::uint32_t count = 0;
  std::uint32_t width = 0;
  std::uint64_t base = 0;
};

void append_bytes(std::vector<std::byte>& out, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

template <class Narrow>
void append_column(std::vector<std::byte>& out,
                   std::span<const std::uint64_t> values,
                   std::uint64_t base) {
  const std::size_t at = out.size();
  out.resize(at + values.size() * sizeof(Narrow));
  std::byte* to = out.data() + at;
  for (const std::uint64_t value : values) {
    const auto narrow = static_cast<Narrow>(value - base);
    std::memcpy(to, &narrow, sizeof narrow);
    to += sizeof narrow;
  }
}

}  // namespace

void encode_column(std::vector<std::byte>& out, std::span<const std::uint64_t> values) {
  ColumnHeader header{.count = static_cast<std::uint32_t>(values.size())};
  if (!values.empty()) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    header.base = *low;
    const auto bits = std::bit_width(*high - *low);
    header.width = bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
  }
  append_bytes(out, &header, sizeof header);
  switch (header.width) {
    case 1:
      append_column<std::uint8_t>(out, values, header.base);
      break;
    case 2:
      append_column<std::uint16_t>(out, values, header.base);
      break;
    case 4:
      append_column<std::uint32_t>(out, values, header.base);
      break;
    case 8:
      append_column<std::uint64_t>(out, values, header.base);
      break;
    default:
      break;
  }
}

template <class Narrow>
void ColumnReader::add(std::vector<std::uint64_t>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Narrow narrow{};
    std::memcpy(&narrow, rest_.data() + i * sizeof narrow, sizeof narrow);
    values[i] += narrow;
  }
  rest_ = rest_.subspan(values.size() * sizeof(Narrow));
}

bool ColumnReader::read(std::vector<std::uint64_t>& values, std::size_t limit) {
  ColumnHeader header;
  if (rest_.size() < sizeof header) {
    return false;
  }
  std::memcpy(&header, rest_.data(), sizeof header);
  rest_ = rest_.subspan(sizeof header);
  const bool known = header.width == 0 || (header.width <= 8 && std::has_single_bit(header.width));
  if (!known || header.count > limit || rest_.size() < std::uint64_t{header.count} * header.width) {
    return false;
  }
  values.assign(header.count, header.base);
  switch (header.width) {
    case 1:
      add<std::uint8_t>(values);
      break;
    case 2:
      add<std::uint16_t>(values);
      break;
    case 4:
      add<std::uint32_t>(values);
      break;
    case 8:
      add<std::uint64_t>(values);
      break;
    default:
      break;
  }
  return true;
}
}  // namespace tacos
