// SPDX-License-Identifier: MIT
#include "cli/command.h"

#include <algorithm>
#include <fstream>
#include <thread>

namespace tacos::cli {

ExitCode fail(const Error& error) {
  complain(error.to_string());
  return exit_code(error.code);
}

ExitCode exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInternal:
      return ExitCode::kInternal;
    case ErrorCode::kUsage:
      return ExitCode::kUsage;
    case ErrorCode::kInput:
      return ExitCode::kBadInput;
    case ErrorCode::kInfeasible:
      return ExitCode::kInfeasible;
    case ErrorCode::kCancelled:
      return ExitCode::kInternal;
  }
  return ExitCode::kInternal;
}

void Table::add(std::string_view label, std::string value) {
  rows_.emplace_back(label, std::move(value));
}

void Table::print(std::FILE* stream) const {
  std::size_t width = 0;
  for (const auto& [label, value] : rows_) {
    width = std::max(width, label.size());
  }
  for (const auto& [label, value] : rows_) {
    emit(stream, "  {:<{}}  {}\n", label, width, value);
  }
}

int all_cores() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::size_t peak_rss_bytes() {
  // Not getrusage: its maximum survives exec, so it may be that of whoever started us.
  std::ifstream status("/proc/self/status");
  constexpr std::size_t kKilobyte = 1024;
  const std::string_view key = "VmHWM:";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) {
      return std::stoull(line.substr(key.size())) * kKilobyte;
    }
  }
  return 0;
}

void print_columns(std::FILE* stream, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += fmt::format("  {:<{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    emit(stream, "{}\n", line);
  }
}

}  // namespace tacos::cli
