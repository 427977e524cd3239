// SPDX-License-Identifier: MIT
#include "base/files/file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text/quantity.h"

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

/// A network of ten million links fits; what goes on for longer is no file of ours.
constexpr std::size_t kLongestText = std::size_t{1} << 30U;

Status append_all(std::FILE* file, const std::string& path, std::string& text) {
  std::array<char, 1U << 16U> buffer{};
  for (std::size_t got = 1; got > 0;) {
    got = std::fread(buffer.data(), 1, buffer.size(), file);
    const std::string_view part(buffer.data(), got);
    // Devices such as /dev/zero never end.
    if (part.find('\0') != std::string_view::npos) {
      return input_error("has a NUL byte in it, so it is not text", path);
    }
    if (text.size() + got > kLongestText) {
      return input_error(
          fmt::format("is longer than the {} that a text may have", format_binary(kLongestText)),
          path);
    }
    text.append(part);
  }
  return std::ferror(file) == 0 ? ok() : Status(input_error("cannot be read to its end", path));
}

/// Why a target cannot be written, from errno. Nobody asked for a file when standard output fails.
Error write_error(const FileTarget& target) {
  return {.code = target.is_standard_output() ? ErrorCode::kInternal : ErrorCode::kInput,
          .message = fmt::format("cannot be written: {}", std::strerror(errno)),
          .where = target.name};
}

}  // namespace

Status check_directory(const std::string& directory) {
  struct stat info {};
  if (::stat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return input_error("is no directory to write to", directory);
  }
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    return input_error(fmt::format("cannot be written to: {}", std::strerror(errno)), directory);
  }
  return ok();
}

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
  const Status read = append_all(file, standard_input ? "standard input" : path, text);
  if (!standard_input) {
    (void)std::fclose(file);
  }
  return read ? Result<std::string>(std::move(text)) : read.error();
}

Status check_writable(const FileTarget& target) {
  if (target.is_file()) {
    const Result<AtomicFile> file = AtomicFile::create(target);
    return file ? ok() : Status(file.error());
  }
  bool writable = false;
  if (target.descriptor) {
    const int flags = ::fcntl(*target.descriptor, F_GETFL);
    writable = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
    errno = EBADF;
  } else {
    writable = ::access(target.path.c_str(), W_OK) == 0;
  }
  return writable ? ok() : Status(write_error(target));
}

AtomicFile::AtomicFile(FileTarget target)
    : target_(std::move(target)),
      // The process id keeps two writers apart.
      temporary_(target_.is_file() ? fmt::format("{}.partial.{}", target_.path, ::getpid()) : ""),
      partial_(temporary_.empty() ? PartialName() : PartialName(temporary_)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      partial_(std::move(other.partial_)),
      file_(std::exchange(other.file_, nullptr)) {}

AtomicFile::~AtomicFile() {
  if (file_ != nullptr) {
    (void)std::fclose(file_);
  }
  if (!temporary_.empty()) {
    (void)::unlink(temporary_.c_str());
  }
}

int AtomicFile::open_neighbour() const {
  constexpr mode_t kNewFile = 0666;
  constexpr mode_t kPermissions = 0777;
  const auto& info = target_.info;
  if (info && ::access(target_.path.c_str(), W_OK) != 0) {
    return -1;
  }
  // What an earlier process of this id left behind, if it was killed.
  (void)::unlink(temporary_.c_str());
  const int descriptor = ::open(temporary_.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                info ? info->st_mode & kPermissions : kNewFile);
  if (descriptor >= 0 && info) {
    // Only root may give files away; without that they are the writer's.
    (void)!::fchown(descriptor, info->st_uid, info->st_gid);
    (void)::fchmod(descriptor, info->st_mode & kPermissions);
  }
  return descriptor;
}

int AtomicFile::open() const {
  if (target_.descriptor) {
    return ::fcntl(*target_.descriptor, F_DUPFD_CLOEXEC, 0);
  }
  return target_.is_file() ? open_neighbour()
                           : ::open(target_.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

Result<AtomicFile> AtomicFile::create(const std::string& name) {
  Result<FileTarget> target = find_target(name);
  return target ? create(*std::move(target)) : Result<AtomicFile>(target.error());
}

Result<AtomicFile> AtomicFile::create(FileTarget target) {
  AtomicFile made(std::move(target));
  const int descriptor = made.open();
  made.file_ = descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
  if (made.file_ == nullptr) {
    return write_error(made.target_);
  }
  return made;
}

Status AtomicFile::check_room(std::uint64_t bytes) const {
  struct statvfs disk {};
  if (temporary_.empty() || ::fstatvfs(::fileno(file_), &disk) != 0) {
    return ok();
  }
  return room_on(disk, bytes, target_.name);
}

Status AtomicFile::write(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) {
    return write_error(target_);
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
    return write_error(target_);
  }
  if (std::fclose(std::exchange(file_, nullptr)) != 0 ||
      (!direct && ::rename(temporary_.c_str(), target_.path.c_str()) != 0)) {
    return write_error(target_);
  }
  temporary_.clear();
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
