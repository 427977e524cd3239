// SPDX-License-Identifier: MIT
#include "base/zeroed_bytes.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/huge_vector.h"

namespace tacos {
namespace {

/// Maps a fresh file; a file with holes would end the process when the disk is full, so it has
/// none.
void* map_file(std::size_t bytes, const std::string& directory) {
  std::string name = directory + "/tacos.XXXXXX";
  const int file = ::mkstemp(name.data());
  if (file < 0) {
    throw std::system_error(errno, std::generic_category(), directory);
  }
  (void)::unlink(name.c_str());
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
