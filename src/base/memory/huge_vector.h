// SPDX-License-Identifier: MIT
// Large arrays of zeros on huge pages: a random access costs one cache miss, not a walk through
// page tables as well, and memory that is never touched is never taken.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace tacos {

/// Zeroed memory, on huge pages where it is large and the system has them; throws bad_alloc.
[[nodiscard]] void* allocate_zeroed(std::size_t bytes);
void release_zeroed(void* memory) noexcept;

template <class T>
struct HugeAllocator {
  static_assert(std::is_trivially_copyable_v<T>);
  using value_type = T;

  HugeAllocator() = default;
  template <class U>
  HugeAllocator(const HugeAllocator<U>& /*other*/) noexcept {}  // NOLINT: as allocators must

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      throw std::bad_array_new_length();
    }
    return static_cast<T*>(allocate_zeroed(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t /*count*/) noexcept { release_zeroed(memory); }

  /// Fresh memory is zero already.
  template <class U>
  void construct(U* /*at*/) noexcept {}
  template <class U, class... Values>
  void construct(U* at, Values&&... values) {
    ::new (static_cast<void*>(at)) U(std::forward<Values>(values)...);
  }

  friend bool operator==(const HugeAllocator&, const HugeAllocator&) { return true; }
};

/// To be sized once, when it is made: elements that a later resize adds are not zero.
template <class T>
using HugeVector = std::vector<T, HugeAllocator<T>>;

}  // namespace tacos
