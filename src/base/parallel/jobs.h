// SPDX-License-Identifier: MIT
// Jobs of unequal length, taken one by one by whatever thread is free.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "base/parallel/threads.h"

namespace tacos {

/// Calls body(job) for each of `count`, the first ones first.
template <class Body>
void for_each_job(ThreadPool& pool, std::size_t count, const Body& body) {
  std::atomic<std::size_t> next = 0;
  const auto workers = std::min(count, static_cast<std::size_t>(pool.threads()));
  pool.for_ranges(workers, 1, [&](std::size_t /*begin*/, std::size_t /*end*/) {
    for (std::size_t job = next++; job < count; job = next++) {
      body(job);
    }
  });
}

}  // namespace tacos
