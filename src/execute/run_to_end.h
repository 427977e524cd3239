// SPDX-License-Identifier: MIT
// How what runs bit by bit is run in one go.
#pragma once

#include "tacos/result.h"

namespace tacos::execution {

/// Calls advance() of something that was started until it says that all is done.
template <class Running>
[[nodiscard]] Status run_to_end(Running& running) {
  while (true) {
    const Result<bool> done = running.advance();
    if (!done) {
      return done.error();
    }
    if (*done) {
      return ok();
    }
    running.pause();
  }
}

}  // namespace tacos::execution
