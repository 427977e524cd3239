// SPDX-License-Identifier: MIT
// As much of the protobuf wire format as a Chakra trace needs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tacos::exporting {

inline void put_varint(std::uint64_t value, std::string& bytes) {
  constexpr std::uint64_t kMore = 0x80;
  for (; value >= kMore; value >>= 7U) {
    bytes += static_cast<char>(value % kMore + kMore);
  }
  bytes += static_cast<char>(value);
}

/// A number as a field.
inline void put_number(std::uint32_t field, std::uint64_t value, std::string& bytes) {
  put_varint(std::uint64_t{field} << 3U, bytes);
  put_varint(value, bytes);
}

/// A text, or a message that was put together before, as a field.
inline void put_bytes(std::uint32_t field, std::string_view value, std::string& bytes) {
  put_varint((std::uint64_t{field} << 3U) + 2, bytes);
  put_varint(value.size(), bytes);
  bytes += value;
}

/// Numbers as a packed field.
inline void put_numbers(std::uint32_t field,
                        std::span<const std::uint64_t> values,
                        std::string& bytes) {
  if (values.empty()) {
    return;
  }
  std::string packed;
  for (const std::uint64_t value : values) {
    put_varint(value, packed);
  }
  put_bytes(field, packed, bytes);
}

/// A message in a file: its length, then itself.
inline void put_record(std::string_view message, std::string& file) {
  put_varint(message.size(), file);
  file += message;
}

}  // namespace tacos::exporting
