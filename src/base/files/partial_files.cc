// SPDX-License-Identifier: MIT
// A handler may do little: names are in fixed buffers, and an atomic state says which are whole.
#include "base/files/partial_files.h"

#include <array>
#include <atomic>

#include <unistd.h>

namespace tacos {
namespace {

enum class State { kFree, kBeingSet, kSet };

struct NameSlot {
  std::array<char, 4096> path{};
  /// Lock-free, so a handler may ask.
  std::atomic<State> state = State::kFree;
};
static_assert(std::atomic<State>::is_always_lock_free);

/// Files are written one after the other; a library's caller may write a few at a time.
using NameSlots = std::array<NameSlot, 4>;

NameSlots& slots() {
  // Constant-initialized: no guard that a handler could wait for.
  static constinit NameSlots only;
  return only;
}

}  // namespace

PartialName::PartialName(const std::string& path) {
  for (std::size_t i = 0; i < slots().size(); ++i) {
    NameSlot& slot = slots()[i];
    State expected = State::kFree;
    if (path.size() < slot.path.size() &&
        slot.state.compare_exchange_strong(expected, State::kBeingSet)) {
      path.copy(slot.path.data(), path.size());
      slot.path[path.size()] = '\0';
      slot.state = State::kSet;
      slot_ = i;
      return;
    }
  }
}

PartialName::~PartialName() {
  if (slot_ != kNone) {
    slots()[slot_].state = State::kFree;
  }
}

void remove_partial_files() noexcept {
  for (const NameSlot& slot : slots()) {
    if (slot.state == State::kSet) {
      (void)::unlink(slot.path.data());
    }
  }
}

}  // namespace tacos
