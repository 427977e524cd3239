// SPDX-License-Identifier: MIT
#include "base/parallel/cancel.h"

namespace tacos {
namespace {

// Of each thread its own, and restored by whoever changes it.
thread_local const std::stop_token* looked_at = nullptr;  // NOLINT: global

}  // namespace

CancelScope::CancelScope(const std::stop_token& token) : before_(looked_at) {
  if (token.stop_possible()) {
    looked_at = &token;
  }
}

CancelScope::CancelScope(const std::stop_token* token) : before_(looked_at) {
  looked_at = token;
}

CancelScope::~CancelScope() {
  looked_at = before_;
}

const std::stop_token* CancelScope::current() {
  return looked_at;
}

void check_cancel() {
  if (looked_at != nullptr && looked_at->stop_requested()) {
    throw Cancelled{};
  }
}

}  // namespace tacos
