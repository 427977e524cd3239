// SPDX-License-Identifier: MIT
#include "base/file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/quantity.h"

namespace tacos {
namespace {

Status room_on(const struct statvfs& disk, std::uint64_t bytes, const std::string& path) {
  const std::uint64_t free = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  if (bytes > free) {
    return input_error(fmt::format("needs {}, {} free on its disk; write it elsewhere",
                                   format_binary(bytes),
                                   format_binary(free)),
                       path);
  }
  return ok();
}

}  // namespace

Status check_disk_room(const std::string& directory, std::uint64_t bytes) {
  struct statvfs disk {};
  if (::statvfs(directory.c_str(), &disk) != 0) {
    return input_error("is no directory to write to", directory);
  }
  return room_on(disk, bytes, directory);
}

Result<std::string> read_text_file(const std::string& path) {
  struct stat info {};
  const bool standard_input = path == "-";
  if (!standard_input && ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return input_error("is a folder, not a file", path);
  }
  std::FILE* file = standard_input ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return input_error(fmt::format("cannot be read: {}", std::strerror(errno)), path);
  }
  std::string text;
  std::array<char, 1U << 16U> buffer{};
  for (std::size_t got = 1; got > 0;) {
    got = std::fread(buffer.data(), 1, buffer.size(), file);
    text.append(buffer.data(), got);
  }
  const bool failed = std::ferror(file) != 0;
  if (!standard_input) {
    (void)std::fclose(file);
  }
  if (failed) {
    return input_error("cannot be read to its end", path);
  }
  return text;
}

AtomicFile::AtomicFile(std::string path, std::string temporary, std::FILE* file)
    : path_(std::move(path)), temporary_(std::move(temporary)), file_(file) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      file_(std::exchange(other.file_, nullptr)) {}

AtomicFile::~AtomicFile() {
  if (file_ != nullptr) {
    (void)std::fclose(file_);
    discard();
  }
}

void AtomicFile::discard() const {
  if (!temporary_.empty()) {
    (void)::unlink(temporary_.c_str());
  }
}

Error AtomicFile::failure(std::string_view what) const {
  return input_error(fmt::format("cannot be {}: {}", what, std::strerror(errno)), path_);
}

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    return input_error("is a folder, not a file", path);
  }
  // A pipe or a device is written straight: renaming over /dev/null would replace it.
  const bool direct = exists && !S_ISREG(info.st_mode);
  AtomicFile made(path, direct ? std::string() : temporary_name(path), nullptr);
  made.file_ = std::fopen(direct ? path.c_str() : made.temporary_.c_str(), "wb");
  if (made.file_ == nullptr) {
    return made.failure("written");
  }
  return made;
}

std::string AtomicFile::temporary_name(const std::string& path) {
  return fmt::format("{}.partial.{}", path, ::getpid());
}

Status AtomicFile::check_room(std::uint64_t bytes) const {
  struct statvfs disk {};
  if (temporary_.empty() || ::fstatvfs(::fileno(file_), &disk) != 0) {
    return ok();
  }
  return room_on(disk, bytes, path_);
}

Status AtomicFile::write(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    return failure("written");
  }
  return ok();
}

Status AtomicFile::write(std::string_view text) {
  return write(std::as_bytes(std::span(text)));
}

Status AtomicFile::commit() {
  // Closing may be what reports a full disk.
  const bool direct = temporary_.empty();
  if (std::fflush(file_) != 0 || (!direct && ::fsync(::fileno(file_)) != 0)) {
    return failure("written");
  }
  if (std::fclose(std::exchange(file_, nullptr)) != 0 ||
      (!direct && ::rename(temporary_.c_str(), path_.c_str()) != 0)) {
    Error error = failure("written");
    discard();
    return error;
  }
  return ok();
}

Status write_text_file(const std::string& path, std::string_view text) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) {
    return file.error();
  }
  if (Status written = file->write(text); !written) {
    return written;
  }
  return file->commit();
}

}  // namespace tacos
