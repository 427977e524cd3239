// SPDX-License-Identifier: MIT
// A program for a runtime in which the sender writes into the receiver's memory and then tells it.
//
// Each NPU becomes one list of operations, in beats (beats.h): it puts, signals, waits, and does
// what is local. Every signal is sent before the wait for it, in the order of beats, so nothing can
// get stuck. What is put lands in the slot where it is to be if all who used that slot are known to
// be done: by what the sender has heard when it puts, which is told by clocks. Else, and for what
// is to be added, it lands in scratch of its own and is copied or added from there. Scratch is used
// once, so that nobody must ask whether it is free; but nothing is put before the receiver has said
// that it has begun.
//
// A put through a port reads its source some time later: the slot is free when the receiver has the
// message, or when the port was flushed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/program.h"

namespace tacos::exporting {

/// How a peer is reached: its memory can be written to, or a proxy does that.
enum class ChannelKind : std::uint8_t { kMemory, kPort };

enum class GpuOpKind : std::uint8_t {
  kNop,
  kSignal,
  kWait,
  kBegun,      ///< tells peers that they may put
  kAwaitPeer,  ///< for that
  kFlush,
  kPut,
  kCopy,
  kReduce,  ///< the sum of all `from` into `to`
  kRelease,
  kAcquire,
};

struct SlotRange {
  Slot first;
  std::uint32_t count = 1;
};

struct GpuOp {
  GpuOpKind kind = GpuOpKind::kNop;
  ChannelKind channel = ChannelKind::kMemory;
  /// Ranks, of a put one for each range.
  std::vector<std::uint32_t> peers = {};
  std::vector<SlotRange> from = {};
  /// Of a put at the peers.
  std::vector<SlotRange> to = {};
  /// Of a release or an acquire.
  std::uint32_t semaphore = 0;
};

struct GpuOps {
  std::vector<GpuOp> ops;
  std::uint32_t scratch = 0;
};

/// Peers or sources of one operation.
inline constexpr std::size_t kMostPerOp = 8;

/// By participant; all that an NPU passes on must be one. `boxes` by NPU: inside one peers are
/// reached by memory. Lanes send `width` messages in a beat at most. O(steps log steps +
/// messages x participants).
[[nodiscard]] std::vector<GpuOps> one_sided(const Program& program,
                                            std::span<const std::uint32_t> boxes,
                                            std::uint32_t width);

}  // namespace tacos::exporting
