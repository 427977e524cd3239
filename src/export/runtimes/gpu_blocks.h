// SPDX-License-Identifier: MIT
// The operations of a GPU as thread blocks of MSCCL++.
//
// A block takes so many operations and knows so many channels; where a GPU has more to do, another
// block goes on when the first releases a semaphore. A block is many threads, of which some wait
// and signal, and all copy and add: where an operation needs what others have done they all meet
// first, in a nop.
#pragma once

#include <cstdint>
#include <vector>

#include "export/runtimes/one_sided.h"

namespace tacos::exporting {

/// What MSCCL++ takes: of a block, and of a GPU.
struct GpuLimits {
  std::size_t ops = 64;
  /// Of a kind, and remote buffers that are reached by that kind.
  std::size_t channels = 16;
  std::size_t semaphores = 16;
  /// All must run at once: no more than a GPU has multiprocessors.
  std::size_t blocks = 64;
};

struct GpuBlock {
  std::vector<GpuOp> ops;
};

/// One goes on where the last ends.
[[nodiscard]] std::vector<GpuBlock> to_gpu_blocks(const std::vector<GpuOp>& ops,
                                                  const GpuLimits& limits);

}  // namespace tacos::exporting
