// SPDX-License-Identifier: MIT
// A large array of zeros in memory, or in a file for what memory has no room for.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace tacos {

/// Owns bytes that are zero at first. In a file they are the system's to keep in memory or not; the
/// file has no name, and is gone when this is, or the process.
class ZeroedBytes {
 public:
  /// In memory when `directory` is empty, else in a file there, whose room on disk is taken at
  /// once. Throws std::bad_alloc or std::system_error.
  ZeroedBytes(std::size_t bytes, const std::string& directory);
  ZeroedBytes(ZeroedBytes&& other) noexcept
      : bytes_(other.bytes_),
        in_file_(other.in_file_),
        data_(std::exchange(other.data_, nullptr)) {}
  ZeroedBytes& operator=(ZeroedBytes&&) = delete;
  ZeroedBytes(const ZeroedBytes&) = delete;
  ZeroedBytes& operator=(const ZeroedBytes&) = delete;
  ~ZeroedBytes();

  [[nodiscard]] void* data() { return data_; }
  [[nodiscard]] const void* data() const { return data_; }
  /// What counts as this process's memory.
  [[nodiscard]] std::size_t memory_bytes() const { return in_file_ ? 0 : bytes_; }

 private:
  std::size_t bytes_;
  bool in_file_;
  void* data_ = nullptr;
};

}  // namespace tacos
