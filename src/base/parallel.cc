// SPDX-License-Identifier: MIT
#include "base/parallel.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

namespace tacos {

struct ThreadPool::Arena {
  explicit Arena(int threads)
      : limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena(threads) {}
  // As many threads as were asked for, even beyond the number of cores.
  tbb::global_control limit;
  tbb::task_arena arena;
};

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  if (threads > 1) {
    arena_ = std::make_unique<Arena>(threads);
  }
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::for_ranges(std::size_t count,
                            std::size_t grain,
                            const std::function<void(std::size_t, std::size_t)>& body) {
  if (arena_ == nullptr || count <= grain) {
    if (count > 0) {
      body(0, count);
    }
    return;
  }
  arena_->arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, grain),
                      [&](const auto& range) { body(range.begin(), range.end()); });
  });
}

}  // namespace tacos
