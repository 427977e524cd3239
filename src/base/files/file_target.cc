// SPDX-License-Identifier: MIT
#include "base/files/file_target.h"

#include <charconv>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

namespace tacos {
namespace {

namespace fs = std::filesystem;

std::optional<int> descriptor_of(const fs::path& path) {
  const std::string name = path.lexically_normal().string();
  if (name == "/dev/stdout") {
    return STDOUT_FILENO;
  }
  if (name == "/dev/stderr") {
    return STDERR_FILENO;
  }
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (name.starts_with(folder)) {
      const char* const end = name.data() + name.size();
      int number = 0;
      const auto [last, failure] = std::from_chars(name.data() + folder.size(), end, number);
      return failure == std::errc() && last == end ? std::optional(number) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// The same file for the same place, however it is spelt.
fs::path spelt_out(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  std::error_code failed;
  const fs::path folder = fs::canonical(fs::path(path).parent_path() / ".", failed);
  return failed ? normal : folder / normal.filename();
}

}  // namespace

bool FileTarget::is_standard_output() const {
  return descriptor == STDOUT_FILENO;
}

Result<FileTarget> find_target(const std::string& name) {
  constexpr int kMostLinks = 40;
  FileTarget target{.name = name};
  fs::path path = name;
  for (int links = 0; links <= kMostLinks; ++links) {
    target.descriptor = name == "-" ? STDOUT_FILENO : descriptor_of(path);
    if (target.descriptor) {
      target.name = target.is_standard_output() ? "standard output" : name;
      return target;
    }
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0) {
      target.info = info;
    }
    if (target.info && S_ISDIR(target.info->st_mode)) {
      return input_error("is a folder, not a file", name);
    }
    std::error_code failed;
    const fs::path next = fs::read_symlink(path, failed);
    if (failed || !target.is_file()) {
      target.path = path.string();
      return target;
    }
    path = path.parent_path() / next;
  }
  return input_error("cannot be written: it is a link that leads in a circle", name);
}

bool same_target(const FileTarget& a, const FileTarget& b) {
  if (a.descriptor || b.descriptor) {
    return a.descriptor == b.descriptor;
  }
  const bool device = a.info && S_ISCHR(a.info->st_mode);
  return !device && spelt_out(a.path) == spelt_out(b.path);
}

}  // namespace tacos
