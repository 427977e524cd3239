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

#include "base/files/file_target.h"
#include "base/files/partial_files.h"

namespace tacos {

/// "-" is standard input. Refuses what is no text, and what is larger than any text of ours.
[[nodiscard]] Result<std::string> read_text_file(const std::string& path);

/// Fails when files cannot be made in this directory.
[[nodiscard]] Status check_directory(const std::string& directory);
/// Fails when the disk of a directory cannot hold so many bytes more.
[[nodiscard]] Status check_disk_room(const std::string& directory, std::uint64_t bytes);

/// Fails when a target cannot be written, before there is anything to write; leaves no trace.
[[nodiscard]] Status check_writable(const FileTarget& target);

/// Writes to a temporary neighbour; `commit` renames it. Destroyed uncommitted, nothing is left,
/// nor after remove_partial_files. An existing file keeps its mode, and a link stays one. "-", a
/// pipe or a device is written as it is.
class AtomicFile {
 public:
  [[nodiscard]] static Result<AtomicFile> create(const std::string& name);
  [[nodiscard]] static Result<AtomicFile> create(FileTarget target);
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
  explicit AtomicFile(FileTarget target);
  [[nodiscard]] int open() const;
  [[nodiscard]] int open_neighbour() const;

  FileTarget target_;
  /// Empty when the target is written directly, and once it is complete.
  std::string temporary_;
  PartialName partial_;
  std::FILE* file_ = nullptr;
};

/// The whole of `text` at once.
[[nodiscard]] Status write_text_file(const std::string& path, std::string_view text);

}  // namespace tacos
