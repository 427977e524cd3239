// SPDX-License-Identifier: MIT
#include "export/folder.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "base/files/file.h"

namespace tacos::exporting {
namespace {

namespace fs = std::filesystem;

Error cannot(const std::string& path, const std::error_code& why) {
  return input_error(fmt::format("cannot be written: {}", why.message()), path);
}

Status fill(const fs::path& folder, std::span<const ExportFile> files) {
  for (const ExportFile& one : files) {
    const fs::path path = folder / one.name;
    Result<AtomicFile> file = AtomicFile::create(path.string());
    if (!file) {
      return file.error();
    }
    if (Status written = file->write(one.bytes); !written) {
      return written;
    }
    if (Status complete = file->commit(); !complete) {
      return complete;
    }
    if (one.runs) {
      fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add);
    }
  }
  return ok();
}

}  // namespace

Status put_in_place(const std::string& fresh, const std::string& path) {
  std::error_code why;
  const bool replaces = fs::exists(path, why);
  const std::string old = fmt::format("{}.old.{}", path, ::getpid());
  if (replaces) {
    fs::rename(path, old, why);
    if (why) {
      return cannot(path, why);
    }
  }
  fs::rename(fresh, path, why);
  if (why) {
    return cannot(path, why);
  }
  if (replaces) {
    fs::remove_all(old, why);
  }
  return ok();
}

Status write_folder(const std::string& path, std::span<const ExportFile> files) {
  const fs::path target = fs::path(path).lexically_normal();
  std::error_code why;
  const fs::file_status there = fs::status(target, why);
  if (fs::exists(there) && !fs::is_directory(there)) {
    return input_error("is a file, and this format writes a folder; name another place", path);
  }
  const std::string name = target.has_filename() ? target.string() : target.parent_path().string();
  const std::string fresh = fmt::format("{}.partial.{}", name, ::getpid());
  if (!fs::create_directory(fresh, why)) {
    return cannot(path, why);
  }
  Status written = fill(fresh, files);
  if (written) {
    written = put_in_place(fresh, name);
  }
  if (!written) {
    fs::remove_all(fresh, why);
  }
  return written;
}

}  // namespace tacos::exporting
