// SPDX-License-Identifier: MIT
// Bytes that one process writes and another reads: values as they are in memory, since all run the
// same program on machines of one kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/assert.h"

namespace tacos {

using Packet = std::vector<std::byte>;

template <class T>
concept Sendable = std::is_trivially_copyable_v<T>;

template <Sendable T>
void put_all(Packet& packet, std::span<const T> values) {
  // Not insert, about which the compiler has wrong suspicions.
  const std::size_t before = packet.size();
  packet.resize(before + values.size_bytes());
  if (!values.empty()) {
    std::memcpy(packet.data() + before, values.data(), values.size_bytes());
  }
}

template <Sendable T>
void put(Packet& packet, const T& value) {
  put_all(packet, std::span<const T>(&value, 1));
}

inline void put_text(Packet& packet, const std::string& text) {
  put(packet, text.size());
  put_all(packet, std::span<const char>(text));
}

/// Reads what was put, in the same order.
class PacketReader {
 public:
  explicit PacketReader(std::span<const std::byte> rest) : rest_(rest) {}

  [[nodiscard]] std::span<const std::byte> bytes(std::size_t count) {
    TACOS_ASSERT(count <= rest_.size(), "a packet holds what its reader expects");
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  template <Sendable T>
  void get_all(std::span<T> values) {
    const auto from = bytes(values.size_bytes());
    if (!from.empty()) {
      std::memcpy(values.data(), from.data(), from.size());
    }
  }
  template <Sendable T>
  [[nodiscard]] T get() {
    T value;
    get_all(std::span(&value, 1));
    return value;
  }
  [[nodiscard]] std::string get_text() {
    std::string text(get<std::size_t>(), '\0');
    get_all(std::span(text));
    return text;
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace tacos
