// SPDX-License-Identifier: MIT
// Where data goes that is written to a name: an open descriptor, a pipe or device, or a file.
#pragma once

#include <optional>
#include <string>

#include <sys/stat.h>

#include "tacos/result.h"

namespace tacos {

struct FileTarget {
  /// As it was given, for messages.
  std::string name;
  /// For "-", /dev/stdout, /dev/fd/3 and their like: what they stand for, whatever it is.
  std::optional<int> descriptor = std::nullopt;
  /// Else where the name leads once links are followed; the file need not be there yet.
  std::string path = {};
  /// Of what is there already.
  std::optional<struct stat> info = std::nullopt;

  /// Whether it can be written beside and renamed; all else is written as it is.
  [[nodiscard]] bool is_file() const { return !descriptor && (!info || S_ISREG(info->st_mode)); }
  [[nodiscard]] bool is_standard_output() const;
};

/// Fails on a folder, and on links that lead nowhere in the end.
[[nodiscard]] Result<FileTarget> find_target(const std::string& name);

/// Whether what goes to one would mix with or replace what goes to the other. Devices take both.
[[nodiscard]] bool same_target(const FileTarget& a, const FileTarget& b);

}  // namespace tacos
