// SPDX-License-Identifier: MIT
// A program in beats: in each an NPU first sends and then takes what has come, so that one thread
// block can do all that an NPU does, in an order that no two NPUs disagree about.
//
// A send is in the first beat in which what it sends is there; a lane sends so much in a beat, so
// that chunks follow each other as planned. What comes is taken as late as those that need it
// allow, so that nobody waits for a slow message that is not needed yet.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/program.h"

namespace tacos::exporting {

/// A step of a program, with its place in time.
struct BeatStep {
  std::uint32_t npu = 0;
  std::uint32_t lane = 0;
  const Step* step = nullptr;
  /// Of a receive its send, of a send its receive.
  std::uint32_t other = 0;
  /// When it can be done first, and when it must be done: the same for a send.
  std::uint32_t beat = 0;
  std::uint32_t due = 0;

  [[nodiscard]] bool sends() const {
    return step->kind == StepKind::kSend || step->kind == StepKind::kGrant;
  }
  /// Sends come before everything else in a beat.
  [[nodiscard]] std::uint32_t time() const { return 2 * due + (sends() ? 0 : 1); }
};

struct Beats {
  /// NPU by NPU, lane by lane.
  std::vector<BeatStep> steps;
  /// All of them in time; of those at one time, who waits for another comes behind it.
  std::vector<std::uint32_t> order;
  std::uint32_t count = 0;
};

/// Lanes send `width` messages in a beat at most; neighbouring chunks that go together are one.
/// O(steps log steps + dependencies).
[[nodiscard]] Beats beats_of(const Program& program, std::uint32_t width);

}  // namespace tacos::exporting
