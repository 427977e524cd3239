// SPDX-License-Identifier: MIT
// Memory on cache lines; not touched, so that what is not used costs nothing.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include "execute/layout.h"

namespace tacos::execution {

class Memory {
 public:
  /// What was there is lost where it grows.
  void resize(std::size_t bytes) {
    if (bytes <= size_) {
      return;
    }
    const std::size_t lines = (bytes + Layout::kLine - 1) / Layout::kLine;
    size_ = 0;
    bytes_.reset();
    bytes_.reset(static_cast<std::byte*>(std::aligned_alloc(Layout::kLine, lines * Layout::kLine)));
    if (!bytes_) {
      throw std::bad_alloc();
    }
    size_ = bytes;
  }
  [[nodiscard]] std::byte* data() const { return bytes_.get(); }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::byte, Free> bytes_;
  std::size_t size_ = 0;
};

}  // namespace tacos::execution
