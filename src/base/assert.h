// SPDX-License-Identifier: MIT
// TACOS_ASSERT: an invariant of our own, always checked; for user input use Result.
#pragma once

#include <stdexcept>
#include <string>

namespace tacos {

/// Thrown when an invariant of the program is broken; the command line turns it into exit code 1.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] inline void assertion_failed(const char* condition, const char* why) {
  throw InternalError(std::string("internal error: ") + why + " (" + condition + ")");
}

}  // namespace tacos

#define TACOS_ASSERT(condition, why)                \
  do {                                              \
    if (!(condition)) [[unlikely]] {                \
      ::tacos::assertion_failed(#condition, (why)); \
    }                                               \
  } while (false)
