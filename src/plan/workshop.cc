// SPDX-License-Identifier: MIT
#include "plan/workshop.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "tacos/plan.h"

#include "base/files/file.h"
#include "export/folder.h"

namespace tacos::planning {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRequest = "request.json";
constexpr const char* kComplete = "complete";

/// Nothing, an empty folder, or one with an index.
Status check_place(const std::string& folder) {
  std::error_code why;
  const fs::file_status there = fs::status(folder, why);
  if (!fs::exists(there)) {
    return ok();
  }
  if (!fs::is_directory(there)) {
    return input_error("is a file; a plan is a folder", folder);
  }
  if (!fs::is_empty(folder, why) && !fs::exists(fs::path(folder) / kPlanIndex)) {
    return input_error("has files in it and is no plan; name another place", folder);
  }
  return ok();
}

}  // namespace

Result<Workshop> Workshop::open(const std::string& folder, std::string_view request) {
  const fs::path normal = fs::path(folder).lexically_normal();
  Workshop workshop((normal.has_filename() ? normal : normal.parent_path()).string());
  if (Status free = check_place(workshop.folder_); !free) {
    return free.error();
  }
  std::error_code why;
  const fs::path root = workshop.root();
  const std::string asked = (root / kRequest).string();
  if (fs::exists(root, why)) {
    const Result<std::string> before = read_text_file(asked);
    if (!before && !fs::is_empty(root, why)) {
      return input_error("is in the way and was not left by a plan; move it away", root.string());
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

std::string Workshop::path(const std::string& name) const {
  return (fs::path(root()) / kComplete / name).string();
}

Status Workshop::finish() const {
  if (Status moved = exporting::put_in_place((fs::path(root()) / kComplete).string(), folder_);
      !moved) {
    return moved;
  }
  std::error_code why;
  fs::remove_all(root(), why);
  return ok();
}

}  // namespace tacos::planning
