// SPDX-License-Identifier: MIT
#include "base/memory/populate.h"

#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

namespace tacos {

void populate([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = (begin + bytes) / page * page;
  if (first < last) {
    (void)::madvise(
        static_cast<char*>(memory) + (first - begin), last - first, MADV_POPULATE_WRITE);
  }
#endif
}

}  // namespace tacos
