// SPDX-License-Identifier: MIT
#include "base/memory/huge_vector.h"

#include <cstdint>
#include <cstdlib>

#include <sys/mman.h>

namespace tacos {

void* allocate_zeroed(std::size_t bytes) {
  void* memory = std::calloc(bytes == 0 ? 1 : bytes, 1);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  // Below a few huge pages there is nothing to gain. Large blocks of calloc come straight from the
  // system, untouched; the advice is for the huge pages that lie wholly inside.
  constexpr std::uintptr_t kHugePage = std::uintptr_t{1} << 21U;
  if (bytes >= 4 * kHugePage) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
    const std::uintptr_t last = (begin + bytes) / kHugePage * kHugePage;
    // A refusal only costs speed.
    (void)::madvise(static_cast<char*>(memory) + (first - begin), last - first, MADV_HUGEPAGE);
  }
  return memory;
}

void release_zeroed(void* memory) noexcept {
  std::free(memory);
}

}  // namespace tacos
