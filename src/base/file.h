// SPDX-License-Identifier: MIT
// Files read whole, and files written beside their name and renamed when complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "tacos/result.h"

namespace tacos {

/// "-" is standard input.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path);

/// Fails when the disk of a directory cannot hold so many bytes more.
[[nodiscard]] Status check_disk_room(const std::string& directory, std::uint64_t bytes);

/// Writes to a temporary neighbour; `commit` renames it. Destroyed uncommitted, nothing is left.
class AtomicFile {
 public:
  [[nodiscard]] static Result<AtomicFile> create(const std::string& path);
  /// The neighbour that `create` would write to; the process id keeps two writers apart.
  [[nodiscard]] static std::string temporary_name(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  [[nodiscard]] Status write(std::span<const std::byte> bytes);
  [[nodiscard]] Status write(std::string_view text);
  [[nodiscard]] Status commit();
  /// Fails when the disk cannot hold so many bytes more; a pipe or a device holds any number.
  [[nodiscard]] Status check_room(std::uint64_t bytes) const;

 private:
  AtomicFile(std::string path, std::string temporary, std::FILE* file);
  [[nodiscard]] Error failure(std::string_view what) const;
  void discard() const;

  std::string path_;
  /// Empty when the path is a pipe or a device, which is written directly.
  std::string temporary_;
  std::FILE* file_ = nullptr;
};

/// The whole of `text` at once.
[[nodiscard]] Status write_text_file(const std::string& path, std::string_view text);

}  // namespace tacos
