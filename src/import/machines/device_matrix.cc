// SPDX-License-Identifier: MIT
#include "import/machines/device_matrix.h"

#include <algorithm>

#include <fmt/format.h>

namespace tacos::importing {
namespace {

constexpr std::size_t kMostDevices = 4096;

Status check_symmetry(const Source& source, const DeviceMatrix& matrix) {
  for (std::size_t row = 0; row < matrix.names.size(); ++row) {
    for (std::size_t column = 0; column < row; ++column) {
      const std::string& there = matrix.cells[row][column];
      const std::string& back = matrix.cells[column][row];
      if (there != back) {
        return source.error(matrix.lines[row],
                            fmt::format("{} has '{}' for {}, which has '{}' for it",
                                        matrix.names[row],
                                        there,
                                        matrix.names[column],
                                        back));
      }
    }
  }
  return ok();
}

}  // namespace

std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\x1b') {
      plain += text[at];
      continue;
    }
    // "ESC [ numbers letter"
    at = std::min(text.find_first_not_of("[0123456789;", at + 1), text.size());
  }
  return plain;
}

Result<DeviceMatrix> read_device_matrix(const Source& source,
                                        const std::vector<TextLine>& lines,
                                        std::size_t first,
                                        std::string_view end_word) {
  DeviceMatrix matrix;
  matrix.line = lines[first].number;
  for (const std::string_view word : words_of(lines[first].text)) {
    if (word == end_word) {
      break;
    }
    matrix.names.emplace_back(word);
  }
  const std::size_t size = matrix.names.size();
  if (size > kMostDevices) {
    return source.error(matrix.line, fmt::format("has more than {} devices", kMostDevices));
  }
  for (std::size_t at = first + 1; at < lines.size() && matrix.cells.size() < size; ++at) {
    const std::vector<std::string_view> words = words_of(lines[at].text);
    if (words.empty()) {
      break;
    }
    const std::string& expected = matrix.names[matrix.cells.size()];
    if (words.front() != expected) {
      return source.error(lines[at].number,
                          fmt::format("is the row of {} where that of {} belongs; the matrix is "
                                      "not square",
                                      words.front(),
                                      expected));
    }
    if (words.size() < size + 1) {
      return source.error(
          lines[at].number,
          fmt::format(
              "{} has {} cells, not the {} of the header", expected, words.size() - 1, size));
    }
    const auto cells = words.begin() + 1;
    const auto end = cells + static_cast<std::ptrdiff_t>(size);
    matrix.cells.emplace_back(cells, end);
    matrix.rest.emplace_back(end, words.end());
    matrix.lines.push_back(lines[at].number);
  }
  if (matrix.cells.size() < size) {
    return source.error(
        matrix.line,
        fmt::format(
            "has {} devices but {} rows; the matrix is not square", size, matrix.cells.size()));
  }
  if (Status same = check_symmetry(source, matrix); !same) {
    return same.error();
  }
  return matrix;
}

}  // namespace tacos::importing
