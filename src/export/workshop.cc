// SPDX-License-Identifier: MIT
#include "export/workshop.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/files/file.h"
#include "export/folder.h"

namespace tacos::exporting {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRequest = "request.json";
constexpr const char* kComplete = "complete";

/// Nothing, an empty folder, or one with an index.
Status check_place(const std::string& folder, const Product& product) {
  std::error_code why;
  const fs::file_status there = fs::status(folder, why);
  if (!fs::exists(there)) {
    return ok();
  }
  if (!fs::is_directory(there)) {
    return input_error(fmt::format("is a file; a {} is a folder", product.name), folder);
  }
  if (!fs::is_empty(folder, why) && !fs::exists(fs::path(folder) / product.index)) {
    return input_error(
        fmt::format("has files in it and is no {}; name another place", product.name), folder);
  }
  return ok();
}

}  // namespace

Result<Workshop> Workshop::open(const std::string& folder,
                                const Product& product,
                                std::string_view request) {
  const fs::path normal = fs::path(folder).lexically_normal();
  Workshop workshop((normal.has_filename() ? normal : normal.parent_path()).string());
  if (Status free = check_place(workshop.folder_, product); !free) {
    return free.error();
  }
  std::error_code why;
  const fs::path root = workshop.root();
  const std::string asked = (root / kRequest).string();
  if (fs::exists(root, why)) {
    const Result<std::string> before = read_text_file(asked);
    if (!before && !fs::is_empty(root, why)) {
      return input_error(
          fmt::format("is in the way and was not left by a {}; move it away", product.name),
          root.string());
    }
    if (!before || *before != request) {
      fs::remove_all(root, why);
    }
  }
  fs::create_directory(root, why);
  if (!fs::is_directory(root)) {
    return input_error(fmt::format("cannot be made: {}", why.message()), root.string());
  }
  // What an earlier call had begun to put together.
  fs::remove_all(root / kComplete, why);
  fs::create_directory(root / kComplete, why);
  if (Status written = write_text_file(asked, request); !written) {
    return written.error();
  }
  return workshop;
}

std::optional<Bundle> Workshop::find(const std::string& name) const {
  const fs::path file = fs::path(root()) / name;
  std::error_code why;
  if (!fs::exists(file, why)) {
    return std::nullopt;
  }
  Result<Bundle> bundle = read_bundle(file.string());
  return bundle ? std::optional(*std::move(bundle)) : std::nullopt;
}

Status Workshop::keep(const std::string& name, const Bundle& bundle) const {
  return write_bundle(bundle, (fs::path(root()) / name).string());
}

std::optional<std::string> Workshop::find_text(const std::string& name) const {
  const fs::path file = fs::path(root()) / name;
  std::error_code why;
  if (!fs::exists(file, why)) {
    return std::nullopt;
  }
  Result<std::string> text = read_text_file(file.string());
  return text ? std::optional(*std::move(text)) : std::nullopt;
}

Status Workshop::keep_text(const std::string& name, std::string_view text) const {
  return write_text_file((fs::path(root()) / name).string(), text);
}

std::string Workshop::path(const std::string& name) const {
  return (fs::path(root()) / kComplete / name).string();
}

Status Workshop::deliver(const std::string& name) const {
  std::error_code why;
  fs::rename(fs::path(root()) / name, path(name), why);
  return why ? Status(input_error(fmt::format("cannot be moved: {}", why.message()), name)) : ok();
}

Status Workshop::finish() const {
  if (Status moved = put_in_place((fs::path(root()) / kComplete).string(), folder_); !moved) {
    return moved;
  }
  std::error_code why;
  fs::remove_all(root(), why);
  return ok();
}

}  // namespace tacos::exporting
