// SPDX-License-Identifier: MIT
// The names of files that are being written, kept where a signal handler may look.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace tacos {

/// While it lives, remove_partial_files removes the file of this name, if there is one.
class PartialName {
 public:
  PartialName() = default;
  explicit PartialName(const std::string& path);
  PartialName(PartialName&& other) noexcept : slot_(std::exchange(other.slot_, kNone)) {}
  PartialName& operator=(PartialName&&) = delete;
  PartialName(const PartialName&) = delete;
  PartialName& operator=(const PartialName&) = delete;
  ~PartialName();

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// kNone for nothing; also when the name is too long or too many are remembered.
  std::size_t slot_ = kNone;
};

/// May be called by a signal handler.
void remove_partial_files() noexcept;

}  // namespace tacos
