// SPDX-License-Identifier: MIT
// Matrices of devices as tools print them: a header of names, then a row for each.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "import/source.h"
#include "import/text/fields.h"

namespace tacos::importing {

struct DeviceMatrix {
  /// Of the header.
  std::size_t line = 0;
  std::vector<std::string> names;
  /// Row by row, as many as there are names.
  std::vector<std::vector<std::string>> cells;
  /// What stands behind the cells of a row.
  std::vector<std::vector<std::string>> rest;
  /// Of each row.
  std::vector<std::size_t> lines;
};

/// Without what switches colors and underlining on and off.
[[nodiscard]] std::string without_escapes(std::string_view text);

/// The matrix that begins at lines[first], the header, whose names end at `end_word`. Fails when it
/// is not square, or not symmetric.
[[nodiscard]] Result<DeviceMatrix> read_device_matrix(const Source& source,
                                                      const std::vector<TextLine>& lines,
                                                      std::size_t first,
                                                      std::string_view end_word);

}  // namespace tacos::importing
