// SPDX-License-Identifier: MIT
#include "base/parallel/threads.h"

#include <algorithm>

#include "base/parallel/cancel.h"

#ifdef TACOS_STD_THREADS
#include <exception>
#include <mutex>
#include <thread>
#include <vector>
#else
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace tacos {

#ifdef TACOS_STD_THREADS

// For the thread sanitizer, which takes what it cannot see inside oneTBB for races: threads are
// started anew for each call, and take piece by piece until none is left.
struct ThreadPool::Arena {
  explicit Arena(int threads) : size(static_cast<std::size_t>(threads)) {}

  void run(std::size_t count, std::size_t grain, const RangeBody& body) const {
    const std::size_t piece = std::max({std::size_t{1}, grain, count / (8 * size)});
    std::mutex mutex;
    std::size_t next = 0;
    std::exception_ptr failure;
    const auto work = [&] {
      for (;;) {
        std::size_t begin = 0;
        {
          const std::scoped_lock lock(mutex);
          begin = failure == nullptr ? next : count;
          next = std::min(count, begin + piece);
        }
        if (begin == count) {
          return;
        }
        try {
          body(begin, std::min(count, begin + piece));
        } catch (...) {
          const std::scoped_lock lock(mutex);
          failure = std::current_exception();
        }
      }
    };
    {
      std::vector<std::jthread> others;
      for (std::size_t i = 1; i < std::min(size, (count + piece - 1) / piece); ++i) {
        others.emplace_back(work);
      }
      work();
    }
    if (failure != nullptr) {
      std::rethrow_exception(failure);
    }
  }

  std::size_t size;
};

#else

// An arena of its own limits what this pool uses, and nothing else in the process. More threads
// than the process may have would only make oneTBB warn.
struct ThreadPool::Arena {
  explicit Arena(int threads)
      : arena(std::min(threads,
                       static_cast<int>(tbb::global_control::active_value(
                           tbb::global_control::max_allowed_parallelism)))) {}

  void run(std::size_t count, std::size_t grain, const RangeBody& body) {
    arena.execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, grain),
                        [&](const auto& range) { body(range.begin(), range.end()); });
    });
  }

  tbb::task_arena arena;
};

#endif

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  if (threads > 1) {
    arena_ = std::make_unique<Arena>(threads);
  }
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::for_ranges(std::size_t count, std::size_t grain, const RangeBody& body) {
  if (arena_ != nullptr && count > grain) {
    const std::stop_token* const cancel = CancelScope::current();
    arena_->run(count, grain, [&](std::size_t begin, std::size_t end) {
      const CancelScope scope(cancel);
      check_cancel();
      body(begin, end);
    });
  } else if (count > 0) {
    check_cancel();
    body(0, count);
  }
}

}  // namespace tacos
