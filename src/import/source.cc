// SPDX-License-Identifier: MIT
#include "import/source.h"

#include <filesystem>

#include <fmt/format.h>

namespace tacos::importing {
namespace {

/// A file that brings forth thousands of warnings is told of a few.
constexpr std::size_t kMostWarnings = 20;

}  // namespace

std::string Source::name() const {
  return where_ == "-" ? "stdin" : std::filesystem::path(where_).stem().string();
}

std::string Source::at(std::size_t line) const {
  return fmt::format("{}:{}", where_, line);
}

Error Source::error(std::size_t line, const std::string& message) const {
  return input_error(message, at(line));
}

void Source::warn(std::size_t line, const std::string& message) const {
  if (warnings_.size() < kMostWarnings) {
    warnings_.push_back(fmt::format("{}: {}", at(line), message));
  } else if (warnings_.size() == kMostWarnings) {
    warnings_.push_back(fmt::format("{}: has more of that kind", where_));
  }
}

}  // namespace tacos::importing
