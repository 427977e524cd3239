// SPDX-License-Identifier: MIT
#include "base/memory/zeroed_bytes.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory/huge_vector.h"

namespace tacos {
namespace {

/// A file without a name; where the file system cannot do that, it has one for a moment.
int open_nameless(const std::string& directory) {
  constexpr mode_t kMine = 0600;
  const int nameless = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kMine);
  if (nameless >= 0) {
    return nameless;
  }
  std::string name = directory + "/tacos.XXXXXX";
  const int named = ::mkstemp(name.data());
  if (named >= 0) {
    (void)::unlink(name.c_str());
  }
  return named;
}

/// Maps a fresh file; a file with holes would end the process when the disk is full, so it has
/// none.
void* map_file(std::size_t bytes, const std::string& directory) {
  const int file = open_nameless(directory);
  if (file < 0) {
    throw std::system_error(errno, std::generic_category(), directory);
  }
  int failed = ::posix_fallocate(file, 0, static_cast<off_t>(bytes));
  void* data = MAP_FAILED;
  if (failed == 0) {
    data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    failed = data == MAP_FAILED ? errno : 0;
  }
  (void)::close(file);
  if (failed != 0) {
    throw std::system_error(failed, std::generic_category(), directory);
  }
  return data;
}

}  // namespace

ZeroedBytes::ZeroedBytes(std::size_t bytes, const std::string& directory)
    : bytes_(bytes == 0 ? 1 : bytes),
      in_file_(!directory.empty()),
      data_(in_file_ ? map_file(bytes_, directory) : allocate_zeroed(bytes_)) {}

ZeroedBytes::~ZeroedBytes() {
  if (in_file_ && data_ != nullptr) {
    (void)::munmap(data_, bytes_);
  } else if (!in_file_) {
    release_zeroed(data_);
  }
}

}  // namespace tacos
